// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

namespace sinter::inline SINTER_TARGET::wire {

/// Hashes that all members of a job must share: of the model, of the layout of its arenas and
/// buckets, of the strategy and its options.
struct identity {
    std::uint64_t model = 0, layout = 0, policy = 0;
    friend bool operator==(const identity&, const identity&) = default;
};

} // namespace sinter::wire
