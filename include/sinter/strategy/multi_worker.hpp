// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/checked_communicator.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/identity.hpp>
#include <sinter/strategy/synchronous/session.hpp>

namespace sinter::inline SINTER_TARGET {

class cpu_device;

/// How the processes of a job train together.
struct multi_worker_options {
    batch_input input = batch_input::global;          ///< where each has its batches from
    state_policy states = state_policy::per_shard;    ///< what becomes of batch_norm's running statistics
    /// Sums of gradients are checked in one step of so many (collective/checked_communicator.hpp);
    /// 0: in none.
    std::int64_t check_sums_every = 0;
};

/// What sends: `Algorithm::connect(cluster, identity)` meets the other processes, and refuses those
/// of another identity. ring, halving_doubling, mpi... (sinter/distributed.hpp) are such.
template <class A>
concept collective_algorithm = requires(const cluster& c, const wire::identity& i) {
    { A::connect(c, i) } -> std::convertible_to<std::unique_ptr<collective::communicator>>;
};

/// The processes of a cluster, each with a part of every batch: `estimator model{net, loss, adam{},
/// multi_worker<ring>{cluster::from_environment()}}`. What max_batch<B> says is the size of one
/// process's part. Gradients are sent in buckets of about `BucketBytes` as soon as they are final,
/// while the rest are made. All processes make the same calls.
///
/// Making the trainer blocks until all are there: cluster_error says who is missing. cluster_error
/// out of a step is the same on all; no weight has changed then.
template <class Algorithm, class Device = cpu_device, int BucketBytes = 1 << 18>
struct multi_worker {
    static_assert(collective_algorithm<Algorithm>,
                  "multi_worker<Algorithm>: no algorithm, or its header is missing: sinter/distributed.hpp has ring, "
                  "halving_doubling, hierarchical, automatic; sinter/collective/mpi.hpp has mpi");
    using device = Device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced, .bucket_bytes = BucketBytes};
    cluster members{};
    multi_worker_options options{};
    typename Device::options device_settings{};

    /// The evaluator connects to nobody. Throws option_error on a parameter server, which trains
    /// nothing.
    SINTER_COLD strategy_parts::synchronous_setup setup(const strategy_parts::program_identity& i) const {
        strategy_parts::synchronous_setup s{.workers = 1, .input = options.input, .states = options.states};
        s.in_job = place_in_job::of(members);
        if (!s.in_job.evaluates && members.rank() < 0)
            throw option_error("multi_worker is for processes that train", "cluster", members.self().name(),
                               "a chief, a worker or an evaluator");
        if (members.options.elastic || members.options.spares > 0)
            throw option_error("an elastic job's strategy says so when it is compiled", "multi_worker",
                               "cluster_options::elastic", "elastic(multi_worker<...>{...}) (sinter/elastic.hpp)");
        if (options.check_sums_every < 0)
            throw option_error("number of steps", "multi_worker_options::check_sums_every",
                               std::to_string(options.check_sums_every), "0 or more");
        if (s.in_job.evaluates) return s;
        if constexpr (requires(const Device& d) { d.enter(); }) {   // what reads its memory asks which is current
            const Device d(device_settings);
            [[maybe_unused]] const auto here = d.enter();
            s.members = Algorithm::connect(members, {i.model, i.layout, i.policy});
        } else {
            s.members = Algorithm::connect(members, {i.model, i.layout, i.policy});
        }
        s.members = collective::checked(std::move(s.members), options.check_sums_every);
        return s;
    }
    typename Device::options device_options(int) const { return device_settings; }
    std::uint64_t policy() const {
        return strategy_parts::number_hash()
            .add(static_cast<int>(options.input))
            .add(static_cast<int>(options.states))
            .add(options.check_sums_every)
            .value();
    }
    template <class Programs>
    using session = strategy_parts::synchronous_session<Programs>;
};

} // namespace sinter
