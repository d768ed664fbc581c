// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/posix_thread.hpp>
#include <sinter/net/endpoint.hpp>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace sinter::inline SINTER_TARGET::wire {

/// Looks up hosts' names on threads of their own, for a caller that says meanwhile that it lives: a
/// name server may take as long as it likes. One thread uses it.
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
    };
    std::vector<std::pair<host_port, std::shared_ptr<lookup>>> all_;

    std::shared_ptr<lookup>& begun(const host_port& at) {
        for (auto& [host, it] : all_)
            if (host == at) return it ? it : it = begin(at);
        return all_.emplace_back(at, begin(at)).second;
    }
    static std::shared_ptr<lookup> begin(const host_port& at) {
        auto it = std::make_shared<lookup>();
        it->at = at;
        base::posix_thread([it] {   // which may outlive the caller
            resolution found;
            try {
                found = resolve(it->at);
            } catch (...) {
                found = {};   // without memory there is none for words either
            }
            const std::lock_guard hold(it->mutex);
            if (found.endpoints.empty() && found.fault.empty()) found.fault = "no memory";
            it->found = std::move(found);
            it->over = true;
            it->changed.notify_all();
        }).detach();
        return it;
    }
};

} // namespace sinter::wire
