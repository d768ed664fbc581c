// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <cstddef>

#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// The loop that every direct convolution spends its time in: one row of output pixels for one
/// panel of channels.
namespace sinter::inline SINTER_TARGET::cpu {

/// Floats of an output row's buffer for one panel; rows live in the first-level cache between the
/// sums and the body.
constexpr std::size_t row_floats(int pixels) { return static_cast<std::size_t>(pixels) * 2 * lanes; }

/// `N` pixels in tiles of at most `Max`, as equal as can be: the first `larger` hold one pixel more
/// than the others.
template <int N, int Max>
struct pixel_tiles {
    static constexpr int count = (N + Max - 1) / Max, least = N / count, larger = N % count;
    static constexpr int size(int i) { return i < larger ? least + 1 : least; }
    static constexpr int start(int i) { return i * least + std::min(i, larger); }
};

/// What takes a row's sums, tile by tile: a buffer, a pixel's vectors side by side, pixels `step`
/// floats apart.
struct row_buffer {
    float* out;
    int step;
    template <int M, int V>
    SINTER_INLINE void take(const vf (&c)[std::size_t{M * V}], int first) const {
        store_block<V>(c, out + static_cast<std::ptrdiff_t>(first) * step, step);
    }
};

/// A row of `N` output pixels: pixel i is the sum over given rows of x [W, C] (in memory one after
/// the other) and over KW taps and C channels of x[i * S - PL + kx][c] times w [rows][KW][C][V *
/// lanes]; its V vectors go where run's last argument takes them. Taps outside of the row are
/// skipped rather than multiplied by zero, so x needs no padded copy: where the skipping differs
/// from tile to tile is known at compile time. PL may be negative (a crop). Sums run in the order
/// rows, taps, channels (where inputs are shared: rows, channels, taps); skipped taps change no
/// bit. In w, neighbouring taps lie TapStep taps apart and neighbouring rows RowStep taps (an input
/// gradient of stride s uses every s-th).
template <int W, int C, int N, int KW, int S, int PL, int V, int TapStep = 1, int RowStep = KW>
struct conv_row {
    /// Beside V weights and an input. Of one vector 14 only where taps are loops: in steps that are
    /// written out compilers keep more.
    static constexpr int max_tile = V == 1 ? (registers < 32 && C > 8 ? 14 : 12) : registers >= 32 ? 14 : 6;
    using tiles = pixel_tiles<N, max_tile>;

    /// Columns by which tile t sticks out of the row on the left and on the right.
    static constexpr int left(int t) { return std::max(0, PL - tiles::start(t) * S); }
    static constexpr int right(int t) { return std::max(0, (tiles::start(t) + tiles::size(t) - 1) * S - PL + KW - W); }
    static constexpr int inner_begin() {
        int t = 0;
        while (t < tiles::count && left(t)) ++t;
        return t;
    }
    static constexpr int inner_end() {
        int t = tiles::count;
        while (t > inner_begin() && right(t - 1)) --t;
        return t;
    }

    /// The first pixel of a tile (of M, L columns out on the left) that tap kx reaches inside the
    /// row, and one past the last.
    static constexpr int low(int M, int L, int kx) { return std::min(M, L > kx ? (L - kx + S - 1) / S : 0); }
    static constexpr int high(int M, int L, int R, int kx) {
        const int out = R - (KW - 1 - kx);
        return std::max(low(M, L, kx), M - (out > 0 ? (out + S - 1) / S : 0));
    }

    /// `count` steps of one tap after the other, for pixels [A, B) of the tile; I counts their
    /// accumulators, J vectors.
    template <int M, int A, int B, int Count, int... I, int... J>
    static SINTER_INLINE void sum(vf (&c)[std::size_t{M * V}], const float* x, const float* w,
                                  std::integer_sequence<int, I...>, std::integer_sequence<int, J...>) {
        for (int t = 0; t < Count; ++t) {
            vf b[std::size_t{V}] = {load(w + (t * V + J) * lanes)...};
            // In few steps, which are written out, a compiler would load weights again for each
            // pixel.
            if constexpr (B - A > 1 && (B - A <= 4 || (registers < 32 && Count <= 8))) (pin(b[J]), ...);
            const float* in = x + t;
            // Neighbouring pixels share inputs, which compilers that write out few steps keep in
            // registers that they do not have. With four lanes, as a broadcast takes more than a
            // load, that is worth its detours over memory.
            if constexpr (lanes > 4 && Count <= 8 && (B - A) * (V + 1) + KW > registers) asm("" : "+r"(in));
            ((c[A * V + I] = fma(splat(in[I / V * (S * C)]), b[I % V], c[A * V + I])), ...);
        }
    }

    /// Taps K.. of one row. Neighbouring taps that reach the same pixels form one loop, as (kx, c)
    /// is contiguous.
    template <int M, int L, int R, int K>
    static SINTER_INLINE void taps(vf (&c)[std::size_t{M * V}], const float* x, std::ptrdiff_t at, const float* w) {
        if constexpr (K < KW) {
            constexpr int A = low(M, L, K), B = high(M, L, R, K);
            constexpr int E = [] {
                int e = K + 1;
                while (TapStep == 1 && e < KW && low(M, L, e) == A && high(M, L, R, e) == B) ++e;
                return e;
            }();
            if constexpr (A < B)
                sum<M, A, B, (E - K) * C>(c, x + (at + (K + A * S) * C), w + K * TapStep * C * V * lanes,
                                          indices<(B - A) * V>{}, indices<V>{});
            taps<M, L, R, E>(c, x, at, w);
        }
    }

    /// All taps of one row for M pixels that reach no padding. Neighbouring pixels share inputs:
    /// where registers hold them all, each is broadcast once, and not once for each tap, which
    /// would keep the processor busy with loads.
    template <int M>
    static constexpr bool shares = V == 1 && S == 1 && TapStep == 1 && KW > 1 && 2 * M + KW + 1 < registers;
    template <std::size_t M, int... I, int... K>
    static SINTER_INLINE void sum_shared(vf (&c)[M], const float* x, const float* w, std::integer_sequence<int, I...>,
                                         std::integer_sequence<int, K...>) {
        for (int t = 0; t < C; ++t) {
            vf in[std::size_t{M + KW - 1}] = {splat(x[I * C + t])...};
            (pin(in[I]), ...);
            (add_shared<K>(c, in, load(w + (K * C + t) * lanes), indices<M>{}), ...);
        }
    }
    template <int K, std::size_t M, int... I>
    static SINTER_INLINE void add_shared(vf (&c)[M], const vf* in, vf b, std::integer_sequence<int, I...>) {
        ((c[I] = fma(in[I + K], b, c[I])), ...);
    }

    template <int M, int L, int R, class To>
    static __attribute__((noinline)) void tile(const float* x, int rows, const float* w, int first, To to) {
        vf c[std::size_t{M * V}];
        clear_block(c);
        const std::ptrdiff_t at = (static_cast<std::ptrdiff_t>(first) * S - PL) * C;
        for (int k = 0; k < rows; ++k, x += W * C, w += RowStep * C * V * lanes) {
            if constexpr (shares<M> && L == 0 && R == 0)
                sum_shared<M>(c, x + at, w, indices<M + KW - 1>{}, indices<KW>{});
            else taps<M, L, R, 0>(c, x, at, w);
        }
        to.template take<M, V>(c, first);
    }

    template <int T, int End, class To>
    static SINTER_INLINE void edge(const float* x, int rows, const float* w, To to) {
        if constexpr (T < End) {
            tile<tiles::size(T), left(T), right(T)>(x, rows, w, tiles::start(T), to);
            edge<T + 1, End>(x, rows, w, to);
        }
    }

    /// x: the first of `rows` input rows that count (maybe none); w: the weights of that row's
    /// taps.
    template <class To>
    static void run(const float* x, int rows, const float* w, To to) {
        constexpr int begin = inner_begin(), end = inner_end(), larger = std::clamp(tiles::larger, begin, end);
        edge<0, begin>(x, rows, w, to);
        if constexpr (begin < larger)
            for (int t = begin; t < larger; ++t) tile<tiles::least + 1, 0, 0>(x, rows, w, tiles::start(t), to);
        if constexpr (larger < end)
            for (int t = larger; t < end; ++t) tile<tiles::least, 0, 0>(x, rows, w, tiles::start(t), to);
        edge<end, tiles::count>(x, rows, w, to);
    }
};

} // namespace sinter::cpu
