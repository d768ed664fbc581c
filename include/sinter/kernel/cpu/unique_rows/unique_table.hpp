// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/row_list.hpp>
#include <sinter/kernel/cpu/unique_rows/unique_keys.hpp>
#include <sinter/kernel/cpu/gemm/bf16/paired_rows.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The gradient of a table: each key's sum times its column's transposed weights, added up over a
/// row's keys. The sums are [keys][N], the weights packed [K][N]. Lazy, and with `list_rows`, as
/// scatter_rows has it: the body is an optimizer's update, or stores a list of rows, and sees only
/// the rows that occur. Otherwise it sees all V rows, zeros where nothing occurred.
template <class Body>
struct unique_table {
    static constexpr int phases = 2;
    static constexpr bool only_divides = true;
    static constexpr std::int64_t step(std::int64_t width) { return round_up(width, lanes); }   ///< from row to row
    static constexpr std::int64_t scratch(const std::int64_t* e, int, std::int64_t m) {
        const unique_shape s(e);
        return s.columns * (s.outputs + m) * step(s.width) + (e[unique_extent::lazy] ? 0 : e[unique_extent::all_rows]);
    }

    static void prepare(const call& c) {
        const places p(c);
        const unique_shape& s = p.s;
        const std::int64_t K = s.columns * s.width + s.numbers, step = unique_table::step(s.width);
        for (std::int64_t i = share(s.columns, c.part, c.parts); i < share(s.columns, c.part + 1, c.parts); ++i)
            for (std::int64_t j = 0; j < s.outputs; j += panel_width) {
                const int w = panel_columns(s.outputs, j / panel_width, panel_width, lanes);
                const float* from = c.p[unique_table_operand::weights] + j * K + (s.first + i * s.width) * w;
                if (p.paired) transpose_into_pairs(from, p.transposed + (i * s.outputs + j) * step);
                else transpose_matrix(from, w, s.width, w, p.transposed + (i * s.outputs + j) * step, step, false);
            }
        if (p.head_of && c.part == 0) {
            std::memset(p.head_of, -1, 4 * static_cast<std::size_t>(c.e[unique_extent::all_rows]));
            for (std::int32_t h = 0; h < *p.k.head_count; ++h) p.head_of[p.k.row[p.k.heads[h]]] = p.k.heads[h];
        }
    }
    static void run(const call& by) {
        const call c = by;   // a copy: what the body stores cannot be seen to leave the original alone
        const places p(c);
        const unique_shape& s = p.s;
        const std::int64_t step = unique_table::step(s.width);
        for_each_column(p.k, s, c, [&](std::int64_t column, std::int64_t first, std::int64_t last) {
            const float* const transposed = p.transposed + column * s.outputs * step;
            if (p.paired) return multiply_keys<paired_tile>(first, last, 0, transposed, p, c);
            if (p.at_once) {
                for (std::int64_t j = 0; j < step; j += panel_width)
                    (step - j >= panel_width ? update_keys<2> : update_keys<1>)(first, last, j, transposed + j, p, c);
                return;
            }
            for (std::int64_t j = 0; j < step; j += panel_width)
                (step - j >= panel_width ? multiply_keys<tile<2>> : multiply_keys<tile<1>>)(first, last, j,
                                                                                            transposed + j, p, c);
        });
    }
    static void finish(const call& by) {
        const call c = by;   // a copy: what the body stores cannot be seen to leave the original alone
        const places p(c);
        if (p.at_once) return;
        const std::int64_t list_rows = c.e[unique_extent::list_rows];
        const std::int64_t n = list_rows                       ? list_rows
                               : c.e[unique_extent::lazy] ? *p.k.head_count
                                                          : c.e[unique_extent::all_rows];
        if (list_rows && c.part == 0) *list_of(c) = *p.k.head_count;
        const std::int64_t begin = share(n, c.part, c.parts), end = share(n, c.part + 1, c.parts);
        if (p.s.width == lanes) sum_rows<true>(begin, end, p, c);
        else sum_rows<false>(begin, end, p, c);
    }

private:
    struct places {
        unique_shape s;
        unique_keys k;
        float *transposed, *of_keys;   ///< [columns][N][step], [keys][step]
        std::int32_t* head_of;     ///< of all rows, unless lazy
        bool at_once;              ///< every row has one key, so its sum is known when the key's product is
        bool paired;               ///< transposed weights lie as multiply_paired_tile wants them
        explicit places(const call& c) : s(c.e), k(c.p[unique_table_operand::keys], s, c.m) {
            transposed = c.scratch;
            of_keys = transposed + s.columns * s.outputs * step(s.width);
            paired = s.width == lanes && s.outputs % panel_width == 0;
            at_once = !paired && c.e[unique_extent::lazy] && !c.e[unique_extent::list_rows] && s.width % lanes == 0 &&
                *k.head_count == k.column[s.columns];
            head_of = c.e[unique_extent::lazy] ? nullptr :
                reinterpret_cast<std::int32_t*>(of_keys + c.m * s.columns * step(s.width));
        }
    };
    static std::int32_t* list_of(const call& c) {
        return reinterpret_cast<std::int32_t*>(c.p[unique_table_operand::list_keys]);
    }
    static constexpr int height = registers >= 32 ? 8 : 6;   ///< how many keys are multiplied at once
    struct paired_tile {
        template <int MR>
        static SINTER_INLINE void run(float* to, const float* d, const float* b, std::int64_t depth, std::int64_t,
                                      std::int64_t) {
            const float* row[std::size_t{MR}];
            unroll<MR>([&](int i) SINTER_ALWAYS { row[i] = d + i * depth; });
            multiply_paired_tile<MR>(to, row, b, depth);
        }
    };
    template <int NR>
    struct tile {
        template <int MR>
        static SINTER_INLINE void run(float* to, const float* d, const float* b, std::int64_t depth, std::int64_t step,
                                      std::int64_t to_step) {
            vf sum[std::size_t{MR * NR}];
            clear_block(sum);
            accumulate<MR, NR>(sum, d, depth, 1, b, step, depth);
            store_block<NR>(sum, to, to_step);
        }
    };
    /// of_keys[i][j ..] = the gradients of the keys [first, last) times b.
    template <class Tile>
    __attribute__((noinline)) static void multiply_keys(std::int64_t first, std::int64_t last, std::int64_t j,
                                                        const float* b, const places& p, const call& c) {
        const std::int64_t n = p.s.outputs, step = unique_table::step(p.s.width);
        const float* const sums = c.p[unique_table_operand::sums];
        const auto some = [&](auto rows, std::int64_t key) SINTER_ALWAYS {
            Tile::template run<decltype(rows)::value>(p.of_keys + key * step + j, sums + key * n, b, n, step, step);
        };
        if (last - first < height) {
            for (; first < last; ++first) some(std::integral_constant<int, 1>{}, first);
            return;
        }
        for (; last - first >= height; first += height) some(std::integral_constant<int, height>{}, first);
        if (first < last) some(std::integral_constant<int, height>{}, last - height);
    }
    /// The same where each key's row is its own: the body is given the products a tile at a time,
    /// and its lines are prefetched before that.
    template <int NR>
    __attribute__((noinline)) static void update_keys(std::int64_t first, std::int64_t last, std::int64_t j,
                                                      const float* b, const places& p, const call& by) {
        alignas(64) float products[std::size_t{height * NR * lanes}];
        const call c = by;
        const std::int64_t n = p.s.outputs, width = p.s.width, step = unique_table::step(width);
        const float* const sums = c.p[unique_table_operand::sums];
        const std::int32_t* const rows = p.k.row;
        const auto some = [&](auto count, std::int64_t key, std::int64_t from) SINTER_ALWAYS {
            constexpr int MR = decltype(count)::value;
            unroll<MR>([&](int i) SINTER_ALWAYS {
                if constexpr (requires { Body::prefetch(0, 0, 0, 0, c); })
                    Body::prefetch(1, NR * lanes, rows[key + i] * width + j, 0, c);
            });
            tile<NR>::template run<MR>(products, sums + key * n, b, n, step, NR * lanes);
            for (std::int64_t i = from - key; i < MR; ++i)
                unroll<NR>([&](int v) SINTER_ALWAYS {
                    const std::int64_t at = rows[key + i], col = j + v * lanes;
                    Body::vector(load(products + (i * NR + v) * lanes), at * width + col, at, static_cast<int>(col), c);
                });
        };
        if (last - first < height) {
            for (; first < last; ++first) some(std::integral_constant<int, 1>{}, first, first);
            return;
        }
        for (; last - first >= height; first += height) some(std::integral_constant<int, height>{}, first, first);
        if (first < last) some(std::integral_constant<int, height>{}, last - height, first);
    }
    /// Rows [begin, end) of the table, or of those that occur. `One`: a row is one vector.
    template <bool One>
    static void sum_rows(std::int64_t begin, std::int64_t end, const places& p, const call& c) {
        const std::int64_t width = One ? lanes : p.s.width, step = One ? lanes : unique_table::step(width);
        const std::int32_t *const heads = p.k.heads, *const rows = p.k.row, *const next = p.k.next,
                                  *const head_of = p.head_of;
        const float* const of_keys = p.of_keys;
        std::int32_t* const keys =
            c.e[unique_extent::list_rows] ? list_of(c) + list_header : nullptr;
        const std::int64_t count = *p.k.head_count;
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t head = head_of ? head_of[i] : keys && i >= count ? -1 : heads[i];
            if (keys && head >= 0) keys[i] = rows[head];
            const std::int64_t row = head_of || keys ? i : rows[head];
            for (std::int64_t j = 0; j < width; j += lanes) {
                vf sum = head < 0 ? zero() : load(of_keys + head * step + j);
                for (std::int64_t k = head < 0 ? head : next[head]; k >= 0; k = next[k])
                    sum += load(of_keys + k * step + j);
                if (One || width - j >= lanes) Body::vector(sum, row * width + j, row, static_cast<int>(j), c);
                else Body::vector(sum, static_cast<int>(width - j), row * width + j, row, static_cast<int>(j), c);
            }
        }
    }
};

template <class Body, int... X>
struct nest<op::unique_table, Body, X...> { using type = unique_table<Body>; };

} // namespace sinter::cpu
