// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/array.hpp>
#include <sinter/graph/graph.hpp>
#include <cstdint>

/// What an optimizer comes to, as code: the instructions that are put behind whatever produces a
/// gradient, or that a sweep over memory is made of.
namespace sinter::inline SINTER_TARGET::compiler {

/// Ports of an optimizer's code: 0 the parameter, 1 its gradient, 2.. the slots, and these.
inline constexpr int weight_operand = 99;       ///< what the gradients of a round count together
inline constexpr int norm_operand = 100;        ///< the sum of the squares of all gradients
inline constexpr int first_sum_operand =
    101;   ///< sums over one parameter's elements, a table's row for each parameter

struct update_code {
    view<const std::uint64_t> code;
    view<const float> constants;
    view<const int> operand;    ///< the port of each operand
    int slots = 0;              ///< that it reads or writes

    constexpr bool needs_norm() const {
        for (int i = 0; i < operand.n; ++i)
            if (operand[i] == norm_operand) return true;
        return false;
    }
};

/// Sums over a parameter's elements come before the update that reads them, and before sums that
/// read them.
inline constexpr int most_sum_levels = 3;

/// What an update must know beside what belongs to the float that it updates. Members that each
/// update a part of the weights must have reduced that much before.
enum class update_reach : std::uint8_t {
    own_gradient,    ///< nothing: any part can be updated by itself
    all_gradients,   ///< norms of gradients (clip_by_global_norm, clip_by_norm): a part, once all gradients are reduced
    whole_tensors    ///< norms of weights or of updates (lamb, max_norm): no part of a tensor by itself
};

/// What is done to the parameters of one group.
struct group_update {
    update_code last;   ///< writes the parameter and its slots
    update_code sums[most_sum_levels];
    int levels = 0;

    /// Are its sums of gradients, not of weights or of the update itself?
    constexpr bool sums_gradients_alone() const {
        for (int k = 0; k < levels; ++k)
            for (int i = 0; i < sums[k].operand.n; ++i)
                if (const int port = sums[k].operand[i]; port != 1 && port < weight_operand) return false;
        return true;
    }
};

struct update_set {
    view<const group_update> groups;
    update_code gather;   ///< where gradients are accumulated: what each step does with one
    int every = 1;        ///< steps from one update to the next
    int sums = 0;         ///< of one parameter
    int slots = 0;        ///< the last of them gathers, where gradients are accumulated

    constexpr const group_update& of(const variable& v) const { return groups[v.group < 0 ? 0 : v.group]; }
    /// What every step does with a parameter's gradient.
    constexpr const update_code& in_step(const variable& v) const { return every > 1 ? gather : of(v).last; }
    /// How much of the model one float's update must know.
    constexpr update_reach reach() const {
        update_reach most = needs_norm() ? update_reach::all_gradients : update_reach::own_gradient;
        for (int i = 0; i < groups.n; ++i) {
            if (!groups[i].sums_gradients_alone()) return update_reach::whole_tensors;
            if (groups[i].levels) most = update_reach::all_gradients;
        }
        return most;
    }
    constexpr bool needs_norm() const {
        for (int i = 0; i < groups.n; ++i)
            if (groups[i].last.needs_norm()) return true;
        return false;
    }
    /// May a gradient be used up within the kernel that makes it? Not if anything must be known of
    /// all of it before.
    constexpr bool at_once(const variable& v) const { return every > 1 || (!needs_norm() && of(v).levels == 0); }
    /// Is the update of a table with a row-sparse gradient lazy: of the rows that occur alone? Not
    /// where it needs a norm of the weights or of the update itself: rows that rest would count in
    /// it.
    constexpr bool lazy(const variable& v) const { return of(v).sums_gradients_alone(); }
    /// Floats behind the last gradient, each number on a line of its own: the global norm, what
    /// each parameter's gradient adds to that, then the sums' table.
    constexpr std::int64_t table_floats(int parameters) const {
        return norm_place(0) + std::int64_t{16} * parameters * (sums + needs_norm());
    }
    constexpr std::int64_t norm_place(int parameter) const { return 16 + std::int64_t{16} * parameter; }
    constexpr std::int64_t sum_place(int parameters, int parameter, int sum) const {
        return norm_place(needs_norm() ? parameters : 0) + std::int64_t{16} * (parameter * sums + sum);
    }
};

} // namespace sinter::compiler
