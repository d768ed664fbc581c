// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/net/process_group.hpp>

/// Messages between members.
namespace sinter::inline SINTER_ORDINARY::wire {

SINTER_COLD inline void process_group::send_all(message::kind k, const std::string& bytes) {
    for (int r = 0; r < size(); ++r)
        if (r != rank() && links_->control(r)) links_->control(r)->send(k, bytes);
}

SINTER_COLD inline void process_group::received(int from, message::kind k, span<const std::byte> bytes) try {
    using message::kind;
    liveness_->received(from);
    const auto at = static_cast<std::size_t>(from);
    switch (k) {
        case kind::heartbeat: return liveness_->received(from, restored<message::heartbeat>(bytes));
        case kind::failure: {
            message::failure f = restored<message::failure>(bytes);
            if (f.rank == rank()) f.cause = "this process was removed from the job: " + f.cause;
            return adopt(f.error(), true);
        }
        case kind::stop: {
            const auto m = restored<message::stop>(bytes);
            const lock hold(mutex_);
            if (stop_reason_.empty()) stop_reason_ = who_.member(from).name() + ": " + base::one_line(m.reason);
            asked_.store(true, std::memory_order_release);
            return;
        }
        case kind::leave: {
            restored<message::leave>(bytes);
            liveness_->left(from);
            {
                const lock hold(mutex_);
                left_[at] = 1;
                changed_.notify_all();
            }
            return notify_change();
        }
        case kind::exchange: {
            auto m = restored<message::exchange>(bytes);
            const lock hold(mutex_);
            if (inbox_[at].size() >= 16) throw format_error("too many exchanges ahead", "a control message");
            inbox_[at].push_back(std::move(m));
            return changed_.notify_all();
        }
        case kind::ready:
            if (rank() == 0) ready_[at] = 1;
            return check_all_joined();
        case kind::start:
            if (from == 0 && ready_sent_ && !started_) start();
            return;
        case kind::roster:
            if (from == 0) links_->learn(restored<message::roster>(bytes).addresses);
            return;
        case kind::dial:
            if (started_ && from < rank()) return dial_further(from, restored<message::dial>(bytes).number);
            break;
    }
    throw format_error("a kind that is not known", "a control message");
} catch (const error& e) {
    adopt(about(from, "", marks_.step, std::string("it sent what cannot be understood: ") + e.what()), true);
}

SINTER_COLD inline std::vector<std::string> process_group::exchange(const std::string& what, const std::string& bytes) {
    if (bytes.size() > (std::size_t{48} << 10) || what.size() > 1000)
        throw error("more than 48 KiB", "process_group::exchange, " + what, to_text({bytes.size(), " bytes"}));
    const std::uint64_t number = exchanges_++;
    check();
    std::vector<std::string> all(static_cast<std::size_t>(size()));
    all[static_cast<std::size_t>(rank())] = bytes;
    if (size() == 1) return all;
    loop_.post([this, m = archived(message::exchange{number, what, bytes})] {
        send_all(message::kind::exchange, m);
    });
    for (int r = 0; r < size(); ++r) {
        if (r == rank()) continue;
        const auto at = static_cast<std::size_t>(r);
        lock hold(mutex_);
        changed_.wait(hold, [&] { return error_.there() || !inbox_[at].empty() || left_[at]; });
        if (!error_.there() && inbox_[at].empty()) {
            hold.unlock();
            fail(about(r, what, marks_.step, "it has left the job, and this member waits for its part"));
        }
        check();
        if (!hold.owns_lock()) hold.lock();
        const message::exchange m = std::move(inbox_[at].front());
        inbox_[at].pop_front();
        hold.unlock();
        if (m.number != number || m.what != what) {
            fail(about(r, what, marks_.step,
                       to_text({"members called different operations: it exchanges '", m.what, "' (its ", m.number + 1,
                               "th), this member '", what, "' (its ", number + 1, "th)"})));
            check();
        }
        all[at] = m.bytes;
    }
    return all;
}

SINTER_COLD inline void process_group::ask_all_to_stop(const char* reason) {
    {
        const lock hold(mutex_);
        if (stop_reason_.empty()) stop_reason_ = who_.self().name() + ": " + reason;
    }
    asked_.store(true, std::memory_order_release);
    if (size() > 1 && !closed_)
        loop_.post([this, m = archived(message::stop{reason})] { send_all(message::kind::stop, m); });
}
SINTER_COLD inline std::string process_group::stop_reason() const {
    const lock hold(mutex_);
    return stop_reason_;
}

SINTER_COLD inline std::vector<member_status> process_group::status() {
    std::vector<member_status> all(static_cast<std::size_t>(size()));
    if (size() == 1 || closed_) {
        all[static_cast<std::size_t>(rank())] = {marks_.step, marks_.operation.load()};
        return all;
    }
    run_on_loop([&] {
        for (int r = 0; r < size(); ++r) all[static_cast<std::size_t>(r)] = liveness_->status(r);
    });
    return all;
}

} // namespace sinter::wire
