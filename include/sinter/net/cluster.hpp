// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/net/address.hpp>
#include <sinter/net/cluster_options.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

namespace wire { struct environment; }
struct cluster_arguments;

/// What a process does in a job: the chief and the workers train (the chief also writes the
/// files), parameter servers hold weights, the evaluator follows the checkpoints.
enum class cluster_role : std::uint8_t { chief, worker, ps, evaluator };

constexpr const char* text_of(cluster_role role) {
    constexpr const char* names[] = {"chief", "worker", "ps", "evaluator"};
    return names[static_cast<std::size_t>(role)];
}

/// A task of the cluster: its role, its number there, and its address.
struct cluster_member {
    cluster_role role = cluster_role::worker;
    int index = 0;            ///< among those of its role
    std::string host;         ///< empty: not known before the rendezvous
    std::uint16_t port = 0;   ///< 0: likewise
    std::string name() const { return std::string(text_of(role)) + "/" + std::to_string(index); }
    host_port address() const { return {host, port}; }
    bool operator==(const cluster_member&) const = default;
};

/// Who is in a job, and which of them this process is: a value, without connections.
///
/// Those that train have ranks: the chief is 0, the workers follow by index; where there is no
/// chief, the first worker is the chief. Parameter servers and the evaluator have rank -1.
///
/// Some launchers give a process its rank, the number of ranks, and where rank 0 is, but no other
/// addresses: `addresses_known()` is then false, and all meet at `master()` to exchange them.
class cluster {
public:
    /// A job of this process alone.
    cluster() : members_{{cluster_role::worker, 0, "127.0.0.1", 0}}, trainers_(1), self_(0) {}

    /// Those in `members`, in any order, of whom the one of role and index `role`, `index` is this
    /// process. An evaluator need not be listed. `how` says in errors where the list is from.
    /// Throws option_error: an address or a task twice, two chiefs or evaluators, nobody who
    /// trains, a task that is not there.
    SINTER_APART cluster(std::vector<cluster_member> members, cluster_role role, int index, cluster_options = {},
                         std::string how = "a list of members");

    /// Workers at these addresses ("host:port"), of whom this process is `self`.
    SINTER_APART static cluster of(const std::vector<std::string>& addresses, int self, cluster_options = {});

    /// `size` workers, of whom this process is `rank`, and only the address of rank 0 is known. A
    /// master that is not known makes `master()` throw `missing`, for those who need no address.
    SINTER_APART static cluster with_master(int rank, int size, host_port master, cluster_options = {},
                                            std::string missing = {});

    /// What the environment says; the first of these that is complete: TF_CONFIG, RANK and
    /// WORLD_SIZE (or PET_*), OMPI_* and PMIX_*, SLURM_*, JOB_COMPLETION_INDEX; a cluster of one
    /// where none is set. Job and key are SINTER_JOB and SINTER_KEY_FILE (or SINTER_KEY) where the
    /// options do not say them, and the checkpoints' folder is TF_CONFIG's model_dir. What is set in
    /// part is named in `how()` and ignored. Throws option_error where two contradict each other,
    /// where values are malformed, and where SINTER_SIZE is another size. Defined in
    /// net/from_environment.hpp.
    SINTER_APART static cluster from_environment(cluster_options = {});
    SINTER_APART static cluster from_environment(cluster_options, const wire::environment&);

    /// What a program's arguments say, or the environment where they say nothing. Arguments win
    /// over the environment. Defined in net/from_environment.hpp.
    SINTER_APART static cluster from_arguments(const cluster_arguments&, cluster_options = {});
    SINTER_APART static cluster from_arguments(const cluster_arguments&, cluster_options, const wire::environment&);

    int size() const { return trainers_; }   ///< how many train
    int rank() const { return self_ < trainers_ ? self_ : -1; }   ///< this process's; -1: it does not train
    bool is_chief() const { return self_ == 0; }
    const cluster_member& member(int rank) const { return members_.at(checked(rank)); }
    const cluster_member& self() const { return members_[static_cast<std::size_t>(self_)]; }
    std::span<const cluster_member> trainers() const { return all().first(static_cast<std::size_t>(trainers_)); }
    /// Those that train but for a chief of its own.
    std::span<const cluster_member> workers() const { return of_role(cluster_role::worker); }
    std::span<const cluster_member> servers() const { return of_role(cluster_role::ps); }
    /// Null where no evaluator is listed; it may run all the same.
    SINTER_COLD const cluster_member* evaluator() const {
        return members_.back().role == cluster_role::evaluator ? &members_.back() : nullptr;
    }
    /// In the order of ranks, then the servers, then the evaluator.
    std::span<const cluster_member> all() const { return members_; }

    SINTER_APART bool addresses_known() const;
    /// Rank 0's address, where all meet. Throws option_error where it is not known.
    SINTER_APART host_port master() const;
    /// The same cluster with the addresses of all ranks, as they were exchanged at the master.
    SINTER_APART cluster with_addresses(std::span<const host_port> by_rank) const;

    /// In one line: where the cluster was read from, and what was ignored and why.
    const std::string& how() const { return how_; }
    void explain(std::string how) { how_ = std::move(how); }

    cluster_options options;

private:
    SINTER_APART std::size_t checked(int rank) const;
    SINTER_APART std::span<const cluster_member> of_role(cluster_role role) const;
    SINTER_APART void check_members() const;
    SINTER_APART option_error two_tasks(const std::string& address, const cluster_member&, const cluster_member&) const;

    std::vector<cluster_member> members_;   // by role, then index
    int trainers_ = 0;
    int self_ = 0;                          // in members_
    std::string how_ = "a cluster of one";
    std::string missing_;
};

inline constexpr int largest_cluster = 100000;   ///< how many members a roster may name

} // namespace sinter::inline SINTER_ORDINARY

#if SINTER_BODIES
#include <map>
#include <algorithm>

namespace sinter::inline SINTER_ORDINARY {
SINTER_COLD SINTER_APART host_port cluster::master() const {
    if (!members_[0].address().known() && !missing_.empty())
        throw option_error("the address of rank 0 is not known", how_, "", missing_);
    return members_[0].address();
}

SINTER_COLD SINTER_APART cluster cluster::with_addresses(std::span<const host_port> by_rank) const {
    if (by_rank.size() != static_cast<std::size_t>(trainers_))
        throw option_error("one address for each rank is needed", "cluster::with_addresses",
                           std::to_string(by_rank.size()), std::to_string(trainers_));
    cluster c = *this;
    for (std::size_t i = 0; i < by_rank.size(); ++i)
        c.members_[i].host = by_rank[i].host, c.members_[i].port = by_rank[i].port;
    return c;
}

SINTER_COLD SINTER_APART std::size_t cluster::checked(int rank) const {
    if (rank < 0 || rank >= trainers_)
        throw option_error("no such rank", "cluster::member", std::to_string(rank),
                           "0 to " + std::to_string(trainers_ - 1));
    return static_cast<std::size_t>(rank);
}

SINTER_COLD SINTER_APART std::span<const cluster_member> cluster::of_role(cluster_role role) const {
    std::size_t first = 0, end = members_.size();   // loops compile sooner than ranges
    while (first < end && members_[first].role < role) ++first;
    while (end > first && members_[end - 1].role > role) --end;
    return all().subspan(first, end - first);
}

SINTER_COLD SINTER_APART bool cluster::addresses_known() const {
    for (const cluster_member& m : trainers())
        if (!m.address().known()) return false;
    return true;
}

SINTER_COLD SINTER_APART cluster::cluster(std::vector<cluster_member> members, cluster_role role, int index,
                                          cluster_options o, std::string how)
    : options(std::move(o)), members_(std::move(members)), how_(std::move(how)) {
    const auto by_task = [](const cluster_member& m) { return std::pair(m.role, m.index); };
    if (options.chief_is_worker0) {   // worker/0 is dropped, and is the chief's other name
        const auto at = [&](cluster_role r) { return std::ranges::find(members_, std::pair(r, 0), by_task); };
        const auto chief = at(cluster_role::chief), worker0 = at(cluster_role::worker);
        if (chief != members_.end() && worker0 != members_.end() && chief->address() == worker0->address()) {
            members_.erase(worker0);
            if (role == cluster_role::worker && index == 0) role = cluster_role::chief;
        }
    }
    std::vector<int> order(members_.size());   // numbers are sorted rather than members, which compiles sooner
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        return by_task(members_[static_cast<std::size_t>(a)]) < by_task(members_[static_cast<std::size_t>(b)]);
    });
    std::vector<cluster_member> sorted;
    sorted.reserve(order.size());
    for (const int i : order) sorted.push_back(std::move(members_[static_cast<std::size_t>(i)]));
    members_ = std::move(sorted);
    check_members();
    const bool unlisted = role == cluster_role::evaluator && members_.back().role != role && index >= 0;
    if (unlisted) members_.push_back({role, index, "", 0});
    const auto self = std::ranges::find(members_, std::pair(role, index), by_task);
    if (self == members_.end()) {
        const auto n = of_role(role).size();
        throw option_error("this process is not in the cluster", how_,
                           std::string(text_of(role)) + "/" + std::to_string(index),
                           n ? "one of its " + std::to_string(n) + " tasks of that type" : "a type that has tasks");
    }
    self_ = static_cast<int>(self - members_.begin());
    const auto trains = [](const cluster_member& m) { return m.role <= cluster_role::worker; };
    trainers_ = static_cast<int>(std::ranges::count_if(members_, trains));
}

SINTER_COLD SINTER_APART void cluster::check_members() const {
    const auto fault = [&](const char* what, const std::string& got, const char* needed) {
        return option_error(what, how_, got, needed);
    };
    if (members_.empty() || members_.front().role > cluster_role::worker)
        throw fault("nobody in the cluster trains", "no chief and no worker", "a chief or a worker");
    if (members_.size() > largest_cluster)
        throw fault("too many members", std::to_string(members_.size()), "at most 100000");
    if (of_role(cluster_role::chief).size() > 1) throw fault("two chiefs", "chief twice", "at most one chief");
    if (of_role(cluster_role::evaluator).size() > 1)
        throw fault("two evaluators", "evaluator twice", "at most one evaluator");
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const auto& m = members_[i];
        if (m.index < 0) throw fault("a task's index is negative", m.name(), "0 or more");
        if (i && m.role == members_[i - 1].role && m.index == members_[i - 1].index)
            throw fault("a task twice", m.name(), "once");
    }
    std::map<std::string, const cluster_member*> by_address;   // names of hosts know no case
    for (const auto& m : members_) {
        if (!m.address().known()) continue;
        std::string key = text_of(m.address());
        for (char& c : key)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        const auto [other, is_new] = by_address.emplace(std::move(key), &m);
        if (!is_new) throw two_tasks(other->first, *other->second, m);
    }
}

SINTER_COLD SINTER_APART option_error cluster::two_tasks(const std::string& address, const cluster_member& a,
                                                         const cluster_member& b) const {
    const bool one = a.role == cluster_role::chief && b.role == cluster_role::worker && b.index == 0;
    return {"one address for two tasks", how_, address + " for " + a.name() + " and " + b.name(),
            one ? "an address of its own for each; or set cluster_options::chief_is_worker0 if both are one process"
                 : "an address of its own for each"};
}

SINTER_COLD SINTER_APART cluster cluster::of(const std::vector<std::string>& addresses, int self,
                                             cluster_options options) {
    std::vector<cluster_member> members;
    for (const std::string& a : addresses) {
        const int index = static_cast<int>(members.size());
        const auto [host, port] = wire::parse_address(a, "address of worker/" + std::to_string(index));
        members.push_back({cluster_role::worker, index, host, port});
    }
    return cluster(std::move(members), cluster_role::worker, self, std::move(options));
}

SINTER_COLD SINTER_APART cluster cluster::with_master(int rank, int size, host_port master,
                                                      cluster_options options, std::string missing) {
    const std::string where = "a cluster with a master";
    if (size < 1 || size > largest_cluster)
        throw option_error("no valid number of ranks", where, std::to_string(size), "1 to 100000");
    if (rank < 0 || rank >= size)
        throw option_error("no valid rank", where, std::to_string(rank), "0 to " + std::to_string(size - 1));
    std::vector<cluster_member> members(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) members[static_cast<std::size_t>(i)].index = i;
    members[0].host = master.host, members[0].port = master.port;
    cluster c(std::move(members), cluster_role::worker, rank, std::move(options));
    c.missing_ = missing.empty() && !master.known() ? "its host and port" : std::move(missing);
    c.how_ = where;
    return c;
}
} // namespace sinter::inline SINTER_ORDINARY
#endif
