// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/collective/communicator.hpp>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// Members that share a batch have stepped on batches of different sizes: mismatch_error on each of them, which says
/// what each has. All call it, with their own sizes.
[[noreturn]] SINTER_COLD SINTER_APART void refuse_other_batches(collective::communicator& all, std::int64_t mine,
                                                                std::int64_t step);

/// The same where the sum of all members' sizes and that of their squares say so.
inline void need_one_batch(collective::communicator& all, const double* sums, std::int64_t mine, std::int64_t step) {
    if (sums[0] * sums[0] != sums[1] * all.size()) refuse_other_batches(all, mine, step);
}

} // namespace sinter::session_parts

#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::session_parts {
[[noreturn]] SINTER_COLD SINTER_APART void refuse_other_batches(collective::communicator& all, std::int64_t mine,
                                                                std::int64_t step) {
    const auto n = static_cast<std::size_t>(all.size()), own = static_cast<std::size_t>(all.rank());
    std::vector<std::int64_t> sizes(n);
    sizes[own] = mine;
    all.all_reduce(span<std::int64_t>(sizes.data(), n));
    std::string got;
    for (std::size_t r = 0; r < n; ++r)
        got += to_text({r ? ", rank " : "rank ", r, " has ", sizes[r], r ? "" : " examples"});
    throw mismatch_error("members step on different batches", to_text({"step ", step + 1, ", member ", own}), got,
                         "one batch, of which each takes its part; or batch_input::per_worker");
}
} // namespace sinter::inline SINTER_ORDINARY::session_parts
#endif
