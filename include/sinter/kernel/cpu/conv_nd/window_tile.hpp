// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/kernel/cpu/conv_nd/prefetch_lines.hpp>
#include <sinter/kernel/cpu/conv_nd/column_overlap.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// The loops in which depthwise convolutions spend their time: some neighbouring results of a row,
/// summed over windows of K taps side by side. What they overlap is read where it lies, and once
/// for all taps of a window that overlap it. A vector has a channel in each lane.
namespace sinter::inline SINTER_TARGET::cpu {

/// Results of a tile: a multiple of the rows' lengths that nets on photographs have, 7, 14, 28 and
/// so on.
inline constexpr int window_results = 7;

/// A row of sources that a tile overlaps: where it begins, and the first weights of the row of
/// taps.
struct overlapped_row {
    std::int64_t source, weights;
};
/// Taps side by side: floats from a row's begin to what the first of them overlaps in a tile's
/// first column, and to its weights.
struct overlapped_window {
    std::int64_t source, weights;
    int column;              ///< of that source; may lie in the padding
    std::uint32_t columns;   ///< a bit for each column that is there, and that a result needs
};
/// What a tile's results overlap: each of `rows` through each of `windows`.
struct overlapped_windows {
    const overlapped_row* rows;
    int row_count;
    overlapped_window* windows;
    int window_count;
    std::int64_t column_step;             ///< floats from a column of sources to the next
    std::int64_t tap_step,
        vector_step;   ///< floats from a tap's weights to the next one's, and from a vector's to the next one's
    int channels, results;                ///< the results that are there: seven but in the last tile of a row
    prefetch_lines prefetch{};            ///< what a tile prefetches

    /// f(floats to its first source, to its first tap's weights, columns that are there): each
    /// window.
    template <class F>
    SINTER_INLINE void each(F f) const {
        const overlapped_row* const rows_end = rows + row_count;
        const overlapped_window* const windows_end = windows + window_count;
        for (const overlapped_row* r = rows; r < rows_end; ++r)
            for (const overlapped_window* t = windows; t < windows_end; ++t)
                f(r->source + t->source, r->weights + t->weights, t->columns);
    }
};

/// Reads a column, of a vector's channels the first n. Careful: if it is there, and no further.
template <bool Careful>
struct read_column {
    std::uint32_t there;
    int n;
    SINTER_INLINE bool operator()(const float* p, int column, vf& v) const {
        if (Careful && !(there >> column & 1)) return false;
        v = Careful ? load_lanes(p, n) : load(p);
        return true;
    }
    static SINTER_INLINE vf load_lanes(const float* p, int n) { return lanes < 8 && n == lanes ? load(p) : load(p, n); }
};

/// Sums of results: vectors [v, end) of channels, a result's every `step` floats. Careful: columns
/// may be missing, and channels of the last vector.
struct channel_sums {
    using weights = const float;
    using results = float;
    using tile = void (*)(const overlapped_windows& m, const float* x, weights* w, results* y, std::int64_t step, int v,
                          int end);

    template <int K, int S, bool Careful>
    static __attribute__((noinline)) void sum(const overlapped_windows& m, const float* x, weights* w, results* y,
                                              std::int64_t step, int v, int end) {
        const std::int64_t column_step = m.column_step, tap_step = m.tap_step, vector_step = m.vector_step;
        x += v * lanes, y += v * lanes, w += v * vector_step;
        for (; v < end; ++v, x += lanes, y += lanes, w += vector_step) {
            const int n = std::min(lanes, m.channels - v * lanes);
            m.prefetch.prefetch(v);
            vf c[window_results];
            clear_block(c);
            m.each([&](std::int64_t source, std::int64_t row, std::uint32_t there) SINTER_ALWAYS {
                vf b[std::size_t{K}];
                unroll<K>([&](int k) SINTER_ALWAYS { b[k] = load(w + row + k * tap_step), pin(b[k]); });
                add_columns<window_results, K, S>(x + source, column_step, read_column<Careful>{there, n}, b, c);
            });
            store_block<1>(c, y, step);
        }
    }
};

/// What the gradients of a tile's results, every `step` floats, add to sums of the weights'
/// gradient.
struct channel_weight_sums {
    using weights = float;
    using results = const float;
    using tile = void (*)(const overlapped_windows& m, const float* x, weights* dw, results* dy, std::int64_t step,
                          int v, int end);

    template <int K, int S, bool Careful>
    static __attribute__((noinline)) void sum(const overlapped_windows& m, const float* x, weights* dw, results* dy,
                                              std::int64_t step, int v, int end) {
        const std::int64_t column_step = m.column_step, tap_step = m.tap_step, vector_step = m.vector_step;
        x += v * lanes, dy += v * lanes, dw += v * vector_step;
        for (; v < end; ++v, x += lanes, dy += lanes, dw += vector_step) {
            const int n = std::min(lanes, m.channels - v * lanes);
            m.prefetch.prefetch(v);
            vf d[window_results];
            unroll<window_results>([&](int i) SINTER_ALWAYS {
                d[i] = !Careful        ? load(dy + i * step)
                       : i < m.results ? read_column<true>::load_lanes(dy + i * step, n)
                                       : zero();
            });
            m.each([&](std::int64_t source, std::int64_t row, std::uint32_t there) SINTER_ALWAYS {
                vf c[std::size_t{K}];   // a tile's terms by themselves: the large sum is rounded less often
                clear_block(c);
                add_columns<window_results, K, S, true>(x + source, column_step, read_column<Careful>{there, n}, d, c);
                add_block<1>(c, dw + row, tap_step);
            });
        }
    }
};

/// The most taps of a window into which a row of n, S columns from result to result, can be cut:
/// those of windows are few numbers.
constexpr int window_taps(int n, int S) {
    for (const int k : {7, 5, 3, 2})
        if (n % k == 0 && (S == 1 || (S == 2 && (k == 5 || k == 3)))) return k;
    return 1;
}
/// The tiles of such a window: where all is there, and where something may be missing.
template <class Sums>
struct window_tiles {
    typename Sums::tile whole, careful;

    template <int K, int S>
    static constexpr window_tiles of() { return {Sums::template sum<K, S, false>, Sums::template sum<K, S, true>}; }
    static window_tiles of(int k, int S) {
        if (S == 2) return k == 5 ? of<5, 2>() : of<3, 2>();
        return k == 7 ? of<7, 1>() : k == 5 ? of<5, 1>() : k == 3 ? of<3, 1>() : k == 2 ? of<2, 1>() : of<1, 1>();
    }
};

} // namespace sinter::cpu
