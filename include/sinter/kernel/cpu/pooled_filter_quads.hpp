// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/bytes.hpp>
#include <sinter/kernel/cpu/conv_sums.hpp>
#include <sinter/kernel/cpu/padded_image.hpp>
#include <sinter/kernel/cpu/vector_block.hpp>

namespace sinter::cpu {

/// permute_quad(p, which): lane l is p[which[l]], which < 4. One instruction beside the load where there is AVX;
/// elsewhere it would not pay, and is not used.
#if defined(__AVX512F__)
inline constexpr bool has_permute = true;
SINTER_INLINE vf permute_quad(const float* p, vi which) {
    return (vf)_mm512_permutevar_ps(_mm512_broadcast_f32x4(_mm_loadu_ps(p)), (__m512i)which);
}
#elif defined(__AVX__)
inline constexpr bool has_permute = true;
SINTER_INLINE vf permute_quad(const float* p, vi which) {
    return (vf)_mm256_permutevar_ps(_mm256_broadcast_ps(reinterpret_cast<const __m128*>(p)), (__m256i)which);
}
#else
inline constexpr bool has_permute = false;
SINTER_INLINE vf permute_quad(const float* p, vi which) {
    vf v;
    for (int i = 0; i < lanes; ++i) v[i] = p[which[i]];
    return v;
}
#endif

/// conv_pooled_weight_gradient of 2 x 2 windows for the few input channels of a first layer, which would leave vectors
/// of taps mostly empty: lanes run along output channels. The four inputs that a tap may meet in a window lie side by
/// side (a quad), so that one permutation hands every lane its winner's: one multiply-add where a dense gradient needs
/// four.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct pooled_filter_quads {
    static constexpr int rows = OH / 2, columns = OW / 2, depth = KH * KW * CI;
    using sums = conv_sums<depth, CO, Body>;
    using image = padded_image<H, W, CI, (rows * 2 - 1) * S + KH, (columns * 2 - 1) * S + KW, PT, PL, lanes>;
    static constexpr int pitch = image::width * CI, quad_rows = image::height - S, quad_pitch = pitch - S * CI;
    static constexpr std::int64_t image_floats = round_up(image::floats, 16),
                                  quad_floats = round_up((quad_rows * quad_pitch + 4) * 4, 16);
    static constexpr std::int64_t own = image_floats + quad_floats;
    static constexpr std::int64_t scratch(int parts) { return parts * (sums::floats + own); }
    static void finish(const call& c) { sums::finish(c); }

    /// The quads of a padded image, four at a time by a transposition; writes up to three beyond each row.
    static __attribute__((noinline)) void gather(const float* x, float* to) {
        for (int y = 0; y < quad_rows; ++y)
            for (int i = 0; i < quad_pitch; i += 4) {
                typedef float v4 __attribute__((vector_size(16)));
                const float* p = x + y * pitch + i;
                v4 a, b, c, d;
                std::memcpy(&a, p, 16), std::memcpy(&b, p + S * CI, 16);
                std::memcpy(&c, p + S * pitch, 16), std::memcpy(&d, p + S * pitch + S * CI, 16);
                const v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
                const v4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
                const v4 r[4] = {
                    __builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                    __builtin_shufflevector(AB, CD, 0, 1, 4, 5), __builtin_shufflevector(AB, CD, 2, 3, 6, 7)};
                std::memcpy(to + (y * quad_pitch + i) * 4, r, sizeof r);
            }
    }

    static constexpr int tap(int t) { return (t / (KW * CI) * quad_pitch + t % (KW * CI)) * 4; }
    template <int T, int N, int... I>
    static SINTER_INLINE void window(vf (&c)[N], const float* at, vi w, vf v, std::integer_sequence<int, I...>) {
        ((c[I] = fma(permute_quad(at + tap(T + I), w), v, c[I])), ...);
    }

    /// Rows [T, T + N) of the gradient for one vector of output channels, over all windows of an image.
    template <int T, int N, int Valid>
    static __attribute__((noinline)) void sweep(float* sum, int width, const float* q, const float* g,
                                                const std::uint8_t* winner) {
        vf c[N];
        load_block<1>(c, sum + T * width, width);
        for (int py = 0; py < rows; ++py) {
            const float* at = q + py * (2 * S * quad_pitch * 4);
            for (int px = 0; px < columns; ++px, at += 2 * S * CI * 4, g += CO, winner += CO) {
                vf v;
                if constexpr (Valid == lanes)
                    v = load(g);
                else
                    v = load(g, Valid);
                const vi w = load_bytes<Valid>(winner);
                window<T>(c, at, w, v, indices<N>{});
            }
        }
        store_block<1>(c, sum + T * width, width);
    }

    static constexpr int most = registers >= 32 ? 25 : 12, tiles = (depth + most - 1) / most;
    template <int Valid>
    static void channels(float* sum, int width, const float* q, const float* g, const std::uint8_t* winner) {
        unroll<tiles>([&](auto t) SINTER_ALWAYS {
            constexpr int first = depth * t / tiles, last = depth * (t + 1) / tiles;
            sweep<first, last - first, Valid>(sum, width, q, g, winner);
        });
    }

    static void run(const call& c) {
        float* sum = sums::clear(c);
        float* copy = c.scratch + c.parts * sums::floats + c.part * own;
        float* q = copy + image_floats;
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = begin; i < end; ++i) {
            image::copy(c.p[0] + i * (H * W * CI), copy, i == begin);
            gather(copy, q);
            const float* g = c.p[1] + i * (rows * columns * CO);
            const std::uint8_t* winner = reinterpret_cast<const std::uint8_t*>(c.p[2]) + i * (rows * columns * CO);
            for (int o = 0; o < CO; o += lanes) {
                float* to = sum + panel_offset(depth, CO, 0, o, 2 * lanes, lanes);
                const int width = panel_columns(CO, o / (2 * lanes), 2 * lanes, lanes);
                if (CO % lanes == 0 || o + lanes <= CO) {
                    if constexpr (CO >= lanes) channels<lanes>(to, width, q, g + o, winner + o);
                } else {
                    if constexpr (CO % lanes > 0) channels<CO % lanes>(to, width, q, g + o, winner + o);
                }
            }
        }
    }
};

} // namespace sinter::cpu
