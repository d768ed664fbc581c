// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/rowwise/crossing_walk.hpp>
#include <sinter/kernel/cpu/rowwise/narrow_walk.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/kernel/cpu/rowwise/transposed_walk.hpp>

/// Kernels that are nothing but a body: a walk over elements, or over rows in as many passes as the
/// body needs.
namespace sinter::inline SINTER_TARGET::cpu {

/// c.m elements in the order in which they lie in memory.
template <class Body>
struct flat_walk {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        const std::int64_t blocks = (c.m + 15) / 16, end = share(blocks, c.part + 1, c.parts) * 16;
        elements(share(blocks, c.part, c.parts) * 16, end < c.m ? end : c.m, c);
    }
    /// Rows [first, end) of those that the launch's extents tell of.
    static void rows(std::int64_t first, std::int64_t end, const call& c) {
        elements(first * c.e[extent::columns], end * c.e[extent::columns], c);
    }

private:
    static void elements(std::int64_t i, std::int64_t stop, const call& c) {
        vf per_row[Body::size + 1], r[Body::size + 1];
        Body::template run<0, true, true>(per_row, r, {0, 0, 0, lanes}, c);
        if constexpr (Body::draws) {
            vf s[Body::size + 1];
            for (; i + 2 * lanes <= stop; i += 2 * lanes)
                Body::template run_pair<0>(per_row, r, s, {i, 0, 0, lanes}, c);
        }
        for (; i + lanes <= stop; i += lanes) Body::template run<0, false, true>(per_row, r, {i, 0, 0, lanes}, c);
        if (i < stop) Body::template run<0, false, false>(per_row, r, {i, 0, 0, static_cast<int>(stop - i)}, c);
    }
};

/// A pass that makes sums in few operations, fewer than its loop has, takes four vectors an
/// iteration where registers are few: to rename four partial results after each would take as long
/// as the pass.
template <class Body, int Phase>
inline constexpr bool takes_four = registers<32 && Body::reductions_in(Phase)> 0 &&
                                   Body::template operations_in<Phase> <= 8 &&
                                   4 * Body::reductions_in(Phase) <= registers / 2;
/// Partial results of a row's reduction, which vectors join in iterations: no vector waits for the
/// one before. With few registers, two.
template <class Body, int Phase>
inline constexpr int partial_results = registers >= 32 || takes_four<Body, Phase> ? 4 : 2;

/// c.m rows of e[extent::columns] columns. Loops over whole vectors and what is left of a row are
/// compiled where `Cases` say that columns come to them (kernel_table.hpp).
template <class Body, int Cases = -1>
struct row_walk {
    static constexpr bool only_divides = true;
    static constexpr int whole = 1, rest = 2, transposed = 4, crossing = 8, long_rows = 16;
    /// Longer rows are reduced in stretches: a sum over all would soon be so large that what is added
    /// to it is rounded away. So a lane of a partial result has at most 4096 numbers.
    static constexpr std::int64_t most_at_once = std::int64_t{4096} * lanes * (registers >= 32 ? 4 : 2),
                                  stretch = most_at_once / 8;
    template <int C>
    using only = row_walk<Body, C>;
    static constexpr int cases(const std::int64_t* e, std::int64_t most_rows) {
        if (transposed_walk<Body>::takes(e[extent::columns], most_rows)) return transposed;
        if (crossing_walk<Body>::takes(e[extent::columns])) return crossing;
        return (e[extent::columns] >= lanes ? whole : 0) | (e[extent::columns] % lanes ? rest : 0) |
               (e[extent::columns] > most_at_once ? long_rows : 0);
    }
    /// Floats of scratch space.
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return transposes(e[extent::columns]) ? transposed_walk<Body>::scratch(e[extent::columns], parts) : 0;
    }
    static void run(const call& c) {
        if constexpr (may_cross)
            if (crosses(c)) return crossing_walk<Body>::run(c);
        const std::int64_t first = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts),
                           columns = c.e[extent::columns];
        if constexpr (may_transpose)
            if (Cases == transposed || transposes(columns)) return transposed_walk<Body>::rows(first, end, c);
        if constexpr (Body::sums > 0 && Body::columns_apart)
            if (columns <= 2 * lanes) return few_columns(first, end, static_cast<int>(columns), c);
        rows(first, end, c);
    }
    static void rows(std::int64_t first, std::int64_t end, const call& c) {
        if constexpr (may_cross)
            if (crosses(c)) return crossing_walk<Body>::rows(first, end, c);
        for (std::int64_t row = first; row < end; ++row) {
            vf per_row[Body::size + 1];
            phases(per_row, row, c.e[extent::columns], c, std::make_integer_sequence<int, Body::phases + 2>{});
        }
    }

private:
    static constexpr bool may_transpose = Cases > 0 && (Cases & transposed) != 0, may_cross = Cases > 0 &&
                                                                                              (Cases & crossing) != 0;
    static bool crosses(const call& c) { return Cases == crossing || crossing_walk<Body>::takes(c.e[extent::columns]); }
    static constexpr bool transposes(std::int64_t columns) {
        return may_transpose && transposed_walk<Body>::takes(columns, lanes);
    }
    /// Sums of so few columns that by way of memory they would wait for the row before.
    static SINTER_INLINE void few_columns(std::int64_t row, std::int64_t end, int columns, const call& c) {
        constexpr std::int64_t most = 1024;
        alignas(64) const float none[lanes] = {};
        for (; row < end; row += most) {
            const int rows = static_cast<int>(end - row < most ? end - row : most);
            int j = 0;
            if constexpr (Cases & whole)
                for (; j + lanes <= columns; j += lanes)
                    Body::template vectors<true>(none, 0, rows, lanes, row * columns + j, columns, row, j, c);
            if constexpr (Cases & rest)
                if (j < columns)
                    Body::template vectors<false>(none, 0, rows, columns - j, row * columns + j, columns, row, j, c);
        }
    }
    // A reduction may be over values that exist once a row, which the row's own pass must then see
    // as a single column.
    template <int... Phase>
    static SINTER_INLINE void phases(vf* per_row, std::int64_t row, std::int64_t columns, const call& c,
                                     std::integer_sequence<int, Phase...>) {
        (pass<Phase>(per_row, row, columns, c), ...);
    }
    template <int Phase>
    static SINTER_INLINE void pass(vf* per_row, std::int64_t row, std::int64_t columns, const call& c) {
        Body::template run<Phase, true, true>(per_row, per_row, {row, row, 0, lanes}, c);
        if constexpr (Phase < Body::phases) {
            Body::template begin_reductions<Phase>(per_row);
            constexpr int results = partial_results<Body, Phase>;
            vf others[std::size_t{results - 1}][Body::size + 1];
            unroll<results - 1>([&](int k) SINTER_ALWAYS { Body::template begin_reductions<Phase>(others[k]); });
            const std::int64_t at = row * columns;
            std::int64_t j = 0;
            constexpr bool in_stretches = (Cases & long_rows) != 0 && Body::reductions_in(Phase) > 0;
            [[maybe_unused]] vf before[Body::size + 1];   // of the stretches that are done
            if constexpr (in_stretches) Body::template begin_reductions<Phase>(before);
            if constexpr (Cases & whole) {
                const auto next = [&](auto) SINTER_ALWAYS {
                    vf r[Body::size + 1];
                    Body::template run<Phase, false, true>(per_row, r, {at + j, row, static_cast<int>(j), lanes}, c);
                    Body::template rotate_reductions<Phase>(per_row, others);
                    j += lanes;
                };
                if constexpr (Body::draws && Body::reductions_in(Phase) == 0)
                    for (; j + 2 * lanes <= columns; j += 2 * lanes) {
                        vf r[Body::size + 1], s[Body::size + 1];
                        Body::template run_pair<Phase>(per_row, r, s, {at + j, row, static_cast<int>(j), lanes}, c);
                    }
                if constexpr (in_stretches)
                    while (columns > most_at_once && columns - j > stretch) {
                        for (std::int64_t k = 0; k < stretch; k += lanes) next(0);
                        Body::template join_reductions<Phase>(per_row, others);
                        Body::template add_reductions<Phase>(before, per_row);
                        Body::template begin_reductions<Phase>(per_row);
                        unroll<results - 1>([&](int k)
                                                SINTER_ALWAYS { Body::template begin_reductions<Phase>(others[k]); });
                    }
                if constexpr (takes_four<Body, Phase>)
                    while (j + 4 * lanes <= columns) unroll<4>(next);
                while (j + lanes <= columns) next(0);
            }
            if constexpr (Cases & rest)
                if (j < columns) {
                    vf r[Body::size + 1];
                    const place last{at + j, row, static_cast<int>(j), static_cast<int>(columns - j)};
                    Body::template run<Phase, false, false>(per_row, r, last, c);
                }
            Body::template join_reductions<Phase>(per_row, others);
            if constexpr (in_stretches) Body::template add_reductions<Phase>(per_row, before);
            Body::template end_reductions<Phase>(per_row);
        }
    }
};

template <class Body, int... X>
struct nest<walk::flat, Body, X...> { using type = flat_walk<Body>; };
template <class Body, int Columns, int... X>   // Columns: where they are few (emit.hpp)
struct nest<walk::rows, Body, Columns, X...> { using type = narrow_walk<Body, Columns>; };
template <class Body, int... X>
struct nest<walk::rows, Body, 0, X...> { using type = row_walk<Body>; };

} // namespace sinter::cpu
