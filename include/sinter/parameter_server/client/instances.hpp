// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/client/calls.hpp>

/// client::call() and call_all() for every call that a worker can make: a program that is compiled apart sees only
/// their declarations. Elsewhere each file compiles those that it makes.
#if defined(SINTER_COMPILES_BODIES)
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

#define SINTER_CALL(name)                                                               \
    template calls::name::answer client::call(int, const calls::name&);                 \
    template std::vector<calls::name::answer> client::call_all(const calls::name&);
SINTER_CALL(join)
SINTER_CALL(join_resting)
SINTER_CALL(rest)
SINTER_CALL(leave)
SINTER_CALL(open)
SINTER_CALL(wait_until_open)
SINTER_CALL(acquire_step)
SINTER_CALL(begin_renewal)
SINTER_CALL(end_renewal)
SINTER_CALL(wait_for_renewal)
SINTER_CALL(wait_for_others)
SINTER_CALL(wait_for_clock)
SINTER_CALL(all_reduce)
SINTER_CALL(restore_sums)
SINTER_CALL(stop)
SINTER_CALL(save_together)
SINTER_CALL(fail)
SINTER_CALL(get_phase_steps)
SINTER_CALL(get_stop_reason)
SINTER_CALL(get_counters)
SINTER_CALL(find_non_finite)
SINTER_CALL(read_rows)
SINTER_CALL(put_rows)
SINTER_CALL(reset_table)
SINTER_CALL(save_tables)
SINTER_CALL(load_tables)
SINTER_CALL(checkpoint)
SINTER_CALL(lead)
#undef SINTER_CALL

} // namespace sinter::parameter_servers
#endif
