// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/losses/detail/candidates.hpp>

namespace sinter::inline SINTER_TARGET {

/// Noise-contrastive estimation (Gutmann and Hyvarinen 2010; Mnih and Teh 2012): is it the label,
/// or one of K classes that were drawn anew in this step? Of a net that ends in
/// candidate_scores<V>; scores, sampler and evaluation are those of sampled_softmax. RemoveHits: a
/// candidate that is the label is left out. (TensorFlow's nce_loss, which by default draws unique
/// candidates and leaves hits in.)
template <int V, int K, bool RemoveHits = true, sampling S = sampling::with_replacement>
struct nce_loss {
    static constexpr target_list targets{target_spec(target_kind::class_index).under(V)};
    constexpr tensor operator()(tensor x, tensor labels) const {
        return detail::candidate_loss<V, K, S>(x, labels,
                                               [](const auto& s) { return detail::nce_value<RemoveHits>(s); });
    }
};
template <int V, int K, bool RemoveHits = true, sampling S = sampling::with_replacement>
inline constexpr nce_loss<V, K, RemoveHits, S> nce{};

} // namespace sinter
