// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/blocked_signals.hpp>
#include <sinter/base/os/fork.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <sinter/net/endpoint.hpp>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Looks up hosts' names on threads of their own, for a caller that says meanwhile that it lives: a
/// name server may take as long as it likes. Where the system grants no thread the caller itself
/// waits for it. One caller at a time.
class name_lookup {
public:
    /// What resolve() says. goes_on() is called every `slice` seconds at least; once it says no the
    /// answer is nothing. The lookup then goes on, and the next call for this host has its result.
    template <class GoesOn>
    SINTER_COLD std::optional<resolution> find(const host_port& at, double slice, GoesOn goes_on) {
        if (resolution digits = resolve(at, true); digits.fault.empty()) return digits;
        std::shared_ptr<lookup>& mine = begun(at);
        const std::shared_ptr<lookup> it = mine;
        std::unique_lock hold(it->mutex);
        while (!it->over) {
            hold.unlock();
            if (!goes_on()) return {};
            hold.lock();
            it->changed.wait_for(hold, std::chrono::duration<double>(slice), [&] { return it->over; });
        }
        mine = nullptr;   // the next call asks anew
        return it->found;
    }

private:
    struct lookup {
        host_port at;
        std::mutex mutex;
        std::condition_variable changed;
        bool over = false;
        resolution found;
        unsigned forks = base::forks::so_far();

        void run() {
            resolution r;
            try {
                r = resolve(at);
            } catch (...) {
                r = {};   // without memory there is none for words either
            }
            const std::lock_guard hold(mutex);
            if (r.endpoints.empty() && r.fault.empty()) r.fault = "no memory";
            found = std::move(r);
            over = true;
            changed.notify_all();
        }
    };
    std::vector<std::pair<host_port, std::shared_ptr<lookup>>> all_;

    std::shared_ptr<lookup>& begun(const host_port& at) {
        for (auto& [host, it] : all_) {
            if (!(host == at)) continue;
            if (!it || it->forks != base::forks::so_far()) it = begin(at);   // a forked child has no such thread
            return it;
        }
        return all_.emplace_back(at, begin(at)).second;
    }
    static std::shared_ptr<lookup> begin(const host_port& at) {
        auto it = std::make_shared<lookup>();
        it->at = at;
        try {
            const base::blocked_signals none;
            base::posix_thread([it] { it->run(); }).detach();   // which may outlive the caller
        } catch (...) {   // the system grants none
            it->run();
        }
        return it;
    }
};

} // namespace sinter::wire
