// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/copy/copy_rows.hpp>
#include <sinter/kernel/cpu/copy/pixel_planes.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>

/// Matrices that are copied between two places, in each of which elements lie at even steps along
/// both axes.
namespace sinter::inline SINTER_TARGET::cpu {

/// n places along an axis, `step` apart on one side, and `in_order` on the other one.
struct plane_axis {
    std::int64_t n, step, in_order;
};
/// side.n rows of row.n elements. Back: from in order to steps.
using plane_copy = void (*)(const float* from, float* to, const plane_axis& side, const plane_axis& row);

/// Whatever the steps.
template <bool Back>
SINTER_ONCE void copy_by_steps(const float* from, float* to, const plane_axis& side, const plane_axis& row) {
    for (std::int64_t i = 0; i < side.n; ++i) {
        const float* const x = from + i * (Back ? side.in_order : side.step);
        float* const y = to + i * (Back ? side.step : side.in_order);
        for (std::int64_t j = 0; j < row.n; ++j) y[Back ? j * row.step : j] = x[Back ? j : j * row.step];
    }
}
/// Where rows lie one element behind the other on both sides.
template <bool Back>
SINTER_ONCE void copy_whole_rows(const float* from, float* to, const plane_axis& side, const plane_axis& row) {
    copy_rows(from, Back ? side.in_order : side.step, to, Back ? side.step : side.in_order, row.n, side.n);
}
/// Where all of a row is one element.
SINTER_ONCE inline void copy_repeated(const float* from, float* to, const plane_axis& side, const plane_axis& row) {
    for (std::int64_t i = 0; i < side.n; ++i) fill_floats(to + i * side.in_order, from[i * side.step], row.n);
}
struct from_the_end {
    static constexpr int lane(int l) { return lanes - 1 - l; }
};
/// Where a row's last element comes first. Back is the same from its other end.
template <bool Back>
SINTER_ONCE void copy_reversed(const float* from, float* to, const plane_axis& side, const plane_axis& row) {
    for (std::int64_t i = 0; i < side.n; ++i) {
        const float* x = from + i * (Back ? side.in_order : side.step) + (Back ? row.n - 1 : 0);
        float* y = to + i * (Back ? side.step : side.in_order) - (Back ? row.n - 1 : 0);
        std::int64_t left = row.n;
        for (; left >= lanes; left -= lanes, x -= lanes, y += lanes) {
            const vf v = load(x - (lanes - 1));
            store(y, shuffle<from_the_end>(v, v));
        }
        for (; left > 0; --left) *y++ = *x--;
    }
}
/// Where the side lies one element behind the other by steps: a transpose.
template <bool Back>
SINTER_ONCE void copy_transposed(const float* from, float* to, const plane_axis& side, const plane_axis& row) {
    if constexpr (Back) transpose_matrix(from, side.in_order, side.n, row.n, to, row.step, true);
    else transpose_matrix(from, row.step, row.n, side.n, to, side.in_order, true);
}
/// A transpose of two, three or four columns, or rows, that lie one behind the other: an image's
/// channels in planes or by pixels.
template <bool Back, int N, bool Rows>
SINTER_ONCE void copy_few(const float* from, float* to, const plane_axis& side, const plane_axis& row) {
    const std::int64_t plane_step = Rows ? side.in_order : row.step, pixels = Rows ? row.n : side.n;
    if constexpr (Rows == Back) {
        const float* planes[std::size_t{N}];
        for (int j = 0; j < N; ++j) planes[j] = from + j * plane_step;
        join_planes<N>(planes, to, pixels);
    } else {
        split_pixels<N>(from, to, pixels, plane_step);
    }
}
template <bool Back, bool Rows>
plane_copy copy_few_of(std::int64_t n) {
    return n == 2   ? copy_few<Back, 2, Rows>
           : n == 3 ? copy_few<Back, 3, Rows>
           : n == 4 ? copy_few<Back, 4, Rows>
                    : nullptr;
}

/// The way that suits the steps.
template <bool Back>
plane_copy copy_plane_of(const plane_axis& side, const plane_axis& row) {
    if (row.step == 1) return copy_whole_rows<Back>;
    if (!Back && row.step == 0) return copy_repeated;
    if (row.step == -1) return copy_reversed<Back>;
    if (side.step != 1 || side.n == 1) return copy_by_steps<Back>;
    if (const plane_copy few = copy_few_of<Back, false>(row.n == side.in_order ? row.n : 0)) return few;
    if (const plane_copy few = copy_few_of<Back, true>(side.n == row.step ? side.n : 0)) return few;
    return copy_transposed<Back>;
}

} // namespace sinter::cpu
