// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/net/process_group.hpp>

/// Connections that are made when they are needed.
namespace sinter::inline SINTER_ORDINARY::wire {

/// On the loop's thread. The member of higher rank dials, as it does for all connections.
SINTER_COLD inline void process_group::dial_further(int peer, std::uint32_t number) {
    links_->dial_further(peer, number, [&] {
        const lock hold(mutex_);
        further_.try_emplace({peer, number});   // it is being made: see is_gone()
    });
}

SINTER_COLD inline void process_group::ask_further(int peer, std::uint32_t number) {
    if (peer < 0 || peer >= size() || peer == rank())
        throw error("no other member has this rank", "process_group::ask_further", to_text({peer}));
    loop_.post([this, peer, number] {
        if (has_failed_ || closing_) return;
        if (peer < rank()) return dial_further(peer, number);
        {
            const lock hold(mutex_);
            if (further_.contains({peer, number})) return;
        }
        if (links_->control(peer))
            links_->control(peer)->send(message::kind::dial, archived(message::dial{number}));
    });
}

SINTER_COLD inline data_link* process_group::further(int peer, std::uint32_t number) {
    const lock hold(mutex_);
    const auto at = further_.find({peer, number});
    return at == further_.end() ? nullptr : at->second.get();
}

SINTER_COLD inline data_link& process_group::wait_further(int peer, std::uint32_t number) {
    data_link* there = nullptr;
    bool left = false;
    {
        lock hold(mutex_);
        changed_.wait(hold, [&] {
            const auto at = further_.find({peer, number});
            there = at == further_.end() ? nullptr : at->second.get();
            left = left_[static_cast<std::size_t>(peer)] != 0;
            return there || left || error_.there();
        });
    }
    check();
    if (!there) {
        fail(about(peer, "a further connection", marks_.step, "it has left the job, and this member waits for it"));
        check();
    }
    return *there;
}

SINTER_COLD inline void process_group::drop_further(int peer, std::uint32_t number) {
    std::unique_ptr<data_link> last;   // closed without the lock
    const lock hold(mutex_);
    const auto at = further_.find({peer, number});
    if (at == further_.end()) return;
    last = std::move(at->second);
    further_.erase(at);
}

SINTER_COLD inline bool process_group::is_gone(int peer) {
    const lock hold(mutex_);
    if (!left_[static_cast<std::size_t>(peer)]) return false;
    for (const auto& [of, d] : further_)
        if (of.first == peer && !d) return false;
    return true;
}

SINTER_COLD inline void process_group::on_change(std::function<void()> changed) {
    const lock hold(change_mutex_);
    on_change_ = std::move(changed);
}
SINTER_COLD inline void process_group::notify_change() {
    const lock hold(change_mutex_);
    if (on_change_) on_change_();
}

} // namespace sinter::wire
