// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/interleave.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/rowwise/row_lanes.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// c.m rows of so few columns that a vector along a row would leave most of its lanes idle (a loss
/// of two classes): here the lanes are rows, read where they lie, and all columns are written out.
template <class Body, int Columns>
struct narrow_walk {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        const std::int64_t end = share(c.m, c.part + 1, c.parts);
        std::int64_t row = share(c.m, c.part, c.parts);
        columns_in_registers all;
        for (vf& sum : all.sums) sum = zero();
        for (; row + lanes <= end; row += lanes) lanes_of::template run<true>(all, {row, lanes}, c);
        if (row < end) lanes_of::template run<false>(all, {row, static_cast<int>(end - row)}, c);
        lanes_of::end(all, c);
    }

private:
    /// Does a later instruction of this store's phase read what it stores?
    static constexpr bool is_read_in_its_phase(int store) {
        for (int i = store + 1; i < Body::size; ++i)
            if (Body::code[i].is(opcode::load) && Body::code[i].phase == Body::code[store].phase &&
                Body::code[i].arg == Body::code[store].arg)
                return true;
        return false;
    }
    struct columns_in_registers {
        vf buffers[Body::buffers * Columns + 1], sums[Body::sums * Columns + 1], results[Body::size * Columns + 1];

        static constexpr int count() { return Columns; }
        template <class F>
        static SINTER_INLINE void each(F f) { unroll<Columns>(f); }
        SINTER_INLINE void keep(int k, int j, vf v) { buffers[k * Columns + j] = v; }
        SINTER_INLINE vf kept(int k, int j) const { return buffers[k * Columns + j]; }
        SINTER_INLINE void add(int k, int j, vf v) { sums[k * Columns + j] += v; }
        SINTER_INLINE vf sum(int k, int j) const { return sums[k * Columns + j]; }
        template <int I, bool Full, int J>
        static SINTER_INLINE vf read(std::integral_constant<int, J>, const some_rows& at, const call& c) {
            const float* const p = c.p[Body::code[I].arg] + at.first * Columns;
            if constexpr (Columns == 1) return Body::template read<Full>(p, at.n);
            else if constexpr (Full) return load_column<Columns, J>(p);
            else {   // through memory: g++ 12 crashes where it finds lanes set one by one (its pass slp, with 512 bits)
                float rows[std::size_t{Columns * lanes}] = {};
                for (int i = 0; i < at.n * Columns; ++i) rows[i] = p[i];
                return load_column<Columns, J>(rows);
            }
        }
        /// Whole rows are stored with their last column, unless an instruction in between reads
        /// them.
        template <int I, bool Full, int J>
        SINTER_INLINE void write(vf v, std::integral_constant<int, J>, const some_rows& at, const call& c) {
            float* const p = c.p[Body::code[I].arg] + at.first * Columns;
            if constexpr (Columns == 1) Body::template write<Full>(p, v, at.n);
            else if constexpr (Full && !is_read_in_its_phase(I)) {
                results[I * Columns + J] = v;
                if constexpr (J == Columns - 1) store_columns<Columns>(p, results + I * Columns);
            } else
                for (int i = 0; i < (Full ? lanes : at.n); ++i) p[i * Columns + J] = v[i];
        }
    };
    using lanes_of = row_lanes<Body, columns_in_registers>;
};

} // namespace sinter::cpu
