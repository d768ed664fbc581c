// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <net/processes.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <sinter/parameter_server/client.hpp>
#include <sinter/parameter_server/row_index.hpp>
#include <sinter/parameter_server/server.hpp>
#include <memory>
#include <mutex>

/// Jobs with parameter servers for tests: servers and workers are threads of one process, or processes.
namespace sinter::ps_test {

/// p -= rate * g. Slot 0 (if there is one) counts the updates of each float.
class plain_sgd : public parameter_servers::updater {
public:
    explicit plain_sgd(int slots = 0) : slots_(slots) {}
    int scalars() const override { return 1; }
    int slots(int) const override { return slots_; }
    void first_slot(int, int, float* to, const float*, std::int64_t n) const override { std::fill_n(to, n, 0.f); }
    parameter_servers::norm_need needs() const override { return parameter_servers::norm_need::none; }
    void update(int, float* p, const float* g, float* slots, std::int64_t, std::int64_t n, const float* s,
                float) const override {
        for (std::int64_t i = 0; i < n; ++i) p[i] -= s[0] * g[i];
        if (slots_ > 0)
            for (std::int64_t i = 0; i < n; ++i) slots[i] += 1;
    }
    void update_rows(int, float* table, float* slots, std::int64_t, const row_list& g, const float* s,
                     float) const override {
        for (int k = 0; k < g.size(); ++k)
            for (int i = 0; i < g.row_floats; ++i) {
                const std::int64_t at = std::int64_t{g.key(k)} * g.row_floats + i;
                table[at] -= s[0] * g.row(k)[i];
                if (slots_ > 0) slots[at] += 1;
            }
    }

private:
    int slots_;
};

inline parameter_servers::shard_layout dense_layout(std::int64_t floats) {
    parameter_servers::shard_layout l;
    l.floats = floats;
    if (floats > 0) l.runs.push_back({0, floats, 0, -1});
    return l;
}

/// Addresses and layouts of a job, and its members in whatever thread or process asks for them.
struct job {
    job(int workers, int servers, parameter_servers::shard_layout each, cluster_options o = quick())
        : job(workers, std::vector<parameter_servers::shard_layout>(static_cast<std::size_t>(servers), each), o) {}
    job(int workers, std::vector<parameter_servers::shard_layout> l, cluster_options o = quick())
        : layouts(std::move(l)), options(o) {
        const int n = workers + static_cast<int>(layouts.size());
        const auto addresses = own_addresses(n);
        for (int i = 0; i < n; ++i) {
            const auto at = wire::parse_address(addresses[static_cast<std::size_t>(i)], "test");
            members.push_back({i < workers ? cluster_role::worker : cluster_role::ps, i < workers ? i : i - workers,
                               at.host, at.port});
        }
        same.layout = parameter_servers::hash_of(layouts);
    }
    cluster as(cluster_role role, int index) const { return cluster(members, role, index, options); }
    std::unique_ptr<parameter_servers::server> server(int i, parameter_servers::server_options o, float rate = 1,
                                                      int slots = 0) const {
        return std::make_unique<parameter_servers::server>(
            as(cluster_role::ps, i), same, layouts[static_cast<std::size_t>(i)], std::make_unique<plain_sgd>(slots),
            [rate](std::int64_t, float factor, float* to) { to[0] = rate * factor; }, std::move(o));
    }
    std::unique_ptr<parameter_servers::client> client(int worker, parameter_servers::client_options o = {}) const {
        return std::make_unique<parameter_servers::client>(as(cluster_role::worker, worker), same, layouts, o);
    }
    std::vector<cluster_member> members;
    std::vector<parameter_servers::shard_layout> layouts;
    wire::identity same{1, 2, 3};
    cluster_options options;
};

/// For threads beside each other, where BOOST_TEST must not be used: what does not hold comes out of threads::join().
inline void need(bool holds, const char* what) {
    if (!holds) throw error("does not hold", what);
}
#define SINTER_NEED(...) ::sinter::ps_test::need(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__)

/// Threads that hand back what they threw.
class threads {
public:
    ~threads() { join(); }
    template <class F>
    void start(F f) {
        const std::size_t i = faults_.size();
        faults_.push_back(std::make_unique<std::string>());
        threads_.push_back(base::posix_thread([f = std::move(f), to = faults_[i].get()]() mutable {
            try {
                f();
            } catch (const std::exception& e) {
                *to = e.what();
            }
        }));
    }
    /// What they threw, one line each; empty: nothing.
    std::string join() {
        for (auto& t : threads_)
            if (t.joinable()) t.join();
        std::string all;
        for (const auto& f : faults_)
            if (!f->empty()) all += *f + "\n";
        return all;
    }

private:
    std::vector<base::posix_thread> threads_;
    std::vector<std::unique_ptr<std::string>> faults_;
};

/// Waits for threads first, and looks then: BOOST_TEST notes where it is before it evaluates.
template <class Threads>
void no_fault_of(Threads& t) {
    const std::string faults = t.join();
    BOOST_TEST(faults == "");
}

/// Servers of a job, each in a thread.
class running_servers {
public:
    running_servers(const job& j, parameter_servers::server_options o, float rate = 1, int slots = 0) {
        for (std::size_t i = 0; i < j.layouts.size(); ++i)
            servers.push_back(j.server(static_cast<int>(i), o, rate, slots));
        for (auto& s : servers) threads_.start([&s] { s->run(); });
    }
    ~running_servers() {
        for (auto& s : servers) s->stop();
        threads_.join();
    }
    /// Waits for their end.
    std::string join() { return threads_.join(); }
    std::vector<std::unique_ptr<parameter_servers::server>> servers;

private:
    threads threads_;
};

} // namespace sinter::ps_test
