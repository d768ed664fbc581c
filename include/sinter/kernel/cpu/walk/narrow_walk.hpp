// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/walk/body.hpp>

namespace sinter::cpu {

/// c.m rows of so few columns that a vector along a row would leave most of its lanes idle (a loss of two classes): here the
/// lanes are rows, and the columns come one after the other. A row's sums add its columns in their order.
template <class Body, int Columns>
struct narrow_walk {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        const std::int64_t end = share(c.m, c.part + 1, c.parts);
        std::int64_t row = share(c.m, c.part, c.parts);
        registers r;
        for (vf& sum : r.column_sums) sum = zero();
        for (; row + lanes <= end; row += lanes) phases<true>(r, {row, lanes}, c, all_phases{});
        if (row < end) phases<false>(r, {row, static_cast<int>(end - row)}, c, all_phases{});
        for (int k = 0; k < Body::sums; ++k)
            for (int j = 0; j < Columns; ++j) Body::partial_sum(k, c.part, c)[j] += sum_lanes(r.column_sums[k * Columns + j]);
    }

private:
    using all_phases = std::make_integer_sequence<int, Body::phases + 2>;
    struct some_rows {
        std::int64_t first;
        int n;
    };
    struct registers {
        vf of_rows[Body::size + 1], of_column[Body::size + 1];
        vf kept[Body::buffers * Columns + 1];   ///< what a row buffer would hold
        vf column_sums[Body::sums * Columns + 1];
    };

    template <bool Full, int... Phase>
    static SINTER_INLINE void phases(registers& r, const some_rows& at, const call& c, std::integer_sequence<int, Phase...>) {
        (pass<Phase, Full>(r, at, c), ...);
    }
    /// As row_walk's: a phase's words of one value a row, then the columns.
    template <int Phase, bool Full>
    static SINTER_INLINE void pass(registers& r, const some_rows& at, const call& c) {
        words<Phase, true, 0, Full>(r, at, c, typename Body::all{});
        if constexpr (Phase < Body::phases) {
            Body::template begin_reductions<Phase>(r.of_rows);
            unroll<Columns>([&](auto j) SINTER_ALWAYS { words<Phase, false, j, Full>(r, at, c, typename Body::all{}); });
        }
    }
    template <int Phase, bool Row, int Column, bool Full, int... I>
    static SINTER_INLINE void words(registers& r, const some_rows& at, const call& c, std::integer_sequence<int, I...>) {
        (step_if<I, (Body::code[I].phase == Phase && static_cast<bool>(Body::code[I].row) == Row), Column, Full>(r, at, c), ...);
    }
    template <int I, bool Run, int Column, bool Full>
    static SINTER_INLINE void step_if(registers& r, const some_rows& at, const call& c) {
        if constexpr (Run) step<I, Column, Full>(r, at, c);
    }

    template <int I, int Column, bool Full>
    static SINTER_INLINE void step(registers& r, const some_rows& at, const call& c) {
        constexpr word w = Body::code[I];
        vf& to = (Body::per_row(I) ? r.of_rows : r.of_column)[I];
        if constexpr (w.is(instruction::load)) to = load_word<I, Column, Full>(at, c);
        else if constexpr (w.is(instruction::literal)) to = splat(c.k[w.arg]);
        else if constexpr (w.is(instruction::store))
            write<(w.row ? 1 : Columns), Full>(c.p[w.arg] + column_of<I, Column>(), get<w.a>(r), at);
        else if constexpr (w.is(instruction::column_sum))
            r.column_sums[w.b * Columns + (w.row ? 0 : Column)] += counted<Full>(get<w.a>(r), at.n);
        else if constexpr (w.is(instruction::row_sum)) to += get<w.a>(r);
        else if constexpr (w.is(instruction::row_max)) to = max_or_nan(to, get<w.a>(r));
        else if constexpr (w.is(instruction::spill)) r.kept[w.b * Columns + Column] = get<w.a>(r);
        else if constexpr (w.is(instruction::reload)) to = r.kept[w.b * Columns + Column];
        else if constexpr (w.is(op::column_index)) to = splat(static_cast<float>(Column));
        else if constexpr (w.is(op::random_uniform))
            to = Body::uniform(w.arg, index_of<(w.row ? 1 : Columns)>(at.first) + splat(std::int32_t{column_of<I, Column>()}), c);
        else to = Body::template elementwise<I>(r.of_rows, r.of_column, {at.first, at.first, 0, lanes}, c);
    }
    template <int I>
    static SINTER_INLINE vf get(const registers& r) { return Body::template get<I>(r.of_rows, r.of_column); }
    template <int I, int Column>
    static constexpr int column_of() { return Body::code[I].row ? 0 : Column; }
    template <int Step>
    static SINTER_INLINE vi index_of(std::int64_t first) {
        return Body::lane_numbers() * splat(std::int32_t{Step}) + splat(static_cast<std::int32_t>(first * Step));
    }
    template <bool Full>
    static SINTER_INLINE vf counted(vf v, int n) {
        if constexpr (Full) return v;
        else return select(Body::lane_numbers() < splat(static_cast<std::int32_t>(n)), v, zero());
    }

    template <int I, int Column, bool Full>
    static SINTER_INLINE vf load_word(const some_rows& at, const call& c) {
        constexpr word w = Body::code[I];
        constexpr int step = w.columns() ? Columns : 1;
        const float* p = c.p[w.arg] + (w.columns() ? Column : 0);
        vf v;
        if constexpr (w.rows() == row_map::none) v = (vf)splat(*reinterpret_cast<const std::int32_t*>(p));   // or a whole number
        else if constexpr (w.rows() == row_map::same) v = read<step, Full>(p, at);
        else {
            const std::int64_t q = c.e[extent::first_q + w.b];
            v = zero();
            for (int i = 0; i < at.n; ++i) v[i] = p[(w.rows() == row_map::divided ? (at.first + i) / q : (at.first + i) % q) * step];
        }
        if constexpr (w.whole()) return __builtin_convertvector((vi)v, vf);
        else return v;
    }
    /// One number of each row, rows `Step` floats apart.
    template <int Step, bool Full>
    static SINTER_INLINE vf read(const float* p, const some_rows& at) {
        p += at.first * Step;
        if constexpr (Step == 1 && Full) return load(p);
        else if constexpr (Step == 1) return load(p, at.n);
        else {
            vf v = zero();
            for (int i = 0; i < (Full ? lanes : at.n); ++i) v[i] = p[i * Step];
            return v;
        }
    }
    template <int Step, bool Full>
    static SINTER_INLINE void write(float* p, vf v, const some_rows& at) {
        p += at.first * Step;
        if constexpr (Step == 1 && Full) store(p, v);
        else if constexpr (Step == 1) store(p, v, at.n);
        else
            for (int i = 0; i < (Full ? lanes : at.n); ++i) p[i * Step] = v[i];
    }
};

} // namespace sinter::cpu
