// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/walk/row_lanes.hpp>

namespace sinter::cpu {

/// c.m rows of so few columns that a vector along a row would leave most of its lanes idle (a loss of two classes): here the
/// lanes are rows, read where they lie, and all columns are written out.
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
    struct columns_in_registers {
        vf buffers[Body::buffers * Columns + 1], sums[Body::sums * Columns + 1];

        static constexpr int count() { return Columns; }
        template <class F>
        static SINTER_INLINE void each(F f) { unroll<Columns>(f); }
        SINTER_INLINE void keep(int k, int j, vf v) { buffers[k * Columns + j] = v; }
        SINTER_INLINE vf kept(int k, int j) const { return buffers[k * Columns + j]; }
        SINTER_INLINE void add(int k, int j, vf v) { sums[k * Columns + j] += v; }
        SINTER_INLINE vf sum(int k, int j) const { return sums[k * Columns + j]; }
        template <int I, bool Full>
        static SINTER_INLINE vf read(int j, const some_rows& at, const call& c) {
            const float* const p = c.p[Body::code[I].arg] + at.first * Columns + j;
            if constexpr (Columns == 1) return Body::template read<Full>(p, at.n);
            else {
                vf v = zero();
                for (int i = 0; i < (Full ? lanes : at.n); ++i) v[i] = p[i * Columns];
                return v;
            }
        }
        template <int I, bool Full>
        static SINTER_INLINE void write(vf v, int j, const some_rows& at, const call& c) {
            float* const p = c.p[Body::code[I].arg] + at.first * Columns + j;
            if constexpr (Columns == 1) Body::template write<Full>(p, v, at.n);
            else
                for (int i = 0; i < (Full ? lanes : at.n); ++i) p[i * Columns] = v[i];
        }
    };
    using lanes_of = row_lanes<Body, columns_in_registers>;
};

} // namespace sinter::cpu
