// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/gather_panel.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// The products of attention's kernels: small ones, of which a causal mask leaves a triangle, so
/// that every tile has a depth of its own.
namespace sinter::inline SINTER_TARGET::cpu {

/// Rows of a tile. Where registers are many not as many as they allow: what a mask hides is left
/// out in steps of a tile.
inline constexpr int attention_rows = registers >= 32 ? small_tile_rows : tile_rows;
/// Rows of a tile of one vector: where registers are few a mask leaves as many keys beside two
/// vectors as one has lanes.
inline constexpr int attention_single_rows = registers < 32 && lanes > attention_rows ? lanes : attention_rows;
/// Of so many rows that are left the next tile takes these: two small tiles rather than a large one
/// and one of a row or two.
constexpr std::int64_t attention_height(std::int64_t rest) {
    const std::int64_t most = rest > attention_rows && rest <= 2 * small_tile_rows ? small_tile_rows : attention_rows;
    return rest < most ? rest : most;
}

/// What the next head reads and writes, prefetched line by line while this one's products are
/// computed: a head's rows are a line or two each, far apart, and come from memory slowly where
/// each is first touched when it is needed.
class attention_ahead {
public:
    void add(const float* p, std::int64_t step, std::int64_t rows, std::int64_t columns) {
        if (p) all_[count_++] = {p, step, rows, columns};
        if (p && count_ == 1) begin();
    }
    /// Calls f(ask) where each of n ask() is for the next line; there may be more of these than
    /// lines. Where they go on is settled before: a branch in each iteration and what is stored
    /// behind the last one would cost a tile a tenth. The last tile of a column of lines prefetches
    /// some rows beyond it instead.
    template <class F>
    SINTER_INLINE void during(std::int64_t n, F f) {
        const float* p = p_;   // in registers
        const std::int64_t step = step_;
        p_ += n * step;
        if (__builtin_expect((left_ -= n) <= 0, 0)) go_on();
        f([&]() SINTER_ALWAYS {
            __builtin_prefetch(p);
            p += step;
        });
    }

private:
    struct matrix {
        const float* p;
        std::int64_t step, rows, columns;
    };
    static constexpr std::int64_t no_end = std::int64_t{1} << 62;
    matrix all_[8];
    int count_ = 0, at_ = 0;
    std::int64_t column_ = 0;
    const float* p_ = no_sum;   // where there is nothing: what is in the cache anyway
    std::int64_t step_ = 0, left_ = no_end;

    void begin() { p_ = all_[at_].p + column_, step_ = all_[at_].step, left_ = all_[at_].rows; }
    __attribute__((noinline, cold)) void go_on() {   // to a matrix' next column of lines, or the next matrix
        if ((column_ += floats_a_line) >= all_[at_].columns) column_ = 0, ++at_;
        if (at_ < count_) return begin();
        p_ = no_sum, step_ = 0, left_ = no_end;
    }
};

/// Where a tile's sums go: to[i][j] = (keep[i] or 1) * what is there, if they are added, +
/// (factor[i] or 1) * the sum, j < NR * lanes.
struct attention_target {
    float* to;
    std::int64_t step;
    bool add;
    const float *factor = nullptr, *keep = nullptr;
    float* copy = nullptr;   ///< where a tile that copies its right operand leaves it, [n][NR * lanes]
};
/// Sums over t < n (n >= 1) of x[i * row_step + t * sum_step] * b[t * b_step + j]: MR rows, of
/// which `rows` are written.
template <int MR, int NR, bool Copies = false>
__attribute__((noinline)) void attention_tile(const float* x, std::int64_t row_step, std::int64_t sum_step,
                                              const float* b, std::int64_t b_step, std::int64_t n,
                                              const attention_target& y, int rows, attention_ahead& ahead) {
    vf c[std::size_t{MR * NR}];
    clear_block(c);
    if constexpr (NR == 1) accumulate<MR, NR>(c, x, row_step, sum_step, b, b_step, n);   // short
    else if constexpr (Copies)
        ahead.during(n, [&](auto prefetch) SINTER_ALWAYS {
            const float* from = b;
            float* to = y.copy;
            accumulate<MR, NR>(c, x, row_step, sum_step, b, b_step, n, [&]() SINTER_ALWAYS {
                prefetch();
                unroll<NR>([&](int j) SINTER_ALWAYS { store(to + j * lanes, load(from + j * lanes)); });
                from += b_step, to += NR * lanes;
            });
        });
    else
        ahead.during(n, [&](auto prefetch)
                            SINTER_ALWAYS { accumulate<MR, NR>(c, x, row_step, sum_step, b, b_step, n, prefetch); });
    if (y.factor)
        unroll<MR>([&](int i) SINTER_ALWAYS {
            const vf f = splat(y.factor[i < rows ? i : 0]);
            unroll<NR>([&](int j) SINTER_ALWAYS { c[i * NR + j] *= f; });
        });
    if (rows == MR && !y.add) return store_block<NR>(c, y.to, y.step);
    if (rows == MR && !y.keep) return add_block<NR>(c, y.to, y.step);
    unroll<MR>([&](int i) SINTER_ALWAYS {
        if (i < rows)
            unroll<NR>([&](int j) SINTER_ALWAYS {
                float* const at = y.to + i * y.step + j * lanes;
                store(at, !y.add ? c[i * NR + j] : fma(load(at), splat(y.keep ? y.keep[i] : 1.f), c[i * NR + j]));
            });
    });
}
using attention_function = decltype(&attention_tile<1, 1>);
template <int NR>
attention_function attention_tile_of(std::int64_t rows) {
    return rows > small_tile_rows ? attention_tile<attention_rows, NR>
           : rows > 1            ? attention_tile<small_tile_rows, NR>
                                 : attention_tile<1, NR>;
}

/// to[j][w] for rows j in [from, n): the products of x's rows (`step` floats apart, of which none
/// may be read from n on) with b [depth][b_step], NR vectors of it.
template <int NR>
inline void attention_rows_by(const float* x, std::int64_t step, std::int64_t from, std::int64_t n, const float* b,
                              std::int64_t b_step, std::int64_t depth, float* to, std::int64_t w,
                              attention_ahead& next_head) {
    if constexpr (NR == 1 && attention_single_rows > attention_rows)
        for (; n - from >= attention_single_rows; from += attention_single_rows)
            attention_tile<attention_single_rows, 1>(x + from * step, step, 1, b, b_step, depth,
                                                     {to + from * w, w, false}, attention_single_rows, next_head);
    while (from < n) {
        const std::int64_t next = attention_height(n - from);
        const int height = next > small_tile_rows && n >= attention_rows ? attention_rows
                           : n >= small_tile_rows                        ? small_tile_rows
                                                                         : 1;
        const std::int64_t row =
            n - from < height ? n - height : from;   // rows that are there already are written again
        attention_tile_of<NR>(height)(x + row * step, step, 1, b, b_step, depth, {to + row * w, w, false},
                                      static_cast<int>(height), next_head);
        from = row + height;
    }
}

/// The right operand of such products: rows of a matrix copied as panels of two vectors, which a
/// power of two between its rows cannot drive out of the cache, zeros where they end. Where
/// registers are few the first tile that multiplies by such a panel, which reads all that others
/// will, copies it meanwhile.
struct attention_panels {
    float* p;
    std::int64_t rows, columns;
    const float* from = nullptr;   ///< what is still to be copied
    std::int64_t step = 0;
    static constexpr bool tiles_copy = registers < 32;
    static constexpr std::int64_t floats(std::int64_t rows, std::int64_t columns) {
        return rows * round_up(columns, lanes);
    }
    std::int64_t size() const { return floats(rows, columns); }
    /// The first n rows from row-major memory.
    template <class = void>
    void take(const float* x, std::int64_t x_step, std::int64_t n) {
        from = x, step = x_step;
        if (!tiles_copy || columns % panel_width) gather(n);
    }
    template <class = void>
    void gather(std::int64_t n) {
        const product b{nullptr, 0, 0, from, step, right::rows, 0, columns, 0, false, 0, 0};
        for (std::int64_t j = 0; j < columns; j += panel_width) {
            float* to = p + j * rows;
            if (columns - j < panel_width)
                gather_panel(b, j, panel_columns(columns, j / panel_width, panel_width, lanes), 0, n, to);
            else
                for (std::int64_t i = 0; i < n; ++i, to += panel_width) {
                    store(to, load(from + i * step + j));
                    store(to + lanes, load(from + i * step + j + lanes));
                }
        }
        from = nullptr;
    }
};

/// A result of such products, [rows][columns]: summed where it shall lie, or, where its rows do not
/// end with a whole vector, in `workspace` first, whose rows do.
struct attention_result {
    float* to;
    std::int64_t step, rows, columns;
    float* workspace;
    bool whole() const { return columns % lanes == 0; }
    std::int64_t row_step() const { return whole() ? step : round_up(columns, lanes); }
    float* at(std::int64_t row) const { return whole() ? to + row * step : workspace + row * row_step(); }
    void clear(std::int64_t from, std::int64_t end) const {
        for (; from < end; ++from)
            for (std::int64_t j = 0; j < columns; j += lanes) store(at(from) + j, zero());
    }
    /// Rows [row, row + n): the sums over t in [begin, end) of x[i * row_step + t * sum_step] times
    /// row t of `right`.
    template <class = void>
    void put(std::int64_t row, std::int64_t n, const float* x, std::int64_t x_step, std::int64_t sum_step,
             std::int64_t begin, std::int64_t end, attention_panels& right, attention_target y,
             attention_ahead& next_head) const {
        if (begin >= end && !y.add) clear(row, row + n);
        if (begin >= end) return;
        y.step = row_step();
        for (std::int64_t j = 0; j < columns; j += panel_width) {
            const int w = panel_columns(columns, j / panel_width, panel_width, lanes);
            y.to = at(row) + j;
            if constexpr (attention_panels::tiles_copy)
                if (right.from) {
                    y.copy = right.p + j * right.rows + begin * w;
                    attention_tile<attention_rows, 2, true>(x + begin * sum_step, x_step, sum_step,
                                                            right.from + begin * right.step + j, right.step,
                                                            end - begin, y, static_cast<int>(n), next_head);
                    continue;
                }
            const auto tile = w == panel_width ? attention_tile_of<2>(n) : attention_tile_of<1>(n);
            tile(x + begin * sum_step, x_step, sum_step, right.p + j * right.rows + begin * w, w, end - begin, y,
                 static_cast<int>(n), next_head);
        }
        right.from = nullptr;
    }
    void finish() const {
        for (std::int64_t i = 0; i < rows && !whole(); ++i)
            for (std::int64_t j = 0; j < columns; j += lanes)
                store(to + i * step + j, load(at(i) + j), columns - j < lanes ? static_cast<int>(columns - j) : lanes);
    }
};

} // namespace sinter::cpu
