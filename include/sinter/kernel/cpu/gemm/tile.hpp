// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

#include <sinter/kernel/cpu/vector/unroll.hpp>

/// The one loop in which all matrix products spend their time, and the tiles that the target's
/// registers allow.
namespace sinter::inline SINTER_TARGET::cpu {

/// Columns of a tile are one panel: two vectors. Rows: as many accumulators as leave room for the
/// two vectors and a broadcast (6 of 16 registers, 14 of 32). The small tile covers what large ones
/// leave; it still has the eight accumulators that two multiply-add ports with a latency of four
/// cycles need.
inline constexpr int panel_width = 2 * lanes;
inline constexpr int tile_rows = registers >= 32 ? 14 : 6;
inline constexpr int small_tile_rows = registers >= 32 ? 8 : 4;
/// Iterations of a tile's loop that are written out where its steps are known. A tile of few rows
/// has few multiply-adds an iteration: with what counts and prefetches memory beside them they are
/// nearly all that a core can begin, and a core that two threads share begins half of that for
/// each. Where a multiply-add is two instructions they are too many either way.
inline constexpr int iterations_at_once = registers < 32 && lanes > 4 ? 4 : 1;
/// Vectors of a sum that goes over a list with lanes along the rows: all registers but a few, and
/// 64 rows of them within 28 KB.
inline constexpr int input_vectors = registers >= 32 ? (lanes >= 16 ? 7 : 22) : 11, input_block = input_vectors * lanes;

/// Done beside a tile's loop.
struct nothing_else {
    SINTER_INLINE void operator()() const {}
};

/// c[i][j] += sum over t < n (n >= 1) of x[i * row_step + t * sum_step] * b[t * b_step + j * lanes
/// ...]: MR rows of NR vectors. Each element is summed in the order of t, whatever the tile:
/// results do not depend on how rows are grouped. Of a single vector of columns even and odd t are
/// summed apart (`Apart`), for a tile's few sums would wait for each other; not where it has more
/// rows than others. `each` is called once for every t of other tiles, or for every `Iterations` of
/// them together.
template <int MR, int NR, int Unroll = 1, bool Apart = NR == 1 && MR <= tile_rows, class Each = nothing_else>
SINTER_INLINE void accumulate(vf (&c)[std::size_t{MR * NR}], const float* x, std::int64_t row_step,
                              std::int64_t sum_step, const float* b, std::int64_t b_step, std::int64_t n,
                              Each each = {}) {
    // A pointer for every third row: few registers, and no chain of additions as long as the
    // multiply-adds take (clang would derive each row's address from the one before).
    const float* row[std::size_t{(MR + 2) / 3}];
    unroll<(MR + 2) / 3>([&](int i) SINTER_ALWAYS {
        row[i] = x + 3 * i * row_step;
        asm("" : "+r"(row[i]));
    });
    if constexpr (Apart) {
        vf odd[std::size_t{MR}];
        unroll<MR>([&](int i) SINTER_ALWAYS { odd[i] = zero(); });
        const auto step = [&](vf (&to)[std::size_t{MR}], std::int64_t ahead, vf v) SINTER_ALWAYS {
            pin(v);
            unroll<MR>([&](int i)
                           SINTER_ALWAYS { to[i] = fma(splat(row[i / 3][ahead + i % 3 * row_step]), v, to[i]); });
        };
        for (; n > 1; n -= 2, b += 2 * b_step) {
            step(c, 0, load(b));
            step(odd, sum_step, load(b + b_step));
            unroll<(MR + 2) / 3>([&](int i) SINTER_ALWAYS { row[i] += 2 * sum_step; });
        }
        if (n > 0) step(c, 0, load(b));
        unroll<MR>([&](int i) SINTER_ALWAYS { c[i] += odd[i]; });
        return;
    }
    const auto add = [&](int t) SINTER_ALWAYS {
        vf v[std::size_t{NR}];
        unroll<NR>([&](int j) SINTER_ALWAYS {
            v[j] = load(b + t * b_step + j * lanes);
            if constexpr (MR > 1 && MR <= 4) pin(v[j]);
        });
        unroll<MR>([&](int i) SINTER_ALWAYS {
            const vf a = splat(row[i / 3][i % 3 * row_step + t * sum_step]);
            unroll<NR>([&](int j) SINTER_ALWAYS {
                c[i * NR + j] = fma(a, v[j], c[i * NR + j]);
                if constexpr (Unroll > 1) keep(c[i * NR + j], a, v[j]);
            });
        });
    };
    const auto go_on = [&](int iterations) SINTER_ALWAYS {
        unroll<(MR + 2) / 3>([&](int i) SINTER_ALWAYS { row[i] += iterations * sum_step; });
        b += iterations * b_step;
        n -= iterations;
    };
    if constexpr (Unroll > 1) {
        while (n >= Unroll) {
            // Or each iteration's places of rows would take registers.
            if (!__builtin_constant_p(row_step)) asm("" : "+r"(row_step));
            if (!__builtin_constant_p(sum_step)) asm("" : "+r"(sum_step));
            unroll<Unroll>(add);
            each();
            go_on(Unroll);
        }
        while (n > 0) {
            add(0);
            go_on(1);
        }
        return;
    }
    do {
        add(0);
        each();
        go_on(1);
    } while (n > 0);
}

/// The same with iterations written out where all steps are found to be known: the right operand's
/// row is a panel's, and of the left one terms lie one behind the other, or rows do and are copied
/// ones.
template <int MR, int NR, class Each = nothing_else>
SINTER_INLINE void accumulate_at_once(vf (&c)[std::size_t{MR * NR}], const float* x, std::int64_t row_step,
                                      std::int64_t sum_step, const float* b, std::int64_t b_step, std::int64_t n,
                                      Each each = {}) {
    if constexpr (iterations_at_once > 1 && MR > 1 && NR > 1) {
        constexpr std::int64_t width = NR * lanes;
        const auto all = [&]() SINTER_ALWAYS { unroll<iterations_at_once>([&](int) SINTER_ALWAYS { each(); }); };
        if (b_step == width && sum_step == 1)
            return accumulate<MR, NR, iterations_at_once>(c, x, row_step, 1, b, width, n, all);
        if (b_step == width && sum_step == MR && row_step == 1)
            return accumulate<MR, NR, iterations_at_once>(c, x, 1, MR, b, width, n, all);
    }
    accumulate<MR, NR>(c, x, row_step, sum_step, b, b_step, n, each);
}

/// What a tile starts from when it does not continue a sum.
alignas(64) inline constexpr float no_sum[tile_rows * panel_width] = {};

/// One tile: to[i][j] = from[i][j] + the sums, both [MR][NR * lanes], or several below each other,
/// which begin with `from` each. Not inlined and free of any body, so that a program compiles it
/// once: the detour over memory costs a few cycles a tile.
template <int MR, int NR>
__attribute__((noinline)) void multiply_tile(const float* from, float* to, const float* x, std::int64_t row_step,
                                             std::int64_t sum_step, const float* b, std::int64_t b_step,
                                             std::int64_t n, std::int64_t tiles) {
    do {
        vf c[std::size_t{MR * NR}];
        unroll<MR * NR>([&](int i) SINTER_ALWAYS { c[i] = load(from + i * lanes); });
        accumulate_at_once<MR, NR>(c, x, row_step, sum_step, b, b_step, n);
        unroll<MR * NR>([&](int i) SINTER_ALWAYS { store(to + i * lanes, c[i]); });
        x += MR * row_step;
        to += MR * NR * lanes;
    } while (--tiles > 0);
}

/// Lines of memory that a loop prefetches one by one: of many at once most still come when they are
/// needed.
struct tile_lines {
    static constexpr int most = 32 * tile_rows, most_at_once = 16;
    const float* line[most + most_at_once];
    int count = 0;
    /// For loops that prefetch some at once, and may pass the last one.
    void repeat_last() {
        for (int i = 0; count > 0 && i < most_at_once; ++i) line[count + i] = line[count - 1];
    }
};

/// As multiply_tile<MR, 2>, while every iteration of the loop prefetches one of these lines, of
/// which there is at least one.
template <int MR>
__attribute__((noinline)) void multiply_tile_prefetching(const float* from, float* to, const float* x,
                                                         std::int64_t row_step, std::int64_t sum_step, const float* b,
                                                         std::int64_t b_step, std::int64_t n, const tile_lines& lines) {
    vf c[std::size_t{MR * 2}];
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { c[i] = load(from + i * lanes); });
    const float* const* at = lines.line;
    const float* const* const last = at + lines.count - 1;
    accumulate<MR, 2>(c, x, row_step, sum_step, b, b_step, n, [&]() SINTER_ALWAYS {
        __builtin_prefetch(*at);
        at += at < last;
    });
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { store(to + i * lanes, c[i]); });
}

/// What other tiles will want from memory: `step` floats an iteration (a panel's row at most) from
/// `at` on. Of whole rows, behind every panel_width iterations, the place moves on by `jump` as
/// well.
struct prefetch_stream {
    const float* at;
    std::int64_t step, jump = 0;
};

/// As multiply_tile<MR, 2>, while every iteration of the loop prefetches a line of the stream, or
/// (Rows) all of a row's.
template <int MR, bool Rows>
__attribute__((noinline)) void multiply_tile_ahead(const float* from, float* to, const float* x, std::int64_t row_step,
                                                   std::int64_t sum_step, const float* b, std::int64_t b_step,
                                                   std::int64_t n, prefetch_stream s) {
    std::int64_t iterations = panel_width;
    vf c[std::size_t{MR * 2}];
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { c[i] = load(from + i * lanes); });
    accumulate_at_once<MR, 2>(c, x, row_step, sum_step, b, b_step, n, [&]() SINTER_ALWAYS {
        __builtin_prefetch(s.at, 0, 2);
        if constexpr (Rows && panel_width > floats_a_line) __builtin_prefetch(s.at + floats_a_line, 0, 2);
        s.at += s.step;
        if (Rows && --iterations == 0) {
            s.at += s.jump;
            iterations = panel_width;
        }
    });
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { store(to + i * lanes, c[i]); });
}

/// Where several iterations are written out: is so little prefetched in an iteration that two of
/// each four iterations can prefetch it? What prefetches beside a tile's few multiply-adds takes
/// places of theirs.
constexpr bool prefetches_seldom(std::int64_t step) { return iterations_at_once > 1 && 2 * step <= floats_a_line; }

/// As multiply_tile_ahead for such a stream, of a product whose terms lie one behind the other by a
/// panel.
template <int MR>
__attribute__((noinline)) void multiply_tile_seldom(const float* from, float* to, const float* x, std::int64_t row_step,
                                                    std::int64_t, const float* b, std::int64_t, std::int64_t n,
                                                    prefetch_stream s) {
    vf c[std::size_t{MR * 2}];
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { c[i] = load(from + i * lanes); });
    const std::int64_t half = s.step * iterations_at_once / 2;
    accumulate<MR, 2, iterations_at_once>(c, x, row_step, 1, b, panel_width, n, [&]() SINTER_ALWAYS {
        __builtin_prefetch(s.at, 0, 2);
        __builtin_prefetch(s.at + half, 0, 2);
        s.at += 2 * half;
    });
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { store(to + i * lanes, c[i]); });
}

} // namespace sinter::cpu
