// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#include <string>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Hashes that all members of a job must share: of the model, of the layout of its arenas and
/// buckets, of the strategy and its options.
struct identity {
    std::uint64_t model = 0, layout = 0, policy = 0;
    friend bool operator==(const identity&, const identity&) = default;
    /// Also of how members send: those that do it otherwise would wait for each other.
    constexpr identity sent_by(std::uint64_t algorithm) const {
        return {model, layout, (policy ^ (algorithm + 1)) * 0x9e3779b97f4a7c15u};
    }
};

/// In words what differs; empty: nothing.
SINTER_COLD SINTER_APART std::string difference(const identity& own, const identity& theirs);

} // namespace sinter::wire

#if SINTER_BODIES
#include <sinter/base/to_text.hpp>

namespace sinter::inline SINTER_ORDINARY::wire {
SINTER_COLD SINTER_APART std::string difference(const identity& own, const identity& theirs) {
    const auto differ = [](const char* what, std::uint64_t there, std::uint64_t here) {
        return to_text({what, " differs: ", there, " there, ", here, " here"});
    };
    if (own.model != theirs.model) return differ("the model (its hash)", theirs.model, own.model);
    if (own.layout != theirs.layout)
        return differ("the layout of memory and buckets (its hash; it depends on max_batch, program_options, the "
                      "optimizer and the processor's vectors, too)",
                      theirs.layout, own.layout);
    if (own.policy != theirs.policy)
        return differ("the strategy or its options (their hash)", theirs.policy, own.policy);
    return {};
}
} // namespace sinter::inline SINTER_ORDINARY::wire
#endif
