// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/processors.hpp>
#include <sinter/collective/element.hpp>
#include <sinter/collective/engine.hpp>
#include <sinter/net/process_group.hpp>
#include <sinter/net/progress_report.hpp>
#include <functional>

namespace sinter::inline SINTER_ORDINARY::collective {

/// The members of a job of several processes: their connection, its heartbeats and its first error.
class net_membership final : public membership {
public:
    /// Blocks until all are there.
    net_membership(const cluster& who, const wire::identity& same) : group_(who, same) {
        const std::string mine = machine(group_.roster().self().host);
        int here = 0;
        for (const auto& m : group_.roster().trainers()) here += machine(m.host) == mine;
        one_host_ = here == size();
        may_spin_ = usable_cores() >= here;
    }

    int rank() const override { return group_.rank(); }
    int size() const override { return group_.size(); }
    void check() override { group_.check(); }
    void fail(const cluster_error& e) noexcept override { group_.fail(e); }
    std::string role(int rank) const override { return group_.roster().member(rank).name(); }
    std::string address(int rank) const override {
        const auto& m = group_.roster().member(rank);
        return m.host + ":" + std::to_string(m.port);
    }
    bool may_spin() const override { return may_spin_; }
    void progress(std::int64_t step, const char* what) override { group_.progress(step, what); }
    void report(std::int64_t step, double loss, double waited) override { report_.step(step, loss, waited); }
    void ask_all_to_stop(const char* reason) override { group_.ask_all_to_stop(reason); }
    bool asked_to_stop() const override { return group_.asked(); }

    wire::process_group& group() { return group_; }
    /// Whether the roster has one host for all.
    bool on_one_host() const { return one_host_; }
    bool on_one_host(const membership& these) const {
        for (int r = 1; r < these.size(); ++r)
            if (host(these.job_rank(r)) != host(these.job_rank(0))) return false;
        return true;
    }
    /// What the roster calls a member's host; that of loopback addresses is "localhost".
    std::string host(int rank) const { return machine(group_.roster().member(rank).host); }

private:
    wire::process_group group_;
    wire::progress_report report_;   // to sinter-launch
    bool one_host_ = false, may_spin_ = false;

    static std::string machine(const std::string& host) {
        return host.starts_with("127.") || host == "::1" ? "localhost" : host;
    }
};

/// How an engine of processes makes one for a group: see engine::split().
using split_function = std::function<std::unique_ptr<engine>(communicator& all, const group_of_members&,
                                                             const std::shared_ptr<membership>& these)>;

/// An engine that reports to the watchdog what it is at, and puts the operation into its errors' text.
class watched_engine final : public engine {
public:
    watched_engine(std::shared_ptr<net_membership> m, std::unique_ptr<engine> e, split_function split)
        : members_(std::move(m)), engine_(std::move(e)), split_(std::move(split)) {}
    void perform(const operation& o, std::int64_t number, void* data, std::int64_t n) override {
        members_->progress(o.step, name_of(o.what));
        try {
            engine_->perform(o, number, data, n);
        } catch (const wire::lost_connection& e) {
            // Why it ended is often known to the process_group, or soon will be.
            pollfd failed{members_->group().failed_descriptor(), POLLIN, 0};
            io::uninterrupted([&] { return ::poll(&failed, 1, 1000); });
            members_->check();
            throw named(e, o);
        } catch (const cluster_error& e) {
            members_->check();
            throw named(e, o);
        }
    }

    std::unique_ptr<engine> split(communicator& all, const group_of_members& g,
                                  const std::shared_ptr<membership>& these) override {
        auto e = split_(all, g, these);
        return e ? std::make_unique<watched_engine>(members_, std::move(e), split_) : nullptr;
    }
    bool on_any_thread() const override { return engine_->on_any_thread(); }
    bool reads_device_memory() const override { return engine_->reads_device_memory(); }

private:
    std::shared_ptr<net_membership> members_;
    std::unique_ptr<engine> engine_;
    split_function split_;

    static cluster_error named(const cluster_error& e, const operation& o) {
        return {e.rank(), e.role(), e.address(), name_of(o), o.step, e.cause()};
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
