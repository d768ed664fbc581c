// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/elastic/result_header.hpp>
#include <cstring>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// A thing that all members do together: a step, a sum, a broadcast.
struct operation_result {
    result_kind kind = result_kind::none;
    std::int64_t bytes = -1;   ///< of its result; -1: a run, which is as large as it is
};

/// The operation that a member is in, and the result of the one that it did last, which others may not have completed.
class operation_log {
public:
    operation_result doing{result_kind::bytes}, did{};
    std::vector<std::byte> bytes;   ///< that the last one gave, or is to give
    step_result step{};             ///< of the last step
    std::int64_t done = 0;          ///< operations
    std::int64_t made_in = 0;       ///< the epoch of those who did the last one

    /// One with a result of so many bytes begins: x, which all are to have afterwards.
    void begin(span<const std::byte> x) {
        given_.assign(x.begin(), x.end());
        doing = {result_kind::bytes, static_cast<std::int64_t>(x.size())};
    }
    /// The same once more: x is as it was at its beginning.
    void restore(span<std::byte> x) const {
        if (!given_.empty()) std::memcpy(x.data(), given_.data(), given_.size());
    }
    /// It is over.
    void end() {
        ++done;
        did = doing;
    }

private:
    std::vector<std::byte> given_;   ///< what it was given
};

} // namespace sinter::strategy_parts
