// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/rules.hpp>

/// Elements at even steps within a tensor: what slices, permutations, stretched operands and
/// insertions tell their kernels. Place [i0, i1, ...] lies at offset + i0 * step[0] + i1 * step[1]
/// + ..., counted within one example.
namespace sinter::inline SINTER_TARGET {

struct step_list {
    std::int64_t step[max_rank] = {};
};

/// From one element to the next along each axis of a tensor of extents s, as it lies in memory.
constexpr step_list natural_steps(const shape& s) {
    step_list r;
    std::int64_t size = 1;
    for (int i = s.rank - 1; i >= 0; --i) r.step[i] = size, size *= s.d[i];
    return r;
}

/// In call::e of kernels that go by steps: extents and steps of max_rank axes; how far apart
/// examples lie, where the first element is, what is elsewhere (its bits).
namespace strided {
enum : int { extents, steps = max_rank, example = kernel_extents::spare, offset, fill };
}

/// Extents and steps of as few axes as will do: rows are long then. Missing ones in front are 1.
constexpr void set_steps(kernel_extents& k, const shape& s, const step_list& steps) {
    std::int64_t d[max_rank] = {}, t[max_rank] = {};
    int n = 0;
    for (int i = 0; i < s.rank; ++i) {
        if (s.d[i] == 1) continue;
        if (n && t[n - 1] == s.d[i] * steps.step[i]) {
            d[n - 1] *= s.d[i];
            t[n - 1] = steps.step[i];
        } else {
            d[n] = s.d[i];
            t[n++] = steps.step[i];
        }
    }
    for (int i = 0; i < max_rank; ++i) {
        const int from = i - (max_rank - n);
        k.e[strided::extents + i] = from < 0 ? 1 : d[from];
        k.e[strided::steps + i] = from < 0 ? 0 : t[from];
    }
}

/// In node::p of ops that work along an axis, or over several: as axis_parts has them, of one
/// example.
namespace axis_attribute { enum : int { outer, n, inner }; }

/// The product of the extents before and after an axis of one example, and its own: [outer, n,
/// inner].
struct axis_parts {
    int outer = 1, n = 1, inner = 1;
    constexpr axis_parts(const shape& s, int axis) {
        for (int i = 0; i < s.rank; ++i) (i < axis ? outer : i == axis ? n : inner) *= s.d[i];
    }
};

/// Counts from the end where negative; -1 where there is no such axis.
constexpr int axis_of(const shape& s, int axis) {
    if (axis < 0) axis += s.rank;
    return axis >= 0 && axis < s.rank ? axis : -1;
}
/// The same extents with another one along an axis, or with one more axis, or one less.
constexpr shape with_extent(shape s, int axis, int n) {
    s.d[axis] = n;
    return s;
}
constexpr shape with_new_axis(shape s, int axis, int n) {
    for (int i = s.rank++; i > axis; --i) s.d[i] = s.d[i - 1];
    s.d[axis] = n;
    return s;
}
constexpr shape without_axis(shape s, int axis) {
    for (int i = axis; i + 1 < s.rank; ++i) s.d[i] = s.d[i + 1];
    s.d[--s.rank] = 0;
    return s;
}

} // namespace sinter
