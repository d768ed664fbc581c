// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <csignal>
#include <sinter/distributed.hpp>
#include <thread>
#include <unistd.h>

/// A ring that kills its process, or loses touch with the others, at a given place of a step.
namespace sinter::test {

enum class fault_place { before, within, after, lost_after };   ///< of an operation; the last: as if it had failed then

/// What is to happen at the `number`-th operation of a kind from now on; number -1: nothing.
struct planned_fault {
    collective::kind what = collective::kind::barrier;
    int number = -1;
    fault_place where = fault_place::before;
    int microseconds = 0;   ///< from its beginning, `within`
};
inline planned_fault next_fault;

class faulty_communicator final : public collective::communicator {
public:
    explicit faulty_communicator(std::unique_ptr<communicator> c) : c_(std::move(c)) {}
    int rank() const override { return c_->rank(); }
    int size() const override { return c_->size(); }
    collective::ticket start(const collective::operation& o, void* data, std::int64_t n, bool more) override {
        const bool here = o.what == next_fault.what && next_fault.number >= 0 && next_fault.number-- == 0;
        if (here && next_fault.where == fault_place::before) ::raise(SIGKILL);
        if (here && next_fault.where == fault_place::within)
            std::thread([t = next_fault.microseconds] {
                ::usleep(static_cast<useconds_t>(t));
                ::raise(SIGKILL);
            }).detach();
        const collective::ticket t = c_->start(o, data, n, more);
        if (here) at_ = t;
        return t;
    }
    void wait(collective::ticket t) override {
        c_->wait(t);
        if (t != at_) return;
        at_ = -1;
        if (next_fault.where == fault_place::after) ::raise(SIGKILL);
        if (next_fault.where == fault_place::lost_after)
            throw cluster_error(-1, "", "", "a test", 0, "what has come was not understood");
    }
    void check() override { c_->check(); }
    void fail(std::string_view cause) noexcept override { c_->fail(cause); }
    void progress(std::int64_t step, const char* what) override { c_->progress(step, what); }
    void report(std::int64_t step, double loss) override { c_->report(step, loss); }
    void ask_all_to_stop(const char* reason) override { c_->ask_all_to_stop(reason); }
    bool asked_to_stop() const override { return c_->asked_to_stop(); }

private:
    std::unique_ptr<communicator> c_;
    collective::ticket at_ = -1;
};

/// Groups of members that this process will try in vain to connect with.
inline int groups_out_of_reach = 0;

struct faulty_ring {
    static std::unique_ptr<collective::communicator> connect(const cluster& c, const wire::identity& i) {
        if (groups_out_of_reach > 0 && c.options.job.find("/epoch ") != std::string::npos) {
            --groups_out_of_reach;
            throw cluster_error(-1, "", "", "a test", 0, "the others cannot be reached");
        }
        return std::make_unique<faulty_communicator>(ring::connect(c, i));
    }
};

} // namespace sinter::test
