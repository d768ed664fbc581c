// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/copy/copy_rows.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/gather.hpp>
#include <cstring>

/// Slices of a whole at indices along an axis, and their sums back at these places. Indices are
/// known to be places of the axis.
namespace sinter::inline SINTER_TARGET::cpu {

/// A line: what has the same place before the axis; element [i, j] of one takes or gives [index, j]
/// of the whole's.
struct indexed_lines {
    std::int64_t outer, n, inner, count, step, inner_step;
    indexed_lines(const call& c, int which)
        : outer(c.e[gather_extent::outer]), n(c.e[gather_extent::n]), inner(c.e[gather_extent::inner]),
          count(c.e[gather_extent::count]), step(c.e[gather_extent::step]), inner_step(c.e[gather_extent::inner_step]),
          indices_(reinterpret_cast<const std::int32_t*>(c.p[which])), e_(c.e) {}
    const std::int32_t* indices(std::int64_t line) const {
        return indices_ + line / outer * e_[gather_extent::indices_example] +
               line % outer * e_[gather_extent::outer_step];
    }

private:
    const std::int32_t* indices_;
    const std::int64_t* e_;
};

struct gather_axis {
    static void run(const call& c) {
        const indexed_lines g(c, gather_operand::indices);
        const std::int64_t rows = c.m * g.outer * g.count, end = share(rows, c.part + 1, c.parts);
        for (std::int64_t r = share(rows, c.part, c.parts); r < end;) {
            const std::int64_t line = r / g.count, first = r % g.count, left = end - r;
            const std::int64_t last = left < g.count - first ? first + left : g.count;
            const float* const whole = c.p[gather_operand::whole] + line / g.outer * c.e[gather_extent::whole_example] +
                                       line % g.outer * g.n * g.inner;
            pick(g, whole, g.indices(line), c.p[gather_operand::slices] + line * g.count * g.inner, first, last);
            r += last - first;
        }
    }

private:
    static void pick(const indexed_lines& g, const float* whole, const std::int32_t* index, float* to, std::int64_t i,
                     std::int64_t end) {
        if (g.inner == 1) {
            for (; i < end; ++i) to[i] = whole[index[i * g.step]];
        } else if (g.inner_step == 0) {
            for (; i < end; ++i) copy_rows(whole + index[i * g.step] * g.inner, 0, to + i * g.inner, 0, g.inner, 1);
        } else {
            for (; i < end; ++i)
                for (std::int64_t j = 0; j < g.inner; ++j)
                    to[i * g.inner + j] = whole[index[i * g.step + j * g.inner_step] * g.inner + j];
        }
    }
};
/// In blocks of columns, each of which one part does from the first slice to the last.
struct scatter_axis {
    static constexpr std::int64_t block = 64;
    static void run(const call& c) {
        const indexed_lines g(c, scatter_add_operand::indices);
        const std::int64_t blocks = (g.inner + block - 1) / block, units = c.m * g.outer * blocks;
        const std::int64_t end = share(units, c.part + 1, c.parts);
        for (std::int64_t u = share(units, c.part, c.parts); u < end; ++u) {
            const std::int64_t line = u / blocks, j = u % blocks * block,
                               width = g.inner - j < block ? g.inner - j : block;
            float* const to = c.p[scatter_add_operand::whole] + line * g.n * g.inner + j;
            if (width == g.inner) std::memset(to, 0, 4 * static_cast<std::size_t>(g.n * g.inner));
            else
                for (std::int64_t i = 0; i < g.n; ++i)
                    std::memset(to + i * g.inner, 0, 4 * static_cast<std::size_t>(width));
            add(g, c.p[scatter_add_operand::slices] + line * g.count * g.inner + j, g.indices(line) + j * g.inner_step,
                to, width);
        }
    }

private:
    static void add(const indexed_lines& g, const float* from, const std::int32_t* index, float* to,
                    std::int64_t width) {
        if (g.inner == 1) {
            for (std::int64_t i = 0; i < g.count; ++i) to[index[i * g.step]] += from[i];
            return;
        }
        for (std::int64_t i = 0; i < g.count; ++i, from += g.inner, index += g.step) {
            if (g.inner_step == 0) {
                add_rows(from, 0, to + *index * g.inner, 0, width, 1);
            } else {
                for (std::int64_t j = 0; j < width; ++j) to[index[j * g.inner_step] * g.inner + j] += from[j];
            }
        }
    }
};

template <class Body, int... X>
struct nest<op::gather, Body, X...> { using type = gather_axis; };
template <class Body, int... X>
struct nest<op::scatter_add, Body, X...> { using type = scatter_axis; };

} // namespace sinter::cpu
