// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/connection.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// multi_worker<shared_memory>: processes of one machine, which meet over the network as others do
/// (so that a death is noticed), and pass their gradients through memory that all have mapped.
struct shared_memory {
    /// Throws option_error where the members do not share memory.
    SINTER_APART static std::unique_ptr<collective::communicator> connect(const cluster&, const wire::identity&);
};

}   // namespace sinter::inline SINTER_ORDINARY

#if SINTER_BODIES
#include <sinter/collective/shared_memory_engine.hpp>
#include <sinter/collective/tcp.hpp>

namespace sinter::inline SINTER_ORDINARY {
namespace collective {

/// Memory that all members have mapped; where one of them cannot, null and the reason. `exchange(what, text)`: what
/// each of them says, by rank.
template <class Exchange>
std::unique_ptr<engine> shared_memory_among(const std::shared_ptr<membership>& m, Exchange exchange,
                                            std::string& why_not) {
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
    const std::string made = exchange("shared memory: where", m->rank() == 0 ? token + path : "").at(0);
    if (m->rank() != 0) try {
            if (made.size() <= token.size()) throw device_error("rank 0 could not make shared memory", "shared_memory");
            segment = shared_segment::open(made.substr(token.size()), bytes);
            // The same path on another machine, or in another container, is other memory.
            if (std::memcmp(segment.data() + bytes - token.size(), made.data(), token.size()) != 0)
                throw device_error("this is not the shared memory that was meant", made.substr(token.size()));
        } catch (const error& e) {
            fault = e.what();
        }
    const auto faults = exchange("shared memory: opened", fault);
    for (int r = 0; r < m->size(); ++r)
        if (const std::string& f = faults.at(static_cast<std::size_t>(r)); !f.empty()) {
            why_not = m->role(r) + " at " + m->address(r) + ": " + f;
            return nullptr;
        }
    segment.close_file();
    return std::make_unique<shared_memory_engine>(m, std::move(segment));
}
inline std::unique_ptr<engine> shared_memory_among(const std::shared_ptr<net_membership>& m, std::string& why_not) {
    return shared_memory_among(m, [&](const char* what, const std::string& mine) {
        return m->group().exchange(what, mine);
    }, why_not);
}
[[noreturn]] SINTER_COLD inline void refuse_to_share(const char* who, const std::string& why) {
    throw option_error(to_text({"the members of this ", who, " cannot share memory"}), "shared_memory", why,
                       "processes of one machine and user");
}
/// How shared memory splits: otherwise(why) where a group's members cannot share any. All members of `all` call it.
template <class Otherwise>
std::unique_ptr<engine> split_shared_memory(communicator& all, const group_of_members& g,
                                            const std::shared_ptr<membership>& these, bool may_share,
                                            Otherwise otherwise) {
    std::string why_not;
    const auto exchange = [&](const char*, const std::string& mine) {
        const auto gathered = all.all_gather(as_bytes(mine));
        std::vector<std::string> of_these;
        for (const int r : g.ranks) {
            const auto& s = gathered[static_cast<std::size_t>(r)];
            of_these.emplace_back(reinterpret_cast<const char*>(s.data()), s.size());
        }
        return of_these;
    };
    std::unique_ptr<engine> e;
    if (these && may_share) e = shared_memory_among(these, exchange, why_not);
    else for (int k = 0; k < 2; ++k) exchange("", "");   // others may
    if (these && !e) e = otherwise(why_not);
    return e;
}

inline split_function split_by_shared_memory() {
    return [](communicator& all, const group_of_members& g, const std::shared_ptr<membership>& these) {
        return split_shared_memory(all, g, these, true, [](const std::string& why) -> std::unique_ptr<engine> {
            refuse_to_share("group", why);
        });
    };
}

}   // namespace collective

SINTER_APART std::unique_ptr<collective::communicator> shared_memory::connect(const cluster& who,
                                                                              const wire::identity& same) {
    const auto m = std::make_shared<collective::net_membership>(who, same.sent_by(100));   // no algorithm's number
    std::string why_not;
    auto e = collective::shared_memory_among(m, why_not);
    if (!e) collective::refuse_to_share("job", why_not);
    return collective::connected(m, std::move(e), collective::split_by_shared_memory());
}

}   // namespace sinter::inline SINTER_ORDINARY
#endif
