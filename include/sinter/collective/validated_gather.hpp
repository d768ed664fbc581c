// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/collective/communicator.hpp>
#include <cstring>
#include <type_traits>

/// What members of a group send about themselves, and about what follows. It comes from other processes:
/// it is compared with what the program knows before memory is taken for it, or anything copied.
namespace sinter::inline SINTER_ORDINARY::collective {

/// cluster_error that names the member, unless `got` is from `least` to `most`. `what`: bytes,
/// members...
SINTER_COLD SINTER_APART void need_sent(int member, const char* operation, const char* what, std::int64_t got,
                                        std::int64_t least, std::int64_t most);

/// One T of each member, by rank. cluster_error names the member that sends less or more.
template <class T>
    requires std::is_trivially_copyable_v<T>
std::vector<T> all_gather_value(communicator& c, const T& mine, const char* operation) {
    constexpr std::size_t slot = sizeof(row_slot) + (sizeof(T) + 7) / 8 * 8;
    const auto members = static_cast<std::size_t>(c.size());
    std::vector<std::byte> slots(slot * members);
    const row_slot head{sizeof(T)};
    std::byte* const own = slots.data() + slot * static_cast<std::size_t>(c.rank());
    std::memcpy(own, &head, sizeof head);
    std::memcpy(own + sizeof head, &mine, sizeof mine);
    c.wait(c.start({.what = kind::all_gather_rows, .type = element::u8, .step = c.steps_done(),
                    .bucket = outside_of_steps},
                   slots.data(), static_cast<std::int64_t>(slot), false));
    std::vector<T> all(members);
    for (std::size_t r = 0; r < members; ++r) {
        row_slot has;
        std::memcpy(&has, slots.data() + r * slot, sizeof has);
        need_sent(static_cast<int>(r), operation, "bytes", has.bytes, sizeof(T), sizeof(T));
        std::memcpy(&all[r], slots.data() + r * slot + sizeof has, sizeof(T));
    }
    return all;
}

}   // namespace sinter::inline SINTER_ORDINARY::collective

#if SINTER_BODIES
#include <sinter/base/to_text.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {
SINTER_COLD SINTER_APART void need_sent(int member, const char* operation, const char* what, std::int64_t got,
                                        std::int64_t least, std::int64_t most) {
    if (got >= least && got <= most) return;
    const std::string needed = least == most ? to_text({most}) : to_text({least, " to ", most});
    throw cluster_error(member, "", "", operation, -1,
                        to_text({"it sent ", got, " ", what, "; expected ", needed}));
}
} // namespace sinter::inline SINTER_ORDINARY::collective
#endif
