// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/unique_rows.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/compiler/error_message.hpp>
#include <sinter/compiler/plan/memory.hpp>
#include <sinter/compiler/emit/spec.hpp>
#include <type_traits>

/// What numbers of a program have bounds, and the one compile error of those beyond them. (One
/// tensor's elements: graph::take.)
namespace sinter::inline SINTER_TARGET::compiler {

/// The floats of one arena (weights, slots, activations of the largest batch, ...) that addresses
/// reach.
struct floats_of_an_arena { static constexpr std::int64_t most = std::int64_t{1} << 33; };
/// Rows that are found by number, of the largest batch: a table's gradient, layers behind
/// embeddings.
struct rows_found_by_number { static constexpr std::int64_t most = 0x7fffffff; };
/// Elements of a state that each example of the largest batch has one of.
struct elements_of_examples_states { static constexpr std::int64_t most = 0x7fffffff; };

/// The largest number of its kind that a program wants.
template <class What, std::int64_t Wanted, std::int64_t Most = What::most, bool Within = Wanted <= Most>
struct bound {
    static constexpr bool holds = true;
};
template <class What, std::int64_t Wanted, std::int64_t Most>
constexpr bool is_within_bounds(bound<What, Wanted, Most, true>) { return true; }
#ifdef SINTER_ERROR_AS_STRING   // see error_message.hpp
template <class What, std::int64_t Wanted, std::int64_t Most>
constexpr bool is_within_bounds(bound<What, Wanted, Most, false>) = delete;
#else
template <class What, std::int64_t Wanted, std::int64_t Most>
struct bound<What, Wanted, Most, false> {
    static constexpr bool holds = false;
};
#endif
template <class Bound>
struct check_bound {
#ifdef SINTER_ERROR_AS_STRING
    static_assert(is_within_bounds(Bound{}));
#else
    static_assert(Bound::holds, "the program is too large: see bound<what, wanted, most>");
#endif
};

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET::detail {

template <class Program>
constexpr std::int64_t largest_arena(const Program& p) {
    std::int64_t most = 0;
    for (space s : {space::activation, space::parameter, space::gradient, space::state, space::slot})
        if (p.floats(s) > most) most = p.floats(s);
    return most;
}
template <class Program>
constexpr std::int64_t most_rows_found_by_number(const Program& p) {
    std::int64_t most = 0;
    for (int i = 0; i < p.n_launches; ++i) {
        const launch& l = p.launches[i];
        const op_id k = p.specs[l.spec].kind;
        const bool by_number = l.role == op_role::scatter_rows || k == op::unique_rows || k == op::unique_product ||
                               k == op::unique_sums || k == op::unique_table || k == op::unique_weights;
        const std::int64_t rows = l.batched ? l.m * p.max_batch : l.m;
        if (by_number && rows > most) most = rows;
    }
    return most;
}
template <class Program>
constexpr std::int64_t largest_state_of_examples(const Program& p) {
    double most = 0;
    for (int i = 0; i < p.n_states; ++i) {
        double n = p.states[i].of_examples ? 1 : 0;
        for (int k = 0; k < p.states[i].s.rank; ++k) n *= p.states[i].s.d[k];
        if (n > most) most = n;
    }
    return static_cast<std::int64_t>(most);
}

} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

/// No more than one of these errors.
template <class Program>
struct check_bounds {
    static constexpr std::int64_t arena = detail::largest_arena(Program::v);
    static constexpr std::int64_t rows = detail::most_rows_found_by_number(Program::v);
    static constexpr std::int64_t state = detail::largest_state_of_examples(Program::v);
    using worst = std::conditional_t<(arena > floats_of_an_arena::most), bound<floats_of_an_arena, arena>,
                  std::conditional_t<(rows > rows_found_by_number::most), bound<rows_found_by_number, rows>,
                                     bound<elements_of_examples_states, state>>>;
    static_assert(sizeof(check_bound<worst>) > 0);
    static constexpr bool v = true;
};

} // namespace sinter::compiler
