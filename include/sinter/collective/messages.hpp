// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/communicator.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// What a message is matched by, as the member sees it that sends or awaits it.
struct message_name {
    std::uint32_t group = 0;   ///< of members: 0 is the whole job
    int peer = 0;              ///< the other member's rank in the job
    std::int64_t tag = 0;
    friend bool operator==(const message_name&, const message_name&) = default;
};

/// Messages between two members of a job: what is beneath communicator's send() and recv(), for all its groups. Any
/// thread may call.
class messages {
public:
    virtual ~messages() = default;
    virtual message send(const message_name&, span<const std::byte>) = 0;
    virtual message receive(const message_name&, span<std::byte>) = 0;
    virtual void wait(message, double within) = 0;   ///< as communicator::wait_message()
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
