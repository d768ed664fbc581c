// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/conv2d.hpp>

/// What pools share: windows over an image [H, W, C]. The divisor of a mean: 0 the elements that
/// exist, whole_window all of KH KW, else 1 + rows below << 16 + columns right: the elements and
/// the padding that was asked for (windows that hang over that too, by rounding up, count what lies
/// within).
namespace sinter::inline SINTER_TARGET {

inline constexpr int whole_window = -1, padding_below = 16;

namespace detail {
constexpr void pool_extents(const kernel_request& r, kernel_extents& k, const shape& x, const shape& y) {
    const int* const p = r.n.p;
    k.set_fixed({x.d[0], x.d[1], x.d[2], y.d[0], y.d[1], p[pool_attribute::kh], p[pool_attribute::kw],
                 p[pool_attribute::v_stride], p[pool_attribute::h_stride], p[pool_attribute::above],
                 p[pool_attribute::left], p[pool_attribute::divisor]});
    k.by_example(r.x(0), 1);
}
/// A pool's op with the attributes of another's.
template <op_id K>
constexpr tensor pool_like(const gradient_of& g, const shape& s, std::initializer_list<tensor> operands) {
    const node n = g.n();
    return make<K>(g.g, s, operands, n.p);
}
} // namespace detail

namespace ops {

/// x [H, W, C], both axes known to fit; `all`: a mean divides by the whole window.
template <op_id K>
constexpr tensor pool_image(tensor x, const sliding& v, const sliding& h, const window& o, bool all) {
    shape y = x.shape();
    y.d[0] = v.out;
    y.d[1] = h.out;
    int divisor = all ? whole_window : 0;
    if (o.count_padding && !all) {
        const auto after = [](const sliding& a, int given) {   // what `same` and `valid` stand for
            const int over = (a.out - 1) * a.stride - a.before + a.k - a.extent;
            return given >= 0 ? given : over > 0 ? over : 0;
        };
        const bool is_given = o.padding.how == padding::rule::given, none = o.padding.how == padding::rule::valid;
        const int below = after(v, is_given ? o.padding.after[1] : none ? 0 : -1),
                  right = after(h, is_given ? o.padding.after[2] : none ? 0 : -1);
        constexpr int most_below = (1 << (31 - padding_below)) - 1, most_right = (1 << padding_below) - 2;
        if (below > most_below || right > most_right)   // one number has both
            return fail(x.g, fault_kind::padding_refused, info_of<K>.self, extents(below, right),
                        extents(most_below, most_right));
        divisor = 1 + (below << padding_below) + right;
    }
    return make<K>(x.g, y, {x}, {v.k, h.k, v.stride, h.stride, v.before, h.before, divisor});
}

/// Windows k over the one, two or three axes in front of the channels. Volumes are pooled along the
/// last axis first and then along the two others, seen as an image: the largest of largest, the
/// mean of means, and of equal elements it is still the first that wins.
template <op_id K>
constexpr tensor pool(tensor x, per_axis k, const window& o, bool all = false) {
    constexpr const op_name& name = info_of<K>.self;
    if (!x.ok() || not_floats(name, x)) return {x.g, -1};
    x = plain(x);
    const shape s = x.shape();
    const int axes = s.rank - 1;
    if (axes < 1 || axes > 3)
        return fail(x.g, fault_kind::needs_height_width_channels, name, s, batch_of(k.d[1], k.d[2], 1));
    if (k.least() < 1)
        return fail(x.g, fault_kind::window_out_of_range, name, extents(k.least(), o.stride.least()), extents(1, 1));
    if (refuses_window(x.g, name, o, axes, true)) return {x.g, -1};
    sliding a[3];
    for (int i = 3 - axes; i < 3; ++i) {
        a[i] = sliding(s.d[i - 3 + axes], k.d[i], o, i);
        if (a[i].out < 1)
            return fail(x.g, fault_kind::window_larger_than_input, name, s, extents(k.d[1], k.d[2], s.last()));
        if (a[i].before >= k.d[i] || (std::int64_t{a[i].out} - 1) * a[i].stride - a[i].before >= a[i].extent)
            return fail(x.g, fault_kind::padding_refused, name, extents(a[i].before, o.padding.after[i]),
                        extents(k.d[i] - 1, k.d[i] - 1));
    }
    const int d = a[0].extent, h = a[1].extent, w = a[2].extent, c = s.last();
    if (axes == 2) return pool_image<K>(x, a[1], a[2], o, all);
    sliding whole;
    whole.extent = whole.out = d * h;
    tensor y = pool_image<K>(reshape(x, extents(d * h, w, c)), whole, a[2], o, all);
    if (axes == 1) return reshape(y, extents(a[2].out, c));
    window outer = o;   // the two other axes take the places of height and width
    for (int i = 0; i < 2; ++i)
        outer.padding.before[i + 1] = o.padding.before[i], outer.padding.after[i + 1] = o.padding.after[i];
    y = pool_image<K>(reshape(y, extents(d, h, a[2].out * c)), a[0], a[1], outer, all);
    return reshape(y, extents(a[0].out, a[1].out, a[2].out, c));
}

} // namespace ops

} // namespace sinter
