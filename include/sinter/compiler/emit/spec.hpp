// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sum.hpp>
#include <sinter/compiler/plan/memory.hpp>
#include <sinter/compiler/emit/instruction.hpp>

namespace sinter::inline SINTER_TARGET::compiler {

/// Which loop nest a kernel is; root ops stand for themselves.
namespace walk {
inline constexpr op_id flat = op::none;       ///< elements in memory order
inline constexpr op_id rows = op::row_sum;    ///< rows and columns, in phases
} // namespace walk

/// Rows of at most so many columns leave most lanes of a vector along them idle: kernels for
/// processors go across them, and know how many there are when they are compiled.
inline constexpr int narrow_columns = 3;

/// What must be instantiated. Equal specs are one kernel. Only what pays is here: everything else
/// is in the launch.
struct spec {
    op_id kind = op::none;
    int extents[kernel_extents::most_fixed] =
        {};   ///< compile-time extents of convolutions, pools and narrow walks; empty for all others
    int code = 0, instructions = 0;
    unsigned hash = 0;
};

/// What must be run: a spec with its extents, operands and constants.
struct launch {
    int spec = 0;
    std::int64_t m = 0;       ///< rows (or elements, images, matrices): of one example if `batched`, else in all
    bool batched = false;
    int parts = 1;
    int brief_to =
        0;   ///< of so many examples it takes a few microseconds at most: less than waiting for other threads, perhaps
    int every = 1;            ///< 1: it runs in each step; 3: in every third one
    bool is_producer = false;       ///< the next launch's kernel runs it, some rows at a time
    bool skips_last = false;  ///< does not run in its loop's last iteration
    op_role role = op_role::none;   ///< of its root op
    bool loss = false;        ///< makes the loss
    bool updates = false;     ///< writes parameters, slots or, at the step's end, states
    int first_arg = 0, args = 0, first_extent = 0, first_constant = 0;
    int root = -1, group = -1, scope = 0;   ///< for describe(): the node it was made from
    int list = -1;      ///< goes over the rows of this list of gradients, however many there are when it runs
    /// Of an update, or of sums before it: the gradient that it is for. See gradient_range.
    address gradient;
    std::uint32_t by_element = 0;   ///< the operands of a sweep that has an element for each of the gradient's, as bits
};

/// A stretch of launches that runs in iterations, and where it looks how many.
struct loop_launches {
    int first = 0, end = 0;            ///< launches
    int steps = 0;                     ///< iterations at most
    bool backwards = false;
    address count, condition, trips;   ///< scalars in memory, or nowhere (see loop)
    int first_buffer = 0, buffers = 0; ///< what must be put right where fewer iterations are made than could be
};
/// `carry`: its first or last value lies where `steps` iterations would have had it, and is moved;
/// else the slices of iterations that were not made become zero.
struct loop_buffer {
    address at;
    bool carry = false;
};

} // namespace sinter::compiler
