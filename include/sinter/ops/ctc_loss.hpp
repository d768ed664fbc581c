// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/max_pool.hpp>

/// ctc_loss(logits [T, C], labels [L] int32, blank, lengths [] int32) -> [] for each example: -log
/// of the probability that the T frames say the labels, in any alignment (Graves et al. 2006).
/// Labels end at the first negative number; only the first `lengths` frames count, all of them if
/// lengths are left out. No ONNX operator.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name ctc_loss{"ctc_loss"};
}

namespace ctc_attribute { enum : int { blank }; }                                     // in node::p
namespace ctc_extent {
enum : int { frames, classes, labels, blank, measured };
}   // namespace ctc_extent
namespace ctc_operand {
enum : int { logits, labels, lengths };
}   // namespace ctc_operand

/// Second result (get_output 1): the gradient by the logits, found along with the value.
template <>
struct rule<op::ctc_loss> : root_op_rule {
    static constexpr const char* name = "ctc_loss";
    static constexpr long flops(const node&, const node* in) {   // forwards, backwards and both together, about 25 each
        return 75L * in[0].s.d[0] * (2 * in[1].s.size() + 1) + 20L * in[0].s.size();
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const shape& logits = r.x(0);
        k.set({{ctc_extent::frames, logits.d[0]},
               {ctc_extent::classes, logits.d[1]},
               {ctc_extent::labels, r.x(1).size()},
               {ctc_extent::blank, r.n.p[ctc_attribute::blank]},
               {ctc_extent::measured, r.n.operands > 2}});
        k.by_example(r.x(0), 1);
        k.second_result = true;
    }
    static constexpr void gradient(gradient_of& g) {
        const tensor by_logits = make<op::get_output>(g.g, g.x(0).shape(), {g.y()}, {1});
        g.add(0, by_logits * ops::reshape(g.d, extents_of_one()));
    }
    static constexpr shape extents_of_one() { return sinter::extents(1, 1); }
};

namespace ops {

constexpr tensor ctc_loss(tensor logits, tensor labels, int blank = 0, tensor lengths = {}) {
    const bool all_frames = lengths.g == nullptr;
    if (!logits.ok() || !labels.ok() || (!all_frames && !lengths.ok())) return {logits.g ? logits.g : labels.g, -1};
    compiler::graph* const g = logits.g;
    const shape z = logits.shape(), y = labels.shape(), n = lengths.shape();
    if (not_floats(op::ctc_loss, logits)) return {g, -1};
    if (y.type != dtype::i32 || (!all_frames && n.type != dtype::i32))
        return fail(g, fault_kind::wrong_element_type, op::ctc_loss, y, z);
    if (!z.batched || z.rank != 2 || !y.batched || y.rank != 1 || (!all_frames && (!n.batched || n.rank != 0)))
        return fail(g, fault_kind::labels_do_not_fit_predictions, op::ctc_loss, y, z);
    if (blank < 0 || blank >= z.last()) return fail(g, fault_kind::axis_out_of_range, op::ctc_loss, z, extents(blank));
    const shape s = batch_of();
    if (all_frames) return make<op::ctc_loss>(g, s, {logits, labels}, {blank});
    return make<op::ctc_loss>(g, s, {logits, labels, lengths}, {blank});
}

} // namespace ops
using ops::ctc_loss;

} // namespace sinter
