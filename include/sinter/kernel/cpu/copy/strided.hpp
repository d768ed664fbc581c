// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/copy/copy_planes.hpp>
#include <sinter/kernel/cpu/copy/copy_rows.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/permute.hpp>
#include <sinter/ops/slice.hpp>

/// Copies between a tensor in its own order and even steps in another: e as set_steps leaves it.
namespace sinter::inline SINTER_TARGET::cpu {

/// Two of the five axes make planes: the last one, and one before it that suits it. Walks over
/// places along the other three, and over examples that lie e[strided::example] apart.
class plane_steps {
public:
    explicit plane_steps(const std::int64_t* e) : example_(e[strided::example]), offset_(e[strided::offset]) {
        static_assert(max_rank == 5);
        const std::int64_t *const d = e + strided::extents, *const step = e + strided::steps, last = step[4];
        std::int64_t in_order[max_rank];
        for (std::int64_t i = max_rank - 1, size = 1; i >= 0; --i) in_order[i] = size, size *= d[i], size_ = size;
        int of = d[2] > d[3] ? 2 : 3;   // the longer one: there is less around its rows
        if (last != 1 && last != -1 && last != 0)
            for (int i = 0; i < 4; ++i)
                if (step[i] == 1 && d[i] > 1) of = i;
        side = {d[of], step[of], in_order[of]};
        row = {d[4], last, 1};
        for (int i = 0, k = 0; i < 4; ++i)
            if (i != of) around_[k++] = {d[i], step[i], in_order[i]};
    }
    /// Pieces of planes, of which one example has so many.
    static constexpr std::int64_t rows_of_piece = 64;
    std::int64_t pieces() const { return around_[0].n * around_[1].n * around_[2].n * pieces_of_plane(); }

    /// Calls f(where a piece begins by steps, where in order, its rows) for the pieces [first,
    /// end), counted over examples.
    template <class F>
    void each_piece(std::int64_t first, std::int64_t end, F f) const {
        const std::int64_t of_plane = pieces_of_plane();
        std::int64_t piece = first % of_plane, rest = first / of_plane, at = offset_, in_order = 0, place[3];
        for (int i = 2; i >= 0; --i) {
            place[i] = rest % around_[i].n;
            at += place[i] * around_[i].step;
            in_order += place[i] * around_[i].in_order;
            rest /= around_[i].n;
        }
        at += rest * example_;
        in_order += rest * size_;
        for (; first < end; ++first) {
            const std::int64_t begin = piece * rows_of_piece, left = side.n - begin;
            f(at + begin * side.step, in_order + begin * side.in_order, left < rows_of_piece ? left : rows_of_piece);
            if (++piece < of_plane) continue;
            piece = 0;
            int i = 2;
            for (; i >= 0; --i) {
                at += around_[i].step;
                in_order += around_[i].in_order;
                if (++place[i] < around_[i].n) break;
                place[i] = 0;
                at -= around_[i].n * around_[i].step;
                in_order -= around_[i].n * around_[i].in_order;
            }
            if (i < 0) at += example_, in_order += size_;
        }
    }
    std::int64_t size() const { return size_; }   ///< of an example in order

    plane_axis side, row;

private:
    std::int64_t pieces_of_plane() const { return (side.n + rows_of_piece - 1) / rows_of_piece; }
    plane_axis around_[3];
    std::int64_t example_, offset_, size_;
};

/// From steps to order; Insert: from order to steps, e[strided::fill] (its bits) elsewhere.
template <bool Insert>
struct strided_copy {
    static constexpr int phases = Insert ? 2 : 1;

    static void run(const call& c) {
        if constexpr (!Insert) copy(c);
        else if (plane_steps(c.e).size() != c.e[strided::example]) fill(c);
    }
    static void finish(const call& c) {
        if constexpr (Insert) copy(c);
    }

private:
    static void fill(const call& c) {
        const std::int64_t all = c.m * c.e[strided::example], first = share(all, c.part, c.parts);
        const auto bits = static_cast<std::int32_t>(c.e[strided::fill]);
        float fill;
        std::memcpy(&fill, &bits, 4);
        fill_floats(c.p[copy_operand::to] + first, fill, share(all, c.part + 1, c.parts) - first);
    }
    static void copy(const call& c) {
        const plane_steps planes(c.e);
        const std::int64_t all = planes.pieces() * c.m;
        const auto copy_piece = copy_plane_of<Insert>(planes.side, planes.row);
        planes.each_piece(share(all, c.part, c.parts), share(all, c.part + 1, c.parts),
                          [&](std::int64_t at, std::int64_t in_order, std::int64_t rows) {
            plane_axis side = planes.side;
            side.n = rows;
            if constexpr (Insert)
                copy_piece(c.p[copy_operand::from] + in_order, c.p[copy_operand::to] + at, side, planes.row);
            else copy_piece(c.p[copy_operand::from] + at, c.p[copy_operand::to] + in_order, side, planes.row);
        });
    }
};

template <class Body, int... X>
struct nest<op::permute, Body, X...> { using type = strided_copy<false>; };
template <class Body, int... X>
struct nest<op::expand, Body, X...> { using type = strided_copy<false>; };
template <class Body, int... X>
struct nest<op::slice, Body, X...> { using type = strided_copy<false>; };
template <class Body, int... X>
struct nest<op::insert, Body, X...> { using type = strided_copy<true>; };

} // namespace sinter::cpu
