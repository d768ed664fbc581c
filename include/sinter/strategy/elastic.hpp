// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/elastic/session.hpp>
#include <sinter/strategy/multi_worker.hpp>

namespace sinter::inline SINTER_TARGET {

struct mpi;
struct nccl;
struct shared_memory;

/// What elastic(multi_worker<...>{...}) gives.
template <class Strategy>
struct elastic_strategy {
    static_assert(sizeof(Strategy) == 0, "elastic(strategy): the strategy is multi_worker<...>; canonical and "
                                         "sharded_update need all their members");
    Strategy strategy{};
};
template <class Algorithm, class Device, int BucketBytes>
struct elastic_strategy<multi_worker<Algorithm, Device, BucketBytes>> {
    using strategy_type = multi_worker<Algorithm, Device, BucketBytes>;
    static_assert(!std::is_same_v<Algorithm, mpi> && !std::is_same_v<Algorithm, nccl> &&
                      !std::is_same_v<Algorithm, shared_memory>,
                  "elastic(multi_worker<...>): members that change need ring, halving_doubling or automatic");
    using device = Device;
    static constexpr strategy_traits traits = strategy_type::traits;
    strategy_type strategy{};

    /// Without the others: job() meets them.
    synchronous_setup setup(const program_identity& i) const {
        if (!is_on()) return strategy.setup(i);
        synchronous_setup s{.workers = 1, .input = strategy.options.input, .states = strategy.options.states};
        s.evaluates = evaluates();
        s.has_evaluator = strategy.members.evaluator() != nullptr;
        return s;
    }
    /// Null where this process does not train, or members stay the same.
    SINTER_COLD std::unique_ptr<collective::elastic_job> job(const program_identity& i) const {
        const cluster& who = strategy.members;
        if (!is_on() || evaluates()) return nullptr;
        if (who.rank() < 0)
            throw option_error("elastic(multi_worker) is for processes that train", "cluster", who.self().name(),
                               "a chief, a worker or an evaluator");
        if (who.options.spares < 0 || who.options.spares >= who.size())
            throw option_error("number of spares", "cluster_options::spares", joined({who.options.spares}),
                               joined({"0 to ", who.size() - 1, ", fewer than there are tasks that train"}));
        return std::make_unique<collective::elastic_job>(who, wire::identity{i.model, i.layout, i.policy},
                                                         &Algorithm::connect, who.size() - who.options.spares);
    }
    std::int64_t check_sums_every() const { return strategy.options.check_sums_every; }
    typename Device::options device_options(int) const { return strategy.device_settings; }
    std::uint64_t policy() const { return detail::number_hash().add(strategy.policy()).text("elastic").value(); }
    template <class Programs>
    using session = elastic_session<Programs>;

private:
    bool is_on() const { return strategy.members.options.elastic; }
    bool evaluates() const { return strategy.members.self().role == cluster_role::evaluator; }
};

/// A job whose members may die and come again: elastic(multi_worker<ring>{cluster::from_environment()}).
/// Those that are left repeat the step that was interrupted, without the dead: the global batch is cut
/// anew, and the gradient is its mean as before. A process that is started again by the same command
/// joins behind a step, and is given all that a checkpoint has by those that train. Where half of the
/// members or more end at once (or half with the chief is not left) the job ends, as others do.
/// doc/distributed.md says more. `on`: false makes it the strategy that it is around.
///
/// All tasks' addresses must be known, and reachable by TCP and by UDP at the same port. The last
/// `cluster_options::spares` tasks wait until they are needed.
template <class Strategy>
elastic_strategy<Strategy> elastic(Strategy s, bool on = true) {
    if constexpr (requires { s.members.options.elastic; }) {
        s.members.options.elastic = on;
        if (!on) s.members.options.spares = 0;
    }
    return {s};
}

} // namespace sinter
