// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/rowwise/row_lanes.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// c.m rows that are reduced and so short that sums over lanes take longer than what they sum (a
/// loss of ten classes): as many rows as a vector has lanes are transposed into scratch space and
/// gone over with a row in each lane; results are transposed back.
template <class Body>
struct transposed_walk {
    /// Does a walk of such rows go this way? Where a vector would be mostly empty, that is one of
    /// fewer rows, it does not.
    static constexpr bool takes(std::int64_t columns, std::int64_t rows) {
        return columns <= most_columns && rows >= lanes;
    }
    static constexpr std::int64_t scratch(std::int64_t columns, int parts) { return parts * of_part(columns); }

    static void rows(std::int64_t row, std::int64_t end, const call& c) {
        transposed_columns all{static_cast<int>(c.e[extent::columns]),
                               c.scratch + first_part(c) * of_part(c.e[extent::columns])};
        for (int i = 0; i < Body::sums * all.columns; ++i) store(all.vector(first_sum, i), zero());
        for (; row < end; row += lanes) {
            const some_rows at{row, static_cast<int>(end - row < lanes ? end - row : lanes)};
            all.bring(at, c);
            lanes_of::template run<false>(
                all, at, c);   // whole vectors of rows, too: code of their own would save a mask here and there
            all.take(at, c);
        }
        lanes_of::end(all, c);
    }

private:
    /// Transposing costs about what a sum over lanes does for a row of one vector. So it pays where
    /// there is more: a function once a row, or a maximum, which looks for NaN as well (bounds
    /// measured with 4, 8 and 16 lanes).
    static constexpr int most_columns = Body::row_operations >= 12         ? 6 * lanes
                                        : Body::count(opcode::row_max) > 0 ? 2 * lanes
                                                                           : 0;

    /// The arrays of which instructions read or write rows of the walk's own columns: each has a
    /// copy, in which an instruction finds what one before it has written, as it would in memory.
    struct array_list {
        int n = 0, arg[Body::size + 1] = {}, of[Body::size + 1] = {};   ///< of: an instruction's array
        bool read_first[Body::size + 1] = {}, written[Body::size + 1] = {};
    };
    static constexpr array_list arrays = [] {
        array_list l;
        const auto add = [&](int i) {
            const instruction w = Body::code[i];
            const bool loads = w.is(opcode::load) && w.columns() && w.rows() == row_map::same;
            if (!loads && !(w.is(opcode::store) && !w.row)) return;
            int k = 0;
            while (k < l.n && l.arg[k] != w.arg) ++k;
            if (k == l.n) l.arg[l.n++] = w.arg, l.read_first[k] = loads;
            l.written[k] = l.written[k] || !loads;
            l.of[i] = k;
        };
        for (int phase = 0; phase < Body::phases; ++phase)
            for (int i = 0; i < Body::size; ++i)
                if (Body::code[i].phase == phase) add(i);
        return l;
    }();
    static constexpr int first_buffer = arrays.n, first_sum = first_buffer + Body::buffers;
    static constexpr std::int64_t of_part(std::int64_t columns) { return (first_sum + Body::sums) * columns * lanes; }

    struct transposed_columns {
        int columns;
        float* workspace;

        int count() const { return columns; }
        template <class F>
        SINTER_INLINE void each(F f) const {
            for (int j = 0; j < columns; ++j) f(j);
        }
        SINTER_INLINE float* vector(int array, int j) const { return workspace + (array * columns + j) * lanes; }
        SINTER_INLINE void keep(int k, int j, vf v) const { store(vector(first_buffer + k, j), v); }
        SINTER_INLINE vf kept(int k, int j) const { return load(vector(first_buffer + k, j)); }
        SINTER_INLINE void add(int k, int j, vf v) const { store(vector(first_sum + k, j), sum(k, j) + v); }
        SINTER_INLINE vf sum(int k, int j) const { return load(vector(first_sum + k, j)); }
        template <int I, bool Full>
        SINTER_INLINE vf read(int j, const some_rows&, const call&) const { return load(vector(arrays.of[I], j)); }
        template <int I, bool Full>
        SINTER_INLINE void write(vf v, int j, const some_rows&, const call&) const {
            store(vector(arrays.of[I], j), v);
        }

        void bring(const some_rows& at, const call& c) const {
            for (int k = 0; k < arrays.n; ++k)
                if (arrays.read_first[k])
                    transpose_matrix(c.p[arrays.arg[k]] + at.first * columns, columns, at.n, columns, vector(k, 0),
                                     lanes, false);
        }
        void take(const some_rows& at, const call& c) const {
            for (int k = 0; k < arrays.n; ++k)
                if (arrays.written[k])
                    transpose_matrix(vector(k, 0), lanes, columns, at.n, c.p[arrays.arg[k]] + at.first * columns,
                                     columns, true);
        }
    };
    using lanes_of = row_lanes<Body, transposed_columns>;
};

} // namespace sinter::cpu
