// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <csignal>
#include <new>
#include <sinter/base/cluster_error.hpp>
#include <sinter/collective/forwarding_communicator.hpp>
#include <sinter/distributed.hpp>
#include <thread>
#include <unistd.h>

/// A ring that kills its process, or loses touch with the others, at a given place of a step.
namespace sinter::test {

/// Of an operation; lost_after: as if it had failed then; no_memory: this member lacks what it begins with.
enum class fault_place { before, within, after, lost_after, no_memory };

/// What is to happen at the `number`-th operation of a kind from now on; number -1: nothing.
struct planned_fault {
    collective::kind what = collective::kind::barrier;
    int number = -1;
    fault_place where = fault_place::before;
    int microseconds = 0;   ///< from its beginning, `within`
};
inline planned_fault next_fault;
/// Once this process is to be killed `within` an operation: how many more it may begin. It would else be many steps
/// further, and another one dying, where the thread that kills it comes late.
inline int operations_left = -1;

class faulty_communicator final : public collective::forwarding_communicator {
public:
    using forwarding_communicator::forwarding_communicator;
    collective::ticket start(const collective::operation& o, void* data, std::int64_t n, bool more) override {
        if (operations_left == 0)
            for (;;) ::pause();
        if (operations_left > 0) --operations_left;
        const bool here = o.what == next_fault.what && next_fault.number >= 0 && next_fault.number-- == 0;
        if (here && next_fault.where == fault_place::before) ::raise(SIGKILL);
        if (here && next_fault.where == fault_place::no_memory) throw std::bad_alloc();
        if (here && next_fault.where == fault_place::within) {
            operations_left = 3;
            std::thread([t = next_fault.microseconds] {
                ::usleep(static_cast<useconds_t>(t));
                ::raise(SIGKILL);
            }).detach();
        }
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

private:
    collective::ticket at_ = -1;
};

/// Groups of members that this process will try in vain to connect with.
inline int groups_out_of_reach = 0;
/// A worker that this process cannot connect with from the second group on; -1: nobody.
inline int worker_out_of_reach = -1;

struct faulty_ring {
    static std::unique_ptr<collective::communicator> connect(const cluster& c, const wire::identity& i) {
        if (groups_out_of_reach > 0 && c.options.job.find("/epoch ") != std::string::npos) {
            --groups_out_of_reach;
            throw cluster_error(-1, "", "", "a test", 0, "the others cannot be reached");
        }
        if (!c.options.job.ends_with("/epoch 1"))
            for (int r = 0; r < c.size(); ++r)
                if (c.member(r).index == worker_out_of_reach)
                    throw cluster_error(r, c.member(r).name(), "", "a test", 0, "it cannot be reached");
        return std::make_unique<faulty_communicator>(ring::connect(c, i));
    }
};

} // namespace sinter::test
