// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/kernel/patch_axes.hpp>
#include <sinter/ops/extract_patches.hpp>

/// The windows that convolutions see, and their sums back at the pixels.
namespace sinter::inline SINTER_TARGET::gpu {

template <>
struct source<static_cast<int>(op::extract_patches.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m * e[patch_extent::OH] * e[patch_extent::OW],
                e[patch_extent::kh] * e[patch_extent::kw] * e[patch_extent::C]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const patch_axes a(s.e);
        const std::int64_t tap = at.col / a.C, image = at.row / a.OW / a.OH;
        const std::int64_t y = a.rows.place(at.row / a.OW % a.OH, tap / a.kw),
                           x = a.columns.place(at.row % a.OW, tap % a.kw);
        return y >= 0 && y < a.H && x >= 0 && x < a.W ? s.a[((image * a.H + y) * a.W + x) * a.C + at.col % a.C] : 0.f;
    }
};
template <>
struct source<static_cast<int>(op::add_patches.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m * e[patch_extent::H] * e[patch_extent::W], e[patch_extent::C]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const patch_axes a(s.e);
        const float* windows = s.a + at.row / a.W / a.H * a.OH * a.OW * a.kh * a.kw * a.C + at.col;
        float sum = 0.f;
        for (std::int64_t i = 0; i < a.kh; ++i)
            for (std::int64_t j = 0; j < a.kw; ++j) {
                const std::int64_t y = a.rows.window(at.row / a.W % a.H, i), x = a.columns.window(at.row % a.W, j);
                if (y >= 0 && x >= 0) sum += windows[(((y * a.OW + x) * a.kh + i) * a.kw + j) * a.C];
            }
        return sum;
    }
};

} // namespace sinter::gpu
