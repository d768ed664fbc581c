// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/ctc_loss.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// What ctc may be given.
struct ctc_options {
    int blank = 0;                     ///< the class that says nothing; negative ones count from the last
    int frames = 0;                    ///< the net's frames, where each example says how many of them count; 0: all do
    bool leaves_out_impossible = false;   ///< what cannot be said costs nothing, rather than infinitely much
};

/// Connectionist temporal classification (Graves et al. 2006): logits [T, C] against up to L class
/// numbers, int32, padded with -1;
/// -log of the probability of the labels in any alignment with the frames, one value an example
/// (PyTorch's CTCLoss, but for its mean, which divides each value by the number of its labels;
/// Keras' CTC). With ctc_options{.frames = T} a second target, int32 in [0, T], says how many
/// frames of each example count. Labels that cannot be said (more than there are frames, with one
/// between two equal ones) make the loss infinite, unless they are left out (PyTorch's
/// zero_infinity).
template <int L, ctc_options O = ctc_options{}>
struct ctc_loss_of {
    static_assert(L > 0, "ctc: room for one label at the least");
    static constexpr target_spec labels = index_target<L>().ignoring(-1);
    static constexpr target_list targets = O.frames > 0 ? target_list(labels, index_target<>(O.frames + 1))
                                                        : target_list(labels);

    constexpr tensor operator()(tensor logits, tensor said) const { return values(logits, said, {}); }
    constexpr tensor operator()(tensor logits, tensor said, tensor lengths) const {
        if (logits.ok() && logits.shape().d[0] != O.frames)
            return fail(logits.g, fault_kind::labels_do_not_fit_predictions, op::ctc_loss, extents(O.frames),
                        logits.shape());
        return values(logits, said, lengths);
    }

private:
    static constexpr tensor values(tensor logits, tensor said, tensor lengths) {
        const tensor l = ops::ctc_loss(logits, said, O.blank < 0 ? logits.shape().last() + O.blank : O.blank, lengths);
        if (!O.leaves_out_impossible || !l.ok()) return l;
        return detail::only_where(1.f - ops::equal(l, __builtin_inff()), l);
    }
};
/// ctc<32>: at most 32 labels an example; ctc<32, ctc_options{.blank = -1}>.
template <int L, ctc_options O = ctc_options{}>
inline constexpr ctc_loss_of<L, O> ctc{};

} // namespace sinter
