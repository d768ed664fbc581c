// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/copy/copy_rows.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/kernel/pad_axes.hpp>
#include <sinter/ops/pad.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The last axis that has margins is gone along piece by piece, each of all that lies behind it;
/// the axes before make rows of pieces.
struct padded_rows {
    const std::int64_t* e;
    int axis = 4;
    std::int64_t piece = 1;   ///< floats
    explicit padded_rows(const std::int64_t* extents) : e(extents) {
        for (; axis > 0 && pad_axis(e, axis).out == pad_axis(e, axis).n; --axis) piece *= pad_axis(e, axis).n;
    }
    pad_axis along() const { return {e, axis}; }
    /// f(place with margins, places): what a row copies, its middle and then each place of its
    /// margins.
    template <class F>
    static void each_piece(const pad_axis& a, F f) {
        f(a.before, a.n);
        for (std::int64_t i = 0; i < a.before; ++i) f(i, 1);
        for (std::int64_t i = a.before + a.n; i < a.out; ++i) f(i, 1);
    }
    /// Of an example with margins, or without.
    std::int64_t rows(bool padded) const {
        std::int64_t rows = 1;
        for (int i = 0; i < axis; ++i) rows *= padded ? pad_axis(e, i).out : pad_axis(e, i).n;
        return rows;
    }
};

/// The operand with mirrored or repeated margins.
struct mirrored_pad {
    static void run(const call& c) {
        const padded_rows p(c.e);
        const pad_axis a = p.along();
        const std::int64_t rows = p.rows(true), from_rows = p.rows(false), end = share(rows * c.m, c.part + 1, c.parts);
        for (std::int64_t r = share(rows * c.m, c.part, c.parts); r < end; ++r) {
            const float* const from =
                c.p[copy_operand::from] + (r / rows * from_rows + pad_source(p.e, r % rows, p.axis)) * a.n * p.piece;
            float* const to = c.p[copy_operand::to] + r * a.out * p.piece;
            p.each_piece(a, [&](std::int64_t i, std::int64_t n) {
                copy_rows(from + a.from(i) * p.piece, 0, to + i * p.piece, 0, n * p.piece, 1);
            });
        }
    }
};
/// The other way round: sums.
struct mirrored_pad_gradient {
    static void run(const call& c) {
        const padded_rows p(c.e);
        const pad_axis a = p.along();
        const std::int64_t rows = p.rows(false), padded = p.rows(true), end = share(rows * c.m, c.part + 1, c.parts);
        for (std::int64_t r = share(rows * c.m, c.part, c.parts); r < end; ++r) {
            float* const to = c.p[copy_operand::to] + r * a.n * p.piece;
            std::memset(to, 0, 4 * static_cast<std::size_t>(a.n * p.piece));
            each_pad_copy(p.e, r % rows, p.axis, [&](std::int64_t row) {
                const float* const from = c.p[copy_operand::from] + (r / rows * padded + row) * a.out * p.piece;
                p.each_piece(a, [&](std::int64_t i, std::int64_t n) {
                    add_rows(from + i * p.piece, 0, to + a.from(i) * p.piece, 0, n * p.piece, 1);
                });
            });
        }
    }
};

template <class Body, int... X>
struct nest<op::pad, Body, X...> { using type = mirrored_pad; };
template <class Body, int... X>
struct nest<op::pad_gradient, Body, X...> { using type = mirrored_pad_gradient; };

} // namespace sinter::cpu
