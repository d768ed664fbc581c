// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/round_up.hpp>

/// Packed weights. A logical matrix [K][N] lies in memory as panels of `width` columns, each panel
/// row by row, so that a matrix kernel reads it as one stream. Panel p holds the columns [p *
/// width, p * width + w) with w = min(width, N - p * width rounded up to `align`); element (k, j)
/// lies at p * width * K + k * w + j - p * width. Columns from N on are padding: always zero.
/// `align` is the target's vector length in floats, `width` twice that on CPUs. This is the layout
/// of parameters, of their gradients and of the optimizer's state alike.
namespace sinter::inline SINTER_TARGET::runtime {

/// Floats that a packed [K][N] takes, padding included.
constexpr std::int64_t panel_floats(std::int64_t K, std::int64_t N, int align) { return K * round_up(N, align); }

/// Columns that panel p stores, padding included.
constexpr int panel_columns(std::int64_t N, std::int64_t p, int width, int align) {
    const std::int64_t rest = round_up(N - p * width, align);
    return static_cast<int>(rest < width ? rest : width);
}

/// Where element (k, j) of a packed [K][N] lies, in floats from its beginning.
constexpr std::int64_t panel_offset(std::int64_t K, std::int64_t N, std::int64_t k, std::int64_t j, int width,
                                    int align) {
    const std::int64_t p = j / width;
    return p * width * K + k * panel_columns(N, p, width, align) + j - p * width;
}

/// Row-major [K][N] to panels; writes the padding.
constexpr void pack_panels(const float* from, float* to, std::int64_t K, std::int64_t N, int width, int align) {
    for (std::int64_t j0 = 0; j0 < N; j0 += width) {
        const int w = panel_columns(N, j0 / width, width, align);
        for (std::int64_t k = 0; k < K; ++k)
            for (int j = 0; j < w; ++j) *to++ = j0 + j < N ? from[k * N + j0 + j] : 0.f;
    }
}

/// Panels back to row-major [K][N].
constexpr void unpack_panels(const float* from, float* to, std::int64_t K, std::int64_t N, int width, int align) {
    for (std::int64_t j0 = 0; j0 < N; j0 += width) {
        const int w = panel_columns(N, j0 / width, width, align);
        for (std::int64_t k = 0; k < K; ++k, from += w)
            for (int j = 0; j < w && j0 + j < N; ++j) to[k * N + j0 + j] = from[j];
    }
}

} // namespace sinter::runtime
