// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/gemm/prefetch_rows.hpp>
#include <sinter/kernel/cpu/gemm/product_limits.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_list.hpp>
#include <sinter/kernel/cpu/gemm/sparse/zeros.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// The weights' gradient where what comes from behind is often exactly zero, as behind relu: those
/// terms are skipped. For each unit the examples whose gradient is not zero are gone over with
/// lanes along the inputs, a block of which lies in the first-level cache for all examples; the
/// sums are transposed as they are finished. The terms are added in the same order as by the tiles,
/// so the result has the same bits. Where an input is not finite nothing is skipped: zero times
/// infinity is NaN.
namespace sinter::inline SINTER_TARGET::cpu {

inline constexpr std::int64_t sparse_examples = 512;     ///< at most
/// At most, over which a block of inputs stays in the cache; never less than one panel of the most
/// examples.
inline constexpr int sparse_units = std::max(128, static_cast<int>(sparse_examples / mask_bits) * panel_width);
constexpr bool suits_sparse_gradient(const product& q) {
    return q.depth >= 32 && q.depth <= sparse_examples && q.rows >= 3 * floats_a_line && q.columns >= panel_width &&
           q.rows * q.columns >= 8192;
}
/// Of the gradients, the share that is not zero; 1 where the extents do not suit.
inline float gradient_share(const product& q) {
    return suits_sparse_gradient(q) ? non_zero_share(q.b, q.depth, q.columns, q.b_step) : 1.f;
}

/// How many vectors a block of the inputs has: the blocks are equally wide, as nearly as can be.
struct input_blocks {
    static constexpr int least = input_vectors < 8 ? 4 : 8;   ///< so many sums, or twice, do not wait for each other
    int vectors = least;
    explicit constexpr input_blocks(std::int64_t inputs) {
        const std::int64_t v = (inputs + lanes - 1) / lanes, blocks = (v + input_vectors - 1) / input_vectors;
        vectors = std::max(least, static_cast<int>((v + blocks - 1) / blocks));
    }
    constexpr int bit() const { return 1 << (vectors - least); }   ///< in a set of widths
    static constexpr int all_bits = (1 << (input_vectors - least + 1)) - 1;
};

/// Units that are gone over at once: as many as it takes until no sum waits for the one before it,
/// if they fit into the registers.
inline constexpr int units_at_once = input_vectors < 8 && 2 * input_vectors + 4 <= registers ? 2 : 1;

/// Units that are finished by one call: a line's, whose sums have room beside the inputs.
inline constexpr int finished_units = panel_width < floats_a_line ? panel_width : floats_a_line;

/// In which order a panel's units are gone over, of which examples, and their gradients, one behind
/// the other.
struct marked_units {
    std::uint64_t mask[panel_width];
    std::int32_t unit[panel_width];   ///< of each mask; never beyond its group of finished_units

    /// d: the gradients of at most 64 examples; `every`: none of them is left out.
    __attribute__((noinline)) void find(const float* d, std::int64_t d_step, std::int64_t examples, bool every,
                                        float* list) {
        alignas(64) float transposed[panel_width * mask_bits];
        std::uint64_t of_units[panel_width];
        transpose_matrix(d, d_step, examples, panel_width, transposed, mask_bits, false);
        for (int u = 0; u < panel_width; ++u)
            of_units[u] = every ? first_bits(examples) : row_mask(transposed + u * mask_bits, examples);
        for (int h = 0; h < panel_width; h += lanes) {
            pair_masks<units_at_once>(of_units + h, 1, mask + h, unit + h);
            for (int r = h; r < h + lanes; ++r)
                list_marked(list + r * mask_bits, transposed + (unit[r] += h) * mask_bits, mask[r]);
        }
    }
};

/// to[unit][] (+)= the sum over the marked examples i < 64 of their gradients times x[i][], for
/// finished_units from `begin` on, each of which loads its share of `prefetch` ahead, if there is
/// one.
template <int V>
__attribute__((noinline)) void add_marked_units(const float* x, std::int64_t x_step, const float* list,
                                                const marked_units& marked, int begin, bool first, float* to,
                                                const prefetch_rows* prefetch) {
    for (int u = begin; u < begin + finished_units; u += units_at_once) {
        if (prefetch) prefetch->prefetch_share((u - begin) / units_at_once, finished_units / units_at_once);
        vf c[units_at_once][std::size_t{V}];
        std::uint64_t m[units_at_once];
        float* sums[units_at_once];
        unroll<units_at_once>([&](int k) SINTER_ALWAYS {
            m[k] = marked.mask[u + k];
            sums[k] = to + (marked.unit[u + k] - begin) * input_block;
            if (first) clear_block(c[k]);
            else load_block<V>(c[k], sums[k], 0);
        });
        for_each_marked(m, list + u * mask_bits, mask_bits, [&](int k, std::int64_t i, vf a) SINTER_ALWAYS {
            const float* row = x + i * x_step;
            unroll<V>([&](int v) SINTER_ALWAYS { c[k][v] = fma(load(row + v * lanes), a, c[k][v]); });
        });
        unroll<units_at_once>([&](int k) SINTER_ALWAYS { store_block<V>(c[k], sums[k], 0); });
    }
}

/// Copies n columns of rows [0, rows) if there is a place, zeros behind them up to a block's width;
/// false if one is not finite.
template <int V>
__attribute__((noinline)) bool copy_inputs(const float* from, std::int64_t step, std::int64_t rows, std::int64_t n,
                                           float* to) {
    vf finite[std::size_t{V}];
    clear_block(finite);
    for (std::int64_t i = 0; i < rows; ++i, from += step, to += to ? V * lanes : 0) {
        const auto copy = [&](int v, vf x) SINTER_ALWAYS {
            finite[v] = fma(x, zero(), finite[v]);
            if (to) store(to + v * lanes, x);
        };
        if (n >= V * lanes) unroll<V>([&](int v) SINTER_ALWAYS { copy(v, load(from + v * lanes)); });
        else
            unroll<V>([&](int v) SINTER_ALWAYS {
                const int k = v * lanes;
                copy(v, n - k >= lanes ? load(from + k) : k < n ? load(from + k, static_cast<int>(n - k)) : zero());
            });
    }
    unroll<V - 1>([&](int v) SINTER_ALWAYS { finite[0] += finite[v + 1]; });
    return sum_lanes(finite[0]) == 0.f;
}

/// What there is for each of these widths of a block.
struct block_functions {
    decltype(&copy_inputs<input_vectors>) copy;
    decltype(&add_marked_units<input_vectors>) add;
};
template <int Widths, int V = input_vectors>
block_functions functions_of(int vectors) {
    constexpr int narrower = Widths & ((1 << (V - input_blocks::least)) - 1);
    if constexpr (narrower == Widths) return functions_of<Widths, V - 1>(vectors);
    else {
        if constexpr (narrower != 0)
            if (vectors < V) return functions_of<narrower, V - 1>(vectors);
        return {copy_inputs<V>, add_marked_units<V>};
    }
}

/// Are blocks of the inputs whole lines that do not meet in few sets of the cache? Then they are
/// read where they lie.
inline bool lies_spread(const product& q) {
    return lanes == floats_a_line && q.sum_step % (2 * floats_a_line) == floats_a_line &&
           reinterpret_cast<std::uintptr_t>(q.a) % 64 == 0;
}

/// The tiles [tile, end), numbered as by run_tiles.
template <class = void>
__attribute__((noinline)) inline void run_marked_blocks(const product& q, const epilogue& f, const call& c,
                                                        std::int64_t tile, std::int64_t end,
                                                        const block_functions& block) {
    alignas(64) float x[mask_bits * input_block], d[mask_bits * sparse_units], sums[sparse_units * input_block];
    marked_units marked[sparse_examples / mask_bits * sparse_units / panel_width];
    const bool result = prefetches_result(q, f), by_lines = prefetches_by_lines(q, f);
    const int width = input_blocks(q.rows).vectors * lanes;
    const std::int64_t chunks = (q.depth + mask_bits - 1) / mask_bits;
    const int panels = static_cast<int>(sparse_units / panel_width / (chunks > 1 ? chunks : 1)),
              most = panels > 1 ? panels : 1;
    const panel_groups groups(q, tile, end, 1);
    if (groups.first > tile) run_tiles(q, f, c, tile, groups.first);
    for (std::int64_t j0 = groups.column; j0 < groups.end_column; j0 += most * panel_width) {
        const std::int64_t n =
            (groups.end_column - j0) / panel_width < most ? (groups.end_column - j0) / panel_width : most;
        unsigned found = 0,
                 all = 0;   // bits: the chunks whose units are marked, and those of which no example is left out
        for (std::int64_t k = 0; k < q.rows; k += width) {
            const std::int64_t inputs = q.rows - k < width ? q.rows - k : width;
            for (std::int64_t h = 0; h < chunks; ++h) {
                const std::int64_t rows = q.depth - h * mask_bits < mask_bits ? q.depth - h * mask_bits : mask_bits;
                const float* const from = q.a + h * mask_bits * q.sum_step + k;
                const bool in_place = inputs == width && lies_spread(q);
                const bool finite = block.copy(from, q.sum_step, rows, inputs, in_place ? nullptr : x);
                const unsigned bit = 1u << h;
                if (!(found & bit) || finite == ((all & bit) != 0)) {
                    for (std::int64_t p = 0; p < n; ++p)
                        marked[h * n + p].find(q.b + h * mask_bits * q.b_step + j0 + p * panel_width, q.b_step, rows,
                                               !finite, d + (h * n + p) * mask_bits * panel_width);
                    found |= bit;
                    all = finite ? all & ~bit : all | bit;
                }
                for (std::int64_t i = 0; i < n * panel_width; i += finished_units) {
                    const std::int64_t p = i / panel_width, g = h * n + p, j = j0 + p * panel_width;
                    const int u = static_cast<int>(i % panel_width);
                    float* const to = sums + (chunks > 1 ? i * input_block : 0);
                    const finished done{to, static_cast<int>(inputs), finished_units, input_block,
                                        q.off + j * q.rows + k * panel_width + u, panel_width, q.row + k,
                                        q.col + static_cast<int>(j) + u};
                    const prefetch_rows prefetch{f, c, done};
                    const bool last = h + 1 == chunks;
                    if (last && result && !by_lines) f.prefetch(done, c);
                    block.add(in_place ? from : x, in_place ? q.sum_step : width, d + g * mask_bits * panel_width,
                              marked[g], u, h == 0, to, last && by_lines ? &prefetch : nullptr);
                    if (last) f.columns(done, c);
                }
            }
        }
    }
    if (groups.end < end) run_tiles(q, f, c, groups.end, end);
}
/// The same with blocks of one of these widths.
template <int Widths = input_blocks::all_bits>
void run_sparse_gradient(const product& q, const epilogue& f, const call& c, std::int64_t tile, std::int64_t end) {
    run_marked_blocks(q, f, c, tile, end, functions_of<Widths>(input_blocks(q.rows).vectors));
}

} // namespace sinter::cpu
