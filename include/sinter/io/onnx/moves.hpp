// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/detail/interpolation_axis.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/custom_gradient.hpp>
#include <sinter/ops/detail/layer_norm.hpp>
#include <sinter/ops/group_norm.hpp>
#include <sinter/ops/interpolate.hpp>
#include <sinter/ops/pad.hpp>
#include <sinter/ops/permute.hpp>
#include <sinter/ops/roll.hpp>

/// Ops that move elements: Reshape, Transpose, Concat, Slice, Pad, Expand; interpolate, which mixes
/// them.
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

SINTER_COLD inline void emit_reshape(exporter& e, int id) {
    const int x = e.operand(id, 0);
    // of an image of one pixel, or of one channel, the order of axes does not matter
    const bool either = e.s(x).rank > 1 && (e.s(x).rows() == 1 || e.s(x).last() == 1) && e.only_channels_first(x);
    e.set(id, e.reshape(id, either ? e.value_channels_first(x) : e.value(x), e.with_batch(e.s(id))));
}
SINTER_COLD inline void emit_same(exporter& e, int id) {
    const int x = e.operand(id, 0);
    if (e.only_channels_first(x)) e.set_channels_first(id, e.value_channels_first(x));
    else e.set(id, e.value(x));
}
SINTER_COLD inline void emit_permute(exporter& e, int id) {
    few_numbers order;
    const int b = e.s(id).batched;
    if (b) order.push_back(0);
    for (int i = 0; i < e.s(id).rank; ++i) order.push_back(b + e.n(id).p[i]);
    e.set(id, e.transpose(id, e.value(e.operand(id, 0)), order));
}
SINTER_COLD inline void emit_concat(exporter& e, int id) {
    const node& n = e.n(id);
    bool first = n.s.rank > 1;
    for (int k = 0; k < n.operands; ++k) first = first && e.only_channels_first(n.in[k]);
    const int along = n.p[concat_attribute::axis], axis = n.s.batched + (!first                  ? along
                                                                         : along + 1 == n.s.rank ? 0
                                                                                                 : along + 1);
    std::vector<value_name> in;
    for (int k = 0; k < n.operands; ++k) in.push_back(first ? e.value_channels_first(n.in[k]) : e.value(n.in[k]));
    const value_name y = e.add(id, "Concat", in, {integer("axis", axis)});
    if (first) e.set_channels_first(id, y);
    else e.set(id, y);
}

/// Where a slice or an insertion begins in `large`, and its step along each axis; see
/// ops/slice.hpp.
struct steps_along {
    few_numbers first, step;
    steps_along(const node& n, const shape& large) {
        const step_list natural = natural_steps(large);
        std::int64_t offset = n.p[slice_attribute::offset];
        for (int i = 0; i < large.rank; ++i) {
            first.push_back(offset / natural.step[i]);
            offset %= natural.step[i];
            step.push_back(n.p[slice_attribute::steps + i] == 0 ? 1
                                                                : n.p[slice_attribute::steps + i] / natural.step[i]);
        }
    }
};
/// Slices `x` along axes that count the batch.
SINTER_COLD inline value_name sliced(exporter& e, int id, value_name x, number_list first, number_list end,
                                     number_list axes, number_list step) {
    return e.add(id, "Slice", {x, e.m.whole(first), e.m.whole(end), e.m.whole(axes), e.m.whole(step)});
}
SINTER_COLD inline void emit_slice(exporter& e, int id) {
    const node& n = e.n(id);
    const steps_along t(n, e.s(n.in[0]));
    few_numbers end, axes;
    for (int i = 0; i < n.s.rank; ++i) {
        constexpr std::int64_t before_the_first = -2147483648;   // a negative end counts from the last
        const std::int64_t last = t.first[static_cast<std::size_t>(i)] + n.s.d[i] * t.step[static_cast<std::size_t>(i)];
        end.push_back(last < 0 ? before_the_first : last);
        axes.push_back(i + n.s.batched);
    }
    e.set(id, sliced(e, id, e.value(n.in[0]), t.first, end, axes, t.step));
}
/// `x`, of extents `small`, with these margins before each axis; the others follow.
SINTER_COLD inline value_name padded(exporter& e, int id, value_name x, const shape& small, few_numbers before,
                                     const char* mode, value_name fill) {
    const shape& large = e.s(id);
    few_numbers after;
    for (int i = 0; i < large.rank; ++i) after.push_back(large.d[i] - small.d[i] - before[static_cast<std::size_t>(i)]);
    if (large.batched) before.insert(before.begin(), 0), after.insert(after.begin(), 0);
    before.insert(before.end(), after.begin(), after.end());
    std::vector<value_name> in{x, e.m.whole(before)};
    if (!fill.empty()) in.push_back(fill);
    return e.add(id, "Pad", in, {text("mode", mode)});
}
/// x, of extents s, with its elements `step` apart along an axis: each gets an axis of its own,
/// which is then filled up.
SINTER_COLD inline value_name apart(exporter& e, int id, value_name x, shape& s, int axis, std::int64_t step,
                                    value_name fill) {
    const std::int64_t along = axis + s.batched, extent = (s.d[axis] - 1) * step + 1;
    few_numbers own = e.with_batch(s), whole = own, pads(2 * own.size() + 2, 0);
    own.insert(own.begin() + along + 1, 1);
    whole[static_cast<std::size_t>(along)] *= step;
    pads[own.size() + static_cast<std::size_t>(along) + 1] = step - 1;
    x = e.add(id, "Pad", {e.reshape(id, x, own), e.m.whole(pads), fill});
    s.d[axis] = static_cast<int>(extent);
    return sliced(e, id, e.reshape(id, x, whole), {0}, {extent}, {along}, {1});
}
SINTER_COLD inline void emit_insert(exporter& e, int id) {
    const node& n = e.n(id);
    steps_along t(n, n.s);
    shape s = e.s(n.in[0]);
    const value_name fill = e.m.number(n.f);
    value_name x = e.value(n.in[0]);
    for (int i = 0; i < s.rank; ++i) {
        std::int64_t &step = t.step[static_cast<std::size_t>(i)], &first = t.first[static_cast<std::size_t>(i)];
        if (step < 0) {
            x = sliced(e, id, x, {-1}, {-2147483648}, {i + s.batched}, {-1});
            first += step * (s.d[i] - 1);
            step = -step;
        }
        if (step > 1) x = apart(e, id, x, s, i, step, fill);
    }
    e.set(id, padded(e, id, x, s, t.first, "constant", fill));
}
SINTER_COLD inline void emit_pad(exporter& e, int id) {
    const node& n = e.n(id);
    const bool reflect = n.p[pad_attribute::mode] == static_cast<int>(pad_mode::reflect);
    const value_name x = e.value(n.in[0]);
    e.set(id, padded(e, id, x, e.s(n.in[0]), {n.p + pad_attribute::before, n.p + pad_attribute::before + n.s.rank},
                     reflect ? "reflect" : "edge", {}));
}
SINTER_COLD inline void emit_roll(exporter& e, int id) {
    const node& n = e.n(id);
    const int own = n.p[roll_attribute::axis];
    const std::int64_t axis = own + n.s.batched, extent = n.s.d[own], begin = extent - n.p[roll_attribute::shift];
    const value_name x = e.value(n.in[0]);
    const value_name end = sliced(e, id, x, {begin}, {extent}, {axis}, {1}),
                      rest = sliced(e, id, x, {0}, {begin}, {axis}, {1});
    e.set(id, e.add(id, "Concat", {end, rest}, {integer("axis", axis)}));
}
/// A product with the new places' shares of the old ones: Resize goes by scales, of which it may
/// make other extents.
SINTER_COLD inline void emit_interpolate(exporter& e, int id) {
    const node& n = e.n(id);
    const auto& p = n.p;
    const interpolation_axis a(p[interpolate_attribute::from], p[interpolate_attribute::to],
                               p[interpolate_attribute::aligned] != 0);
    std::vector<float> shares;
    for (std::int64_t k = 0; k < a.to; ++k)
        for (std::int64_t i = 0; i < a.from; ++i) shares.push_back(a.at(k).of(i));
    shape lines = sinter::extents(p[interpolate_attribute::outer], p[interpolate_attribute::from],
                                  p[interpolate_attribute::inner]);
    lines.batched = n.s.batched;
    const value_name x = e.reshape(id, e.value(n.in[0]), e.with_batch(lines));
    const value_name y = e.add(id, "MatMul", {e.m.floats("places", {a.to, a.from}, shares), x});
    e.set(id, e.reshape(id, y, e.with_batch(n.s)));
}
SINTER_COLD inline void emit_expand(exporter& e, int id) {
    const int x = e.operand(id, 0);
    const shape &from = e.s(x), &to = e.s(id);
    if (from == to) return emit_same(e, id);
    // a batch that is there stays under an extent of 1
    const value_name extents = to.batched && !from.batched ? e.extents(to) : e.m.whole(e.with_batch(to, 1));
    e.set(id, e.add(id, "Expand", {e.value(x), extents}));
}

} // namespace detail

inline constexpr emitter move_emitters[] = {{op::reshape, detail::emit_reshape},
                                            {op::stop_gradient, detail::emit_same},
                                            {op::pack_weights, detail::emit_same},
                                            {op::unpack_weights, detail::emit_same},
                                            {op::permute, detail::emit_permute},
                                            {op::concat, detail::emit_concat},
                                            {op::insert, detail::emit_insert},
                                            {op::pad, detail::emit_pad},
                                            {op::roll, detail::emit_roll},
                                            {op::interpolate, detail::emit_interpolate},
                                            {op::slice, detail::emit_slice},
                                            {op::broadcast, detail::emit_expand},
                                            {op::expand, detail::emit_expand},
                                            {op::custom_gradient, detail::emit_same},
                                            {op::layer_normalized, detail::emit_same},
                                            {op::group_normalized, detail::emit_same}};

} // namespace sinter::onnx
