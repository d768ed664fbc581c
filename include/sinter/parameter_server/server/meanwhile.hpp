// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/serving.hpp>

/// What takes a server long: signs of life go both ways meanwhile.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// f() on a thread of its own. The worker gets signs of life meanwhile. Throws what f
/// throws.
template <class F>
void server_session::do_meanwhile(F f) {
    bool done = false;
    std::string fault;
    struct working {   // it ends before what it works with
        base::posix_thread thread;
        base::mutex& held;
        ~working() {
            const base::mutex_release away(held);
            if (thread.joinable()) thread.join();
        }
    } work{{}, e_.mutex};
    work.thread = base::posix_thread([&] {
        std::string why;
        try {
            f();
        } catch (const std::exception& e) {
            why = e.what();
            if (why.empty()) why = "it failed";
        }
        const lock here(e_.mutex);
        fault = why;
        done = true;
        e_.changed.notify_all();
    });
    wait([&] { return done; });
    if (!fault.empty()) throw refused_request{fault};
}

} // namespace sinter::parameter_servers
