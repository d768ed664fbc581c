// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "../../net/processes.hpp"
#include <sinter/base/hash.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/pipeline.hpp>

/// Jobs of real processes for tests of parameter servers: workers first, then servers.
namespace sinter {

class server_job {
public:
    server_job(int workers, int servers, double dead_after = 2) : workers_(workers), servers_(servers) {
        const std::vector<std::string> a = own_addresses(workers + servers);
        for (int i = 0; i < workers + servers; ++i) {
            const auto [host, port] = wire::parse_address(a[static_cast<std::size_t>(i)], "a test");
            const bool worker = i < workers;
            members_.push_back(
                {worker ? cluster_role::worker : cluster_role::ps, worker ? i : i - workers, host, port});
        }
        options_ = quick(dead_after);
        options_.join_within = 20;
    }
    /// Starts process i, which runs f(its cluster) `after` seconds from now; what it answers is result(i).
    void start(int i, const std::function<std::string(const cluster&)>& f, double after = 0) {
        const cluster_member self = members_[static_cast<std::size_t>(i)];
        number_[static_cast<std::size_t>(i)] =
            all_.start([this, self, f] { return f(cluster(members_, self.role, self.index, options_)); }, after);
    }
    void start_all(const std::function<std::string(const cluster&)>& f) {
        for (int i = 0; i < workers_ + servers_; ++i) start(i, f);
    }
    std::string result(int i, double within = 60) { return all_.result(number_[static_cast<std::size_t>(i)], within); }
    /// Whether process i is over: it must not have another signal.
    bool ended(int i) { return all_.ended(number_[static_cast<std::size_t>(i)]); }
    void signal(int i, int s) { all_.signal(number_[static_cast<std::size_t>(i)], s); }
    /// Kills process i once `done` is set, and sets `lost` when it is gone; returns its result.
    std::string kill_once(const shared_flag& done, int i, const shared_flag& lost) {
        done.wait();
        signal(i, SIGKILL);
        const std::string end = result(i);
        lost.set();
        return end;
    }
    cluster_options& options() { return options_; }   ///< of processes that are started from now on
    int workers() const { return workers_; }
    int size() const { return workers_ + servers_; }

private:
    int workers_, servers_;
    std::vector<cluster_member> members_;
    cluster_options options_;
    processes all_;
    int number_[32] = {};
};

inline std::string hash_text(std::span<const std::byte> bytes) {
    return to_text({base::fnv1a({reinterpret_cast<const char*>(bytes.data()), bytes.size()})});
}
/// Of the file that a trainer or an estimator saves.
std::string hash_of_file(auto& model) { return hash_text(save_to_memory(model)); }

}   // namespace sinter
