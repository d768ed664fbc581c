// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/connection.hpp>

namespace sinter::inline SINTER_TARGET {

/// multi_worker<shared_memory>: processes of one machine, which meet over the network as others do
/// (so that a death is noticed), and pass their gradients through memory that all have mapped.
struct shared_memory {
    /// Throws option_error where the members do not share memory.
    SINTER_APART static std::unique_ptr<collective::communicator> connect(const cluster&, const wire::identity&);
};

}   // namespace sinter::inline SINTER_TARGET

#if SINTER_BODIES
#include <sinter/collective/net_membership.hpp>
#include <sinter/collective/queued_communicator.hpp>
#include <sinter/collective/shared_memory_engine.hpp>

namespace sinter::inline SINTER_TARGET {
namespace collective {

/// Memory that all members have mapped; where one of them cannot, null and the reason.
inline std::unique_ptr<engine> shared_memory_among(const std::shared_ptr<net_membership>& m, std::string& why_not) {
    wire::process_group& group = m->group();
    const std::size_t bytes = shared_memory_engine::segment_bytes(m->size());
    shared_segment segment;
    std::string path, token(16, '\0'), fault;
    if (m->rank() == 0) try {
            segment = shared_segment::make(bytes);
            path = segment.path();
            wire::fill_random(as_writable_bytes(token));
            std::memcpy(segment.data() + bytes - token.size(), token.data(), token.size());
        } catch (const error& e) {
            fault = e.what();
        }
    const std::string made = group.exchange("shared memory: where", m->rank() == 0 ? token + path : "").at(0);
    if (m->rank() != 0) try {
            if (made.size() <= token.size()) throw device_error("rank 0 could not make shared memory", "shared_memory");
            segment = shared_segment::open(made.substr(token.size()), bytes);
            // The same path on another machine, or in another container, is other memory.
            if (std::memcmp(segment.data() + bytes - token.size(), made.data(), token.size()) != 0)
                throw device_error("this is not the shared memory that was meant", made.substr(token.size()));
        } catch (const error& e) {
            fault = e.what();
        }
    const auto faults = group.exchange("shared memory: opened", fault);
    for (int r = 0; r < m->size(); ++r)
        if (const std::string& f = faults.at(static_cast<std::size_t>(r)); !f.empty()) {
            why_not = m->role(r) + " at " + m->address(r) + ": " + f;
            return nullptr;
        }
    segment.close_file();
    return std::make_unique<shared_memory_engine>(m, std::move(segment));
}

}   // namespace collective

SINTER_APART std::unique_ptr<collective::communicator> shared_memory::connect(const cluster& who,
                                                                              const wire::identity& same) {
    const auto m = std::make_shared<collective::net_membership>(who, same.sent_by(100));   // no algorithm's number
    std::string why_not;
    auto e = collective::shared_memory_among(m, why_not);
    if (!e)
        throw option_error("the members of this job cannot share memory", "shared_memory", why_not,
                           "processes of one machine and user");
    return std::make_unique<collective::queued_communicator>(
        m, std::make_unique<collective::watched_engine>(m, std::move(e)));
}

}   // namespace sinter::inline SINTER_TARGET
#endif
