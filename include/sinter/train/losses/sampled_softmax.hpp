// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/losses/detail/candidates.hpp>

namespace sinter::inline SINTER_TARGET {

/// Cross entropy over the label and K classes that are drawn anew in each step, instead of all V
/// (Jean et al. 2015); of a net that ends in candidate_scores<V>. From each score, the label's too,
/// the logarithm of how often its class is expected is taken; a candidate that is the label is left
/// out. So its value is not the cross entropy's, but its gradient tends to that as K grows. The
/// sampler is log-uniform: classes must be numbered from the most frequent one. In evaluation it is
/// softmax_cross_entropy over all classes. TensorFlow's sampled_softmax_loss under
/// sampling::unique, which is its default and not ours.
template <int V, int K, sampling S = sampling::with_replacement>
struct sampled_softmax_loss {
    static constexpr target_list targets{target_spec(target_kind::class_index).under(V)};
    constexpr tensor operator()(tensor x, tensor labels) const {
        return detail::candidate_loss<V, K, S>(x, labels,
                                               [](const auto& s) { return detail::sampled_softmax_value(s); });
    }
};
template <int V, int K, sampling S = sampling::with_replacement>
inline constexpr sampled_softmax_loss<V, K, S> sampled_softmax{};

} // namespace sinter
