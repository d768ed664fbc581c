// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/copy/copy_rows.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/kernel/patch_axes.hpp>
#include <sinter/ops/extract_patches.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Images [H][W][C] to windows [OH][OW][kh][kw][C].
struct extract_patches {
    static void run(const call& c) {
        const patch_axes a(c.e);
        const std::int64_t end = share(c.m * a.OH, c.part + 1, c.parts), step = a.kh * a.kw * a.C;
        const auto inside = a.columns.dilation == 1 ? a.windows_with(0, a.kw - 1) : patch_axes::range{0, 0};
        for (std::int64_t r = share(c.m * a.OH, c.part, c.parts); r < end; ++r)
            for (std::int64_t i = 0; i < a.kh; ++i) {
                const std::int64_t y = a.rows.place(r % a.OH, i);
                float* const to = c.p[copy_operand::to] + r * a.OW * step + i * a.kw * a.C;
                if (y < 0 || y >= a.H) {
                    for (std::int64_t w = 0; w < a.OW; ++w) clear(to + w * step, a.kw * a.C);
                    continue;
                }
                const float* const from = c.p[copy_operand::from] + (r / a.OH * a.H + y) * a.W * a.C;
                for (std::int64_t w = 0; w < inside.first; ++w) by_taps(a, from, to + w * step, w);
                copy_rows(from + a.columns.place(inside.first, 0) * a.C, a.columns.stride * a.C,
                          to + inside.first * step, step, a.kw * a.C, inside.end - inside.first);
                for (std::int64_t w = inside.end; w < a.OW; ++w) by_taps(a, from, to + w * step, w);
            }
    }

private:
    static void clear(float* to, std::int64_t n) { std::memset(to, 0, 4 * static_cast<std::size_t>(n)); }
    static void by_taps(const patch_axes& a, const float* row, float* to, std::int64_t window) {
        for (std::int64_t j = 0; j < a.kw; ++j, to += a.C) {
            const std::int64_t x = a.columns.place(window, j);
            if (x >= 0 && x < a.W) copy_rows(row + x * a.C, 0, to, 0, a.C, 1);
            else clear(to, a.C);
        }
    }
};
/// Windows to images: each pixel's taps in their order. A row of an image at a time, and of its
/// windows one tap: no pixel waits for what was just added to it.
struct add_patches {
    static void run(const call& c) {
        const patch_axes a(c.e);
        const std::int64_t end = share(c.m * a.H, c.part + 1, c.parts), step = a.kh * a.kw * a.C;
        for (std::int64_t r = share(c.m * a.H, c.part, c.parts); r < end; ++r) {
            float* const to = c.p[copy_operand::to] + r * a.W * a.C;
            std::memset(to, 0, 4 * static_cast<std::size_t>(a.W * a.C));
            for (std::int64_t i = 0; i < a.kh; ++i) {
                const std::int64_t row = a.rows.window(r % a.H, i);
                if (row < 0) continue;
                const float* const from =
                    c.p[copy_operand::from] + (r / a.H * a.OH + row) * a.OW * step + i * a.kw * a.C;
                for (std::int64_t w = 0; w < a.OW; ++w) base::prefetch_lines(from + w * step, 4 * a.kw * a.C);
                for (std::int64_t j = 0; j < a.kw; ++j) {
                    const auto seen = a.windows_with(j, j);
                    add_rows(from + seen.first * step + j * a.C, step, to + a.columns.place(seen.first, j) * a.C,
                             a.columns.stride * a.C, a.C, seen.end - seen.first);
                }
            }
        }
    }
};

template <class Body, int... X>
struct nest<op::extract_patches, Body, X...> { using type = extract_patches; };
template <class Body, int... X>
struct nest<op::add_patches, Body, X...> { using type = add_patches; };

} // namespace sinter::cpu
