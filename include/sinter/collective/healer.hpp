// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/collective/communicator.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>

namespace sinter::inline SINTER_ORDINARY::collective {

/// What a process that joins an elastic job is sent by the member that heals it, over a connection
/// of the two alone.
enum class healing : std::int64_t {
    nothing,   ///< the member is there
    image,     ///< the model's state
    step,      ///< what the members have made of a step together
    come,      ///< all so far has been sent: it may join
    last       ///< it joins after what it has got
};
/// What the member that heals, rank 1 of the two, sends before the bytes themselves; rank 0 sends the same back once it
/// has done what it was asked to do.
struct healing_message {
    healing what = healing::nothing;
    std::int64_t bytes = 0;   ///< that follow

    enum tag : std::int64_t { announced, content, done };
    span<std::byte> as_bytes() { return {reinterpret_cast<std::byte*>(this), sizeof *this}; }
    /// How long the two wait for each other: as long as both live and get on.
    static constexpr double within = std::numeric_limits<double>::infinity();
};

/// Bytes that are queued for one that joins, and that it takes in one message, where a model has
/// `image` bytes.
constexpr std::int64_t most_to_heal(std::size_t image) {
    return 4 * static_cast<std::int64_t>(image) + (std::int64_t{64} << 20);
}

/// Bytes of the run that it is handed: hooks may have states of their own, of up to a gigabyte.
constexpr std::int64_t most_of_run(std::size_t image) { return most_to_heal(image) + (std::int64_t{1} << 30); }

/// What a process that has joined was healed by.
struct healing_counts {
    int steps = 0;    ///< that it has repeated while the others went on
    int images = 0;   ///< of the model's state, while they went on
    int waits = 0;    ///< of the state, while all waited
};

/// The end of a member: hands on what it is given, in order, on a thread of its own, so that nobody
/// waits for a process that joins. What is queued is bounded: beyond that all is dropped, and the
/// other one may come at once, to be given the state anew.
class healer {
public:
    /// `most`: bytes to be queued.
    SINTER_APART healer(std::function<std::unique_ptr<communicator>()> connect, std::int64_t most);
    healer(const healer&) = delete;
    healer& operator=(const healer&) = delete;
    SINTER_APART ~healer();

    SINTER_APART void add(healing what, std::vector<std::byte> bytes);
    /// The other one may join: it is notified.
    bool is_ready() const { return is(&healer::ready_); }
    /// The connection has failed, or never came about.
    bool is_broken() const { return is(&healer::broken_); }
    /// It joins after what has been added. Waits until it has got all, or cannot be reached.
    SINTER_APART void finish();

private:
    struct entry {
        healing what;
        std::vector<std::byte> bytes;
    };
    std::function<std::unique_ptr<communicator>()> connect_;
    const std::int64_t most_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<entry> queue_;
    std::int64_t queued_ = 0;
    bool stop_ = false, ready_ = false, broken_ = false, finished_ = false, overflown_ = false;
    base::posix_thread thread_;

    bool is(bool healer::*what) const {
        const std::unique_lock hold(mutex_);
        return this->*what;
    }
    SINTER_APART void serve();
    /// Returns when the other one has done what it was asked to do.
    SINTER_APART static void send(communicator& c, entry& e);
};

/// The other end: f(what, bytes) for each message, up to the last, or until `over()`. Throws
/// cluster_error where the member cannot be reached, or sends an invalid message or has more
/// than `most` bytes.
template <class F, class Over>
void be_healed(communicator& c, std::int64_t most, F f, Over over) {
    std::vector<std::byte> bytes;
    for (;;) {
        healing_message m;
        c.recv(1, healing_message::announced, m.as_bytes(), m.within);
        if (m.what < healing::nothing || m.what > healing::last || m.bytes < 0 || m.bytes > most)
            throw cluster_error(1, "", "", "healing", -1,
                                to_text({"a message of kind ", static_cast<std::int64_t>(m.what), " and ", m.bytes,
                                        " bytes; needed a known kind, and ", most, " bytes at most"}));
        bytes.resize(static_cast<std::size_t>(m.bytes));
        if (m.bytes > 0) c.recv(1, healing_message::content, bytes, m.within);
        f(m.what, bytes);
        c.send(1, healing_message::done, m.as_bytes(), m.within);
        if (m.what == healing::last || over()) return;
    }
}

}   // namespace sinter::inline SINTER_ORDINARY::collective

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY::collective {
SINTER_COLD SINTER_APART healer::healer(std::function<std::unique_ptr<communicator>()> connect, std::int64_t most)
    : connect_(std::move(connect)), most_(most), thread_([this] { serve(); }) {}

SINTER_COLD SINTER_APART healer::~healer() {
    {
        const std::unique_lock hold(mutex_);
        stop_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

SINTER_COLD SINTER_APART void healer::add(healing what, std::vector<std::byte> bytes) {
    const std::unique_lock hold(mutex_);
    if (overflown_) return;
    queued_ += static_cast<std::int64_t>(bytes.size());
    queue_.push_back({what, std::move(bytes)});
    if (queued_ > most_) {
        queue_.clear();
        overflown_ = true;
    }
    changed_.notify_all();
}

SINTER_COLD SINTER_APART void healer::finish() {
    std::unique_lock hold(mutex_);
    if (!broken_) queue_.push_back({healing::last, {}});
    changed_.notify_all();
    while (!broken_ && !finished_) changed_.wait(hold);
}

SINTER_COLD SINTER_APART void healer::serve() {
    try {
        const auto c = connect_();
        bool sent = false;
        for (;;) {
            entry e{healing::nothing, {}};
            {
                std::unique_lock hold(mutex_);
                const auto any = [&] { return stop_ || !queue_.empty() || ((sent || overflown_) && !ready_); };
                changed_.wait_for(hold, std::chrono::milliseconds(200), any);
                if (stop_) return;
                if (!queue_.empty()) {
                    e = std::move(queue_.front());
                    queue_.pop_front();
                    queued_ -= static_cast<std::int64_t>(e.bytes.size());
                } else if ((sent || overflown_) && !ready_) {
                    e.what = healing::come;
                    ready_ = true;
                }
            }
            send(*c, e);
            sent = true;
            const std::unique_lock hold(mutex_);
            finished_ = e.what == healing::last;
            changed_.notify_all();
            if (finished_) return;
        }
    } catch (...) {   // whoever joins dials again
        const std::unique_lock hold(mutex_);
        broken_ = true;
        changed_.notify_all();
    }
}

SINTER_COLD SINTER_APART void healer::send(communicator& c, entry& e) {
    healing_message m{e.what, static_cast<std::int64_t>(e.bytes.size())};
    c.send(0, healing_message::announced, m.as_bytes(), m.within);
    if (m.bytes > 0) c.send(0, healing_message::content, e.bytes, m.within);
    c.recv(0, healing_message::done, m.as_bytes(), m.within);
}
} // namespace sinter::inline SINTER_ORDINARY::collective
#endif
