// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/elastic/session.hpp>
#include <sinter/strategy/multi_worker.hpp>
#include <sinter/strategy/sharded_update.hpp>

namespace sinter::inline SINTER_ORDINARY {
struct mpi;             // collective/mpi.hpp
struct nccl;            // collective/nccl.hpp
struct shared_memory;   // collective/shared_memory.hpp
} // namespace sinter
namespace sinter::inline SINTER_TARGET {

namespace strategy_parts {
/// What elastic() knows of the strategy that it is around.
template <class Strategy>
struct elastic_kind {
    static constexpr bool can_be_elastic = false;
    static constexpr int shards = 0;   ///< of a batch, whoever there is; 0: one for each member
    static constexpr other_processes others = other_processes::update_all;
};
template <class Algorithm, class Device, int BucketBytes>
struct elastic_kind<multi_worker<Algorithm, Device, BucketBytes>> {
    static constexpr bool can_be_elastic = true;
    static constexpr int shards = 0;
    static constexpr other_processes others = other_processes::update_all;
    using algorithm = Algorithm;
    static_assert(!std::is_same_v<Algorithm, mpi> && !std::is_same_v<Algorithm, nccl> &&
                      !std::is_same_v<Algorithm, shared_memory>,
                  "elastic(multi_worker<...>): members that change need ring, halving_doubling or automatic");
};
template <int S, class Strategy>
struct elastic_kind<canonical_strategy<S, Strategy>> : elastic_kind<Strategy> {
    static constexpr int shards = S;
};
template <class Strategy>
struct elastic_kind<sharded_update_strategy<Strategy>> : elastic_kind<Strategy> {
    static constexpr other_processes others = other_processes::update_copied_parts;
};
/// The multi_worker within.
template <class Strategy>
constexpr auto& workers_of(Strategy& s) {
    if constexpr (requires { s.members; }) return s;
    else return workers_of(s.strategy);
}
} // namespace strategy_parts

/// What elastic(strategy) gives.
template <class Strategy>
struct elastic_strategy {
    using kind = strategy_parts::elastic_kind<Strategy>;
    static_assert(kind::can_be_elastic, "elastic(strategy): the strategy is multi_worker<...>, canonical<S> around "
                                        "one, or sharded_update around either");
    static constexpr bool changes_members = true;
    using device = typename Strategy::device;
    static_assert(kind::others != strategy_parts::other_processes::update_copied_parts || device::shares_memory,
                  "elastic(sharded_update(...)): members that may die are processors; this device has memory of its "
                  "own");
    static constexpr strategy_traits traits = Strategy::traits;
    Strategy strategy{};

    /// Without the others: job() meets them.
    strategy_parts::synchronous_setup setup(const strategy_parts::program_identity& i) const {
        if (!is_on()) return strategy.setup(i);
        strategy_parts::synchronous_setup s{
            .workers = 1, .input = workers().options.input, .states = workers().options.states};
        if (kind::shards > 0 && s.input == batch_input::per_worker)
            throw option_error("canonical<S> of members that change is for batches that all share",
                               "multi_worker_options::input", "per_worker", "global");
        s.in_tree_order = kind::shards > 0;
        s.in_job = place_in_job::of(workers().members);
        return s;
    }
    /// Null where this process does not train, or members stay the same.
    SINTER_COLD std::unique_ptr<collective::elastic_job> job(const strategy_parts::program_identity& i) const {
        const cluster& who = workers().members;
        if (!is_on() || evaluates()) return nullptr;
        if (who.rank() < 0)
            throw option_error("elastic(multi_worker) is for processes that train", "cluster", who.self().name(),
                               "a chief, a worker or an evaluator");
        if (who.options.spares < 0 || who.options.spares >= who.size())
            throw option_error("number of spares", "cluster_options::spares", to_text({who.options.spares}),
                               to_text({"0 to ", who.size() - 1, ", fewer than there are tasks that train"}));
        return std::make_unique<collective::elastic_job>(who, wire::identity{i.model, i.layout, i.policy},
                                                         &kind::algorithm::connect, who.size() - who.options.spares);
    }
    std::int64_t check_sums_every() const { return workers().options.check_sums_every; }
    typename device::options device_options(int) const { return workers().device_settings; }
    std::uint64_t policy() const {
        return strategy_parts::number_hash().add(strategy.policy()).text("elastic").value();
    }
    template <class Programs>
    using session = strategy_parts::elastic_session<Programs, kind::shards, kind::others>;

private:
    auto& workers() const { return strategy_parts::workers_of(strategy); }
    bool is_on() const { return workers().members.options.elastic; }
    bool evaluates() const { return workers().members.self().role == cluster_role::evaluator; }
};

/// A job whose members may die and come again:
/// elastic(multi_worker<ring>{cluster::from_environment()}). Those that are left repeat the step
/// that was interrupted, without the dead: the global batch is cut anew, and the gradient is its
/// mean as before. A process that is started again by the same command joins behind a step, and is
/// given all that a checkpoint has by those that train. Where half of the members or more end at
/// once (or half with the chief is not left) the job ends, as others do.
/// `elastic(canonical<4>(multi_worker<ring>{...}))` has the same bits whoever lives and dies.
/// `elastic(sharded_update(...))`, around either, divides the optimizer's memory among members:
/// each part is kept by two of them. The job ends where both die at the same time.
/// doc/elastic.md says more. `on`: false makes it the strategy that it is around; a process
/// alone is that, too.
///
/// All tasks must be reachable by TCP and by UDP at the same port. Where a launcher gives the
/// address of rank 0 alone (torchrun's variables), all meet there first, and send each other theirs:
/// a process that is started again by itself then cannot join, but on one machine's loopback device,
/// where each has the port of its rank above rank 0's. The last `cluster_options::spares` tasks wait
/// until they are needed.
template <class Strategy>
elastic_strategy<Strategy> elastic(Strategy s, bool on = true) {
    if constexpr (strategy_parts::elastic_kind<Strategy>::can_be_elastic) {
        cluster& members = strategy_parts::workers_of(s).members;
        members.options.elastic = on && members.size() > 1;
        if (!members.options.elastic) members.options.spares = 0;
    }
    return {s};
}

} // namespace sinter
