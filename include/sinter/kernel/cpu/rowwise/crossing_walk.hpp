// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/pick_lanes.hpp>
#include <sinter/kernel/cpu/rowwise/body.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// c.m rows of fewer columns than a vector has lanes, each element on its own: vectors cross from
/// one row into the next, as if there were none, and what there is once a row, or once a column, is
/// picked into its lanes. Row by row most lanes would be idle, and a vector would wait for the one
/// before it, of which it reads what that one's store left out.
template <class Body>
struct crossing_walk {
    static constexpr bool takes(std::int64_t columns) { return suits && columns < lanes; }

    static void run(const call& c) {
        const std::int64_t all = c.m * c.e[extent::columns], blocks = (all + 15) / 16,
                           end = share(blocks, c.part + 1, c.parts) * 16;
        elements(share(blocks, c.part, c.parts) * 16, end < all ? end : all, c);
    }
    static void rows(std::int64_t first, std::int64_t end, const call& c) {
        elements(first * c.e[extent::columns], end * c.e[extent::columns], c);
    }

private:
    static constexpr bool is_suited(int i) {
        const instruction w = Body::code[i];
        if (w.is(opcode::load)) return w.rows() == row_map::none || w.rows() == row_map::same;
        if (w.is(opcode::store)) return !w.row;
        return !Body::is_reduction(i) && !w.is(opcode::column_sum) && !w.is(opcode::spill) && !w.is(opcode::reload) &&
               !w.is(op::random_uniform);
    }
    static constexpr bool suits = [] {
        for (int i = 0; i < Body::size; ++i)
            if (!is_suited(i)) return false;
        return picks_lanes && Body::phases <= 1;
    }();

    /// Where a vector of the walk lies.
    struct place {
        std::int64_t off, row;   ///< of its first element
        int n, rows;             ///< lanes that count; rows there are from that one on, or a vector's lanes
        vi row_of, column_of;    ///< of each lane: rows behind the first one's; column
    };

    static void elements(std::int64_t at, std::int64_t stop, const call& c) {
        const auto columns = static_cast<int>(c.e[extent::columns]);
        const int rows_of_vector = lanes / columns, rest = lanes % columns;
        const vf share_of_column = splat(1.f / static_cast<float>(columns));
        std::int64_t row = at / columns;
        auto column = static_cast<int>(at - row * columns);   // of the first element
        for (; at < stop; at += lanes) {
            const vi from_row = lane_numbers() + splat(static_cast<std::int32_t>(column));
            place p{at, row, lanes, static_cast<int>(c.m - row < lanes ? c.m - row : lanes), {}, {}};
            p.row_of =
                __builtin_convertvector((__builtin_convertvector(from_row, vf) + splat(0.5f)) * share_of_column, vi);
            p.column_of = from_row - p.row_of * splat(static_cast<std::int32_t>(columns));
            if (at + lanes <= stop) {
                run_instructions<true>(p, c, typename Body::all{});
            } else {
                p.n = static_cast<int>(stop - at);
                run_instructions<false>(p, c, typename Body::all{});
            }
            row += rows_of_vector;
            column += rest;
            if (column >= columns) column -= columns, ++row;
        }
    }
    template <bool Full, int... I>
    static SINTER_INLINE void run_instructions(const place& at, const call& c, std::integer_sequence<int, I...>) {
        vf r[Body::size + 1];
        (step<I, Full>(r, at, c), ...);
    }
    template <int I, bool Full>
    static SINTER_INLINE void step(vf* r, const place& at, const call& c) {
        constexpr instruction w = Body::code[I];
        if constexpr (w.is(opcode::load)) r[I] = load_instruction<I, Full>(at, c);
        else if constexpr (w.is(opcode::literal)) r[I] = splat(c.k[w.arg]);
        else if constexpr (w.is(opcode::store))
            Body::template write<Full, w.is_non_temporal()>(c.p[w.arg] + at.off, r[w.a], at.n);
        else if constexpr (w.is(op::column_index)) r[I] = __builtin_convertvector(at.column_of, vf);
        else r[I] = Body::template elementwise<I>(r, r, {at.off, at.row, 0, lanes}, c);
    }
    template <int I, bool Full>
    static SINTER_INLINE vf load_instruction(const place& at, const call& c) {
        constexpr instruction w = Body::code[I];
        const float* const p = c.p[w.arg];
        vf v;
        if constexpr (w.rows() == row_map::same && w.columns()) v = Body::template read<Full>(p + at.off, at.n);
        else if constexpr (w.rows() == row_map::same) v = pick_lanes(load(p + at.row, at.rows), at.row_of);
        else if constexpr (w.columns()) v = pick_lanes(load(p, static_cast<int>(c.e[extent::columns])), at.column_of);
        else v = (vf)splat(*reinterpret_cast<const std::int32_t*>(p));
        if constexpr (w.whole()) return __builtin_convertvector((vi)v, vf);
        else return v;
    }
};

} // namespace sinter::cpu
