// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/process_group.hpp>
#include <cstdlib>

/// What can be checked of addresses before anybody is dialled.
namespace sinter::inline SINTER_ORDINARY::wire {

/// Which of this machine's addresses leads there. Nothing is sent.
SINTER_COLD inline resolution local_address_towards(const endpoint& there) {
    const io::descriptor s(::socket(there.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    resolution r;
    if (!s || ::connect(s.get(), there.address(), there.size) != 0) {
        r.fault = std::generic_category().message(errno);
        return r;
    }
    r.endpoints.push_back(endpoint::local(s.get()));
    r.endpoints[0].set_port(0);
    return r;
}

/// Resolves everybody's address and listens at this task's own. What cannot work is an error at once.
SINTER_COLD inline std::unique_ptr<listener> process_group::open(std::vector<resolution>& addresses) {
    const auto own_fault = [&](std::string cause) {
        const host_port at = who_.self().address();
        return cluster_error(rank(), who_.self().name(), at.known() ? text_of(at) : "", "joining the job", -1,
                             std::move(cause));
    };
    // Under Kubernetes a pod's name is known once the pod runs: there names are asked for again.
    const bool names_come_later = std::getenv("KUBERNETES_SERVICE_HOST") != nullptr;
    addresses.resize(static_cast<std::size_t>(size()));
    for (int r = 0; r < size(); ++r) {
        const host_port at = who_.member(r).address();
        if (!at.known()) continue;
        resolution& found = addresses[static_cast<std::size_t>(r)];
        found = resolve(at);
        if (found.fault.empty() || (r != rank() && names_come_later)) continue;
        throw cluster_error(r, who_.member(r).name(), text_of(at), "joining the job", -1,
                            "the name of its host cannot be resolved: " + found.fault);
    }
    resolution own = addresses[static_cast<std::size_t>(rank())];
    if (!who_.self().address().known()) {
        const host_port master = who_.master();   // throws where it is not known either
        if (addresses[0].endpoints.empty()) addresses[0] = resolve(master);
        if (!addresses[0].fault.empty())
            throw cluster_error(0, who_.member(0).name(), text_of(master), "joining the job", -1,
                                "the name of its host cannot be resolved: " + addresses[0].fault);
        own = local_address_towards(addresses[0].endpoints[0]);
        if (!own.fault.empty()) throw own_fault("no address of this machine leads to rank 0: " + own.fault);
    }

    const endpoint& first = own.endpoints[0];
    const auto is_loopback = [](const endpoint& e) { return e.is_loopback(); };
    const bool local = std::all_of(own.endpoints.begin(), own.endpoints.end(), is_loopback);
    const int outside = [&] {   // a rank on another machine, or one's own
        for (int r = 0; r < size(); ++r) {
            const auto& e = addresses[static_cast<std::size_t>(r)].endpoints;
            if (!e.empty() && std::none_of(e.begin(), e.end(), is_loopback)) return r;
        }
        return -1;
    }();
    if (who_.options.key.empty() && !who_.options.insecure && (!local || outside >= 0))
        throw option_error("a job without a key whose members are not all on this machine's loopback device",
                           "cluster_options::key",
                           local ? text_of(who_.member(outside).address()) : text_of(first.digits()),
                           "the same secret for all members (SINTER_KEY_FILE or SINTER_KEY), or insecure = true");
    if (local && outside >= 0 && outside != rank())
        throw own_fault(to_text({"this task's address resolves to ", first.digits().host, ", which ",
                                who_.member(outside).name(), " at ", text_of(who_.member(outside).address()),
                                " cannot reach: it is this machine's loopback device (see /etc/hosts)"}));

    const descriptor_count d = count_descriptors();
    if (const std::int64_t needed = 2 * (size() - 1) + 1; d.left() < needed)
        throw own_fault(to_text({"too few descriptors: this process may have ", d.text(), " and has ", d.open,
                                "; the connections to the others need ", needed, " more"}));
    int fault = 0;
    for (const endpoint& e : own.endpoints) try {
            auto l = std::make_unique<listener>(loop_, e);
            const host_port own_at = who_.self().address();
            own_.address = text_of(own_at.known() ? own_at : l->where().digits());
            return l;
        } catch (const io_error&) {
            fault = errno;
            if (fault == EADDRINUSE) break;
        }
    if (fault == EADDRINUSE)
        throw own_fault("the port is in use: another process listens there, or this task was started twice");
    if (fault == EADDRNOTAVAIL)
        throw own_fault(to_text({first.digits().host, " is not an address of this machine"}));
    throw own_fault("cannot listen there: " + error_text(fault));
}

} // namespace sinter::wire
