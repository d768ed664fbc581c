// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/server/serving.hpp>

/// A worker's connection to a server, from its beginning to its end.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

SINTER_COLD inline void server::engine::serve(int w, std::uint64_t incarnation, wire::data_link link) {
    worker& k = at(w);
    std::string trouble;
    std::uint64_t now = 0;
    {
        const lock hold(mutex);
        if (k.served && k.descriptor >= 0) ::shutdown(k.descriptor, SHUT_RDWR);   // the connection before this one
        if (w == 0 && k.incarnation != incarnation) need_whole_values();
        if (k.incarnation != 0 && k.incarnation != incarnation) replace(w), all_clocks.forget_claim(w);
        if (k.incarnation != incarnation) k.applied_number = 0;   // its pushes are numbered from 1 again
        k.incarnation = incarnation;
        changed.notify_all();
        ++k.arriving;   // the job is not over while somebody comes
        changed.wait(mutex, [&]() SINTER_REQUIRES(mutex) {
            return !k.served || ending.is_stopping() || k.incarnation != incarnation;
        });
        --k.arriving;
        if (ending.is_stopping() || k.incarnation != incarnation || !copies.leads()) return;
        now = copies.view();
        k.served = true;
        k.last_received = base::monotonic_seconds();
        ++k.counters.connections;
        if (progress.is_restored() && log.at(w).incarnation == incarnation) progress.goes_on();   // the saved job does
        if (log.at(w).incarnation != incarnation) tickets.give_back(w);
        workers.is_served(w);
        prepare(k);
    }
    try {
        server_session s(*this, w, incarnation, now, std::move(link));
        {
            const lock hold(mutex);
            k.descriptor = s.descriptor();
            k.conn = &s.conn();
        }
        struct at_end {
            engine& e;
            worker& k;
            server_session& s;
            ~at_end() {   // before the socket is closed, so that nobody shuts down another one of its number
                const lock hold(e.mutex);
                s.count();
                k.descriptor = -1;
                k.conn = nullptr;
            }
        } const end{*this, k, s};
        s.run();
    } catch (const view_changed&) {            // it comes again
    } catch (const wire::lost_connection&) {   // it may come again
    } catch (const std::exception& e) {
        trouble = e.what();
    }
    const lock hold(mutex);
    if (!trouble.empty()) notes.say("closed a connection: " + trouble);
    if (k.incoming && k.incoming->begun()) ++k.counters.torn;
    if (k.incoming) k.incoming->clear();
    k.served = false;
    if (k.last_received > 1e200) k.last_received = base::monotonic_seconds();   // nobody works for it any more
    changed.notify_all();
}

} // namespace sinter::parameter_servers
