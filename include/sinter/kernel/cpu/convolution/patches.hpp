// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>
#include <sinter/kernel/patch_axes.hpp>
#include <sinter/ops/extract_patches.hpp>
#include <cstring>

namespace sinter::cpu {

/// p[0] images [H][W][C] to p[1] windows [OH][OW][kh][kw][C].
struct extract_patches {
    static void run(const call& c) {
        const patch_axes a(c.e);
        const std::int64_t all = c.m * a.OH * a.OW, end = share(all, c.part + 1, c.parts);
        for (std::int64_t w = share(all, c.part, c.parts); w < end; ++w) {
            const float* image = c.p[0] + w / a.OW / a.OH * a.H * a.W * a.C;
            float* to = c.p[1] + w * a.kh * a.kw * a.C;
            for (std::int64_t i = 0; i < a.kh; ++i)
                for (std::int64_t j = 0; j < a.kw; ++j, to += a.C) {
                    const std::int64_t y = a.rows.place(w / a.OW % a.OH, i), x = a.columns.place(w % a.OW, j);
                    const bool inside = y >= 0 && y < a.H && x >= 0 && x < a.W;
                    if (inside) std::memcpy(to, image + (y * a.W + x) * a.C, 4 * static_cast<std::size_t>(a.C));
                    else std::memset(to, 0, 4 * static_cast<std::size_t>(a.C));
                }
        }
    }
};
/// p[0] windows to p[1] images: each pixel's taps in their order.
struct add_patches {
    static void run(const call& c) {
        const patch_axes a(c.e);
        const std::int64_t all = c.m * a.H * a.W, end = share(all, c.part + 1, c.parts);
        for (std::int64_t p = share(all, c.part, c.parts); p < end; ++p) {
            const float* windows = c.p[0] + p / a.W / a.H * a.OH * a.OW * a.kh * a.kw * a.C;
            float* to = c.p[1] + p * a.C;
            std::memset(to, 0, 4 * static_cast<std::size_t>(a.C));
            for (std::int64_t i = 0; i < a.kh; ++i) {
                const std::int64_t y = a.rows.window(p / a.W % a.H, i);
                for (std::int64_t j = 0; y >= 0 && j < a.kw; ++j) {
                    const std::int64_t x = a.columns.window(p % a.W, j);
                    if (x < 0) continue;
                    const float* from = windows + (((y * a.OW + x) * a.kh + i) * a.kw + j) * a.C;
                    for (std::int64_t k = 0; k < a.C; ++k) to[k] += from[k];
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
