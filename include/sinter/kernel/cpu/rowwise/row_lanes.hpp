// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/rowwise/body.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// `n` rows from `first` on, each a lane.
struct some_rows {
    std::int64_t first;
    int n;
};

/// A body's instructions on vectors whose lanes are rows, one column after the other: no sum or
/// maximum of a row goes over lanes, and what there is once a row is there once for all of them. A
/// row's sums add its columns in their order. Columns says how many there are (each, count), where
/// an instruction finds them (read, write), and where stays what a later pass (keep, kept) or the
/// end wants (add, sum).
template <class Body, class Columns>
struct row_lanes {
    template <bool Full>
    static SINTER_INLINE void run(Columns& columns, const some_rows& at, const call& c) {
        vf of_rows[Body::size + 1];
        phases<Full>(of_rows, columns, at, c, std::make_integer_sequence<int, Body::phases + 2>{});
    }
    /// After a part's rows: their sums of columns are the part's.
    static SINTER_INLINE void end(const Columns& columns, const call& c) {
        Body::each_sum([&](instruction w) {
            for (int j = 0; j < (w.row ? 1 : columns.count()); ++j)
                Body::partial_sum(w.b, c.part, c)[j] += sum_lanes(columns.sum(w.b, j));
        });
    }

private:
    template <bool Full, int... Phase>
    static SINTER_INLINE void phases(vf* of_rows, Columns& columns, const some_rows& at, const call& c,
                                     std::integer_sequence<int, Phase...>) {
        (pass<Phase, Full>(of_rows, columns, at, c), ...);
    }
    /// As row_walk's: a phase's instructions of one value a row, then the columns.
    template <int Phase, bool Full>
    static SINTER_INLINE void pass(vf* of_rows, Columns& columns, const some_rows& at, const call& c) {
        instructions<Phase, true, Full>(of_rows, of_rows, columns, std::integral_constant<int, 0>{}, at, c,
                                        typename Body::all{});
        if constexpr (Phase < Body::phases) {
            Body::template begin_reductions<Phase>(of_rows);
            columns.each([&](auto j) SINTER_ALWAYS {
                vf of_column[Body::size + 1];
                instructions<Phase, false, Full>(of_rows, of_column, columns, j, at, c, typename Body::all{});
            });
        }
    }
    /// j: an int, or a constant where all columns are written out.
    template <int Phase, bool Row, bool Full, class J, int... I>
    static SINTER_INLINE void instructions(vf* of_rows, vf* of_column, Columns& columns, J j, const some_rows& at,
                                           const call& c, std::integer_sequence<int, I...>) {
        (step_if<I, Phase, Row, Full>(of_rows, of_column, columns, j, at, c), ...);
    }
    template <int I, int Phase, bool Row, bool Full, class J>
    static SINTER_INLINE void step_if(vf* of_rows, vf* of_column, Columns& columns, J j, const some_rows& at,
                                      const call& c) {
        constexpr instruction w = Body::code[I];
        if constexpr (w.phase == Phase && static_cast<bool>(w.row) == Row)
            step<I, Full>(of_rows, of_column, columns, j, at, c);
    }

    template <int I, bool Full, class J>
    static SINTER_INLINE void step(vf* of_rows, vf* of_column, Columns& columns, J j, const some_rows& at,
                                   const call& c) {
        constexpr instruction w = Body::code[I];
        vf& to = (Body::per_row(I) ? of_rows : of_column)[I];
        const auto a = [&]() SINTER_ALWAYS { return Body::template get<w.a>(of_rows, of_column); };
        if constexpr (w.is(opcode::load)) to = load_instruction<I, Full>(columns, j, at, c);
        else if constexpr (w.is(opcode::literal)) to = splat(c.k[w.arg]);
        else if constexpr (w.is(opcode::store) && w.row) Body::template write<Full>(c.p[w.arg] + at.first, a(), at.n);
        else if constexpr (w.is(opcode::store)) columns.template write<I, Full>(a(), j, at, c);
        else if constexpr (w.is(opcode::column_sum))
            columns.add(w.b, w.row ? 0 : j, Body::template only<Full>(a(), zero(), at.n));
        else if constexpr (w.is(opcode::row_sum)) to += a();
        else if constexpr (w.is(opcode::row_max)) to = max_or_nan(to, a());
        else if constexpr (w.is(opcode::spill)) columns.keep(w.b, j, a());
        else if constexpr (w.is(opcode::reload)) to = columns.kept(w.b, j);
        else if constexpr (w.is(op::column_index)) to = splat(static_cast<float>(j));
        else if constexpr (Body::is_drawn_by_row(I)) to = Body::uniform(w.arg, at.first, c);
        else if constexpr (Body::is_drawn(I))
            to = Body::uniform(w.arg, at.first * columns.count() + j, columns.count(), c);
        else to = Body::template elementwise<I>(of_rows, of_column, {at.first, at.first, 0, lanes}, c);
    }
    /// A number, or a whole one, in all lanes.
    static SINTER_INLINE vf same_bits(const float* p) { return (vf)splat(*reinterpret_cast<const std::int32_t*>(p)); }
    template <int I, bool Full, class J>
    static SINTER_INLINE vf load_instruction(Columns& columns, J j, const some_rows& at, const call& c) {
        constexpr instruction w = Body::code[I];
        const int step = w.columns() ? columns.count() : 1;
        const float* p = c.p[w.arg] + (w.columns() ? j : 0);
        vf v;
        if constexpr (w.rows() == row_map::none) v = same_bits(p);
        else if constexpr (w.rows() == row_map::same && w.columns()) v = columns.template read<I, Full>(j, at, c);
        else if constexpr (w.rows() == row_map::same) v = Body::template read<Full>(p + at.first, at.n);
        else {
            // One division for all rows, which takes as long as a vector's arithmetic.
            const std::int64_t q = c.e[extent::first_q + w.b];
            constexpr bool divided = w.rows() == row_map::divided;
            std::int64_t of = at.first / q, rest = at.first - of * q;
            if (divided && rest + at.n <= q) v = same_bits(p + of * step);
            else {
                float rows[lanes] = {};   // through memory, as narrow_walk's
                for (int i = 0; i < at.n; ++i) {
                    rows[i] = p[(divided ? of : rest) * step];
                    if (++rest == q) rest = 0, ++of;
                }
                v = load(rows);
            }
        }
        if constexpr (w.whole()) return __builtin_convertvector((vi)v, vf);
        else return v;
    }
};

} // namespace sinter::cpu
