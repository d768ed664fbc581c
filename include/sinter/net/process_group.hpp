// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/net/elastic/other_strategy.hpp>
#include <sinter/net/first_error.hpp>
#include <sinter/net/job_key.hpp>
#include <sinter/net/links.hpp>
#include <sinter/net/liveness.hpp>
#include <sinter/net/wait_note.hpp>
#include <condition_variable>
#include <deque>
#include <map>

namespace sinter::inline SINTER_ORDINARY::wire {

/// The connections of this process to the other members of a cluster. The constructor returns when
/// all are there and have found that they agree; from then on each learns within a second of
/// another one's end, or of its first error, and within `dead_after` of one that was stopped or cut
/// off. Beside the threads that use it, one of its own watches and answers. Any thread may call
/// what is not documented as one thread's.
class process_group {
public:
    struct setup {
        rate_limited_log::sink log;        // lines about unknown peers; none: messages
        handshake_limits strangers;
    };

    /// Waits until all are there. Throws cluster_error: who is missing after `join_within`, what a
    /// member does not agree on, an address of this or another task that cannot be used (at once).
    /// Throws option_error where there is no job key and addresses are not all of this machine.
    process_group(const cluster& who, const identity& same, setup with = {});
    /// As leave(), without its errors. During an exception's way out, the others are notified of it.
    ~process_group();
    process_group(const process_group&) = delete;
    process_group& operator=(const process_group&) = delete;

    int rank() const { return who_.rank(); }
    int size() const { return who_.size(); }
    /// With the addresses of all, also where only the master's was known before.
    const cluster& roster() const { return who_; }
    /// The connection for data to another member. One thread at a time may use it.
    data_link& link(int peer) { return *data_.at(static_cast<std::size_t>(peer)); }

    // ---- Further connections: beside the one for data, each with a number of its own among those of its pair
    /// Has one made, if it is not there. Either end may ask, or both.
    void ask_further(int peer, std::uint32_t number);
    /// One that either end has asked for; null: it is not there yet. One thread at a time may use it.
    data_link* further(int peer, std::uint32_t number);
    /// The same, of one that was asked for, once it is there. Throws the first error.
    data_link& wait_further(int peer, std::uint32_t number);
    /// Closes one that is not needed any more. It cannot be had again.
    void drop_further(int peer, std::uint32_t number);
    /// Whether this member has done its part, and no further connection to it is being made.
    bool is_gone(int peer);
    /// `changed` is called on a thread of the group's own whenever a further connection has come or a member has left.
    void on_change(std::function<void()> changed);

    /// Throws the first error, if there is one. Cheap.
    SINTER_COLD void check() const {
        error_.check();
        if (const double gap = liveness_ ? liveness_->overdue() : 0; gap > who_.options.dead_after)
            throw removed(gap);
    }
    /// Becomes readable at the first error, and stays so.
    int failed_descriptor() const { return error_.descriptor(); }
    /// Notifies all members of an error. The first one wins, here as everywhere. Returns when it, or
    /// one that was before it, is there.
    void fail(const cluster_error&) noexcept;
    /// For errors of this process itself.
    void fail(const std::string& cause) noexcept;

    /// Where this process is: for errors, and so that it is not taken for stuck. `operation` must
    /// live as long as the program. Costs a few stores.
    void progress(std::int64_t step, const char* operation) noexcept {
        marks_.step.store(step, std::memory_order_relaxed);
        marks_.operation.store(operation, std::memory_order_relaxed);
        marks_.count.fetch_add(1, std::memory_order_relaxed);
    }
    /// What is known of all members, by rank: who is slow, and where.
    std::vector<member_status> status();

    /// Asks all members, this one included, to stop when it suits them.
    void ask_all_to_stop(const char* reason);
    /// Whether somebody has asked; stop_reason() says who and why.
    bool asked() const { return asked_.load(std::memory_order_acquire); }
    std::string stop_reason() const;

    /// Every member gives some bytes (at most 48 KiB) and gets those of all, by rank. All must call
    /// it in the same order, with the same `what`, which errors name; one thread.
    std::vector<std::string> exchange(const std::string& what, const std::string& bytes);

    /// Announces that this member has done its part, waits until all have (at most
    /// `join_within`), and closes. Throws the first error, if there is one.
    void leave();

private:
    using lock = std::unique_lock<std::mutex>;

    cluster who_;
    greeting own_;
    setup with_;
    first_error error_;
    progress_marks marks_;
    std::vector<std::unique_ptr<data_link>> data_;   // by rank, once all are there
    std::mutex change_mutex_;
    std::function<void()> on_change_;
    std::atomic<bool> asked_{false}, has_failed_{false};   // has_failed_: error_ is set, or about to be

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // Under the mutex:
    bool up_ = false;
    std::vector<char> left_;
    std::map<std::pair<int, std::uint32_t>, std::unique_ptr<data_link>> further_;   // null: this end dials it
    std::vector<std::deque<message::exchange>> inbox_;
    std::string stop_reason_;
    bool all_sent_ = false;   // the last messages, when it closes

    std::uint64_t exchanges_ = 0;
    bool closed_ = false;
    int exceptions_ = std::uncaught_exceptions();

    event_loop loop_;
    // On the loop's thread, but for their making and end:
    std::unique_ptr<links> links_;
    std::unique_ptr<other_strategy> others_;   // until all are there
    std::unique_ptr<liveness> liveness_;
    std::vector<std::unique_ptr<alarm>> suspicion_;   // by rank: a connection was lost, and perhaps says why elsewhere
    std::unique_ptr<alarm> waits_;   // while not all are there, to say so
    std::vector<char> ready_, gone_;
    bool ready_sent_ = false, started_ = false, roster_sent_ = false, closing_ = false;

    cluster_error about(int rank, std::string operation, std::int64_t step, std::string cause) const;
    cluster_error removed(double gap) const;
    void run_on_loop(std::function<void()> f);
    template <class Done>
    bool wait_until(double deadline, lock&, Done done);
    std::unique_ptr<listener> open(std::vector<resolution>& addresses);
    void join();
    void received(int rank, message::kind, span<const std::byte>);
    void lost(int rank, const std::string& cause);
    void check_all_joined();
    void report_missing(std::shared_ptr<wait_note>);
    std::string shown(int rank) const;
    void start();
    void adopt(const cluster_error&, bool notify);
    void send_all(message::kind, const std::string& bytes);
    void notify_change();
    void dial_further(int peer, std::uint32_t number);
    void close(double within);
    void hang_up();
};

} // namespace sinter::wire

#include <sinter/net/process_group/addresses.hpp>
#include <sinter/net/process_group/messages.hpp>
#include <sinter/net/process_group/further.hpp>
#include <sinter/net/process_group/membership.hpp>
