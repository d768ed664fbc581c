// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <optional>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/parameter_server/modes.hpp>
#include <sinter/strategy/parameter_server/session.hpp>

namespace sinter::inline SINTER_TARGET {

class cpu_device;

/// How workers and servers go about it.
struct parameter_server_options {
    /// Where workers have their batches from. None said: batches of their own under async, shared
    /// ones otherwise. Workers that share batches make all calls together, as under multi_worker.
    /// Those with batches of their own may come late, leave early, and train at their own pace.
    std::optional<batch_input> input{};
    int pull_every = 1;   ///< async: steps from one pull of the weights to the next
    int push_every = 1;   ///< async: steps whose mean gradient is one push
    bool prefetch =
        false;   ///< async: the next weights are pulled while a step is made, and so lack this step's update
    parameter_servers::row_partition rows =
        parameter_servers::row_partition::mod;   ///< which server has which rows of a table
    /// A folder that all servers see: each saves its part there, every so many steps or seconds,
    /// and a server that is started again goes on from the newest. Empty: none.
    std::string checkpoints{};
    std::int64_t save_every_steps = 0;
    double save_every_seconds = 0;
    int keep = 2;   ///< of these checkpoints; 0: all
    /// A folder for rows of tables that have changed, for those who answer queries with a copy of a
    /// table: every so many global steps, and at the end, each server writes its own
    /// (parameter_servers::read_delta). Empty: none.
    std::string changes{};
    std::int64_t changes_every_steps = 1000;
    /// 2: each server's part is kept by the next server, too, and a step counts once both have it.
    /// When a server dies, the other copy goes on, and nothing is lost; what dies last ends the
    /// job. The chief must live meanwhile.
    int replicas = 1;
    double reconnect_within =
        60;   ///< seconds for which a server that does not answer is dialled again; 0: an error at once
};

/// Workers compute gradients, servers keep weights and update them: `estimator model{net, loss,
/// adam{}, parameter_server<async>{cluster::from_environment()}}`, or parameter_server<stale<3>>,
/// parameter_server<sync<1>>. One program in every role: training calls serve, in a process whose
/// role is ps, until the job is over. Servers run the optimizer; workers have none of its memory.
/// Tables that are looked up stay on the servers: a worker has the rows of its batch.
///
/// steps() counts updates of all workers: under async each worker's push, otherwise one for all. So
/// do max_steps, schedules and checkpoints.
///
/// Making the trainer blocks until all servers are there: cluster_error says who is missing. A
/// step's cluster_error names the server; weights are as the servers have them.
template <auto Mode, class Device = cpu_device, int BucketBytes = 1 << 18>
struct parameter_server {
    static_assert(strategy_parts::server_mode<decltype(strategy_parts::mode_of<Mode>())>,
                  "parameter_server<Mode>: the mode is async, stale<s> or sync<backup>");
    static constexpr auto mode = strategy_parts::mode_of<Mode>();
    using device = Device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced,
                                            .bucket_bytes = BucketBytes,
                                            .updates_here = false,
                                            .remote_tables = true};
    cluster members{};
    parameter_server_options options{};
    typename Device::options device_settings{};

    SINTER_COLD strategy_parts::server_setup setup() const {
        strategy_parts::server_setup s;
        s.members = members;
        s.order = mode.order();
        s.input = options.input.value_or(mode.is_async ? batch_input::per_worker : batch_input::global);
        if (mode.is_async && s.input == batch_input::global)
            throw option_error("workers at their own pace cannot share batches", "parameter_server<async>",
                               "batch_input::global", "batch_input::per_worker, stale<s> or sync<backup>");
        s.order.join = parameter_servers::gradient_join::mean;
        s.order.all_join = s.input == batch_input::global;
        s.pull_every = options.pull_every, s.push_every = options.push_every, s.prefetch = options.prefetch;
        s.rows = options.rows;
        s.connection.reconnect_within = options.reconnect_within;
        s.connection.replicas = s.replicas = options.replicas;
        s.checkpoints = options.checkpoints, s.keep = options.keep;
        s.save_every_steps = options.save_every_steps, s.save_every_seconds = options.save_every_seconds;
        s.changes = options.changes, s.changes_every_steps = options.changes_every_steps;
        if (s.changes_every_steps < 1)
            throw option_error("number of steps", "parameter_server_options::changes_every_steps",
                               to_text({s.changes_every_steps}), "1 or more");
        s.policy = policy();
        return s;
    }
    typename Device::options device_options(int) const { return device_settings; }
    std::uint64_t policy() const {
        const parameter_servers::update_order o = mode.order();
        const bool shared = options.input.value_or(mode.is_async ? batch_input::per_worker : batch_input::global) ==
                            batch_input::global;
        return strategy_parts::number_hash()
            .add(static_cast<int>(o.mode))
            .add(o.staleness)
            .add(o.backup)
            .add(static_cast<int>(shared))
            .add(static_cast<int>(options.rows))
            .add(options.replicas)
            .value();
    }
    template <class Programs, class Optimizer>
    using session = strategy_parts::server_session<Programs, Optimizer>;
};

/// canonical<S>(parameter_server<sync<0>>{...}), or of stale<0>: the bits of single.
template <int S, auto Mode, class Device, int BucketBytes>
struct canonical_strategy<S, parameter_server<Mode, Device, BucketBytes>> {
    using servers = parameter_server<Mode, Device, BucketBytes>;
    static_assert(S > 0 && std::has_single_bit(static_cast<unsigned>(S)),
                  "canonical<S>: the number of shards is a power of two");
    static_assert(servers::mode.in_step && servers::mode.order().backup == 0,
                  "canonical<S>(parameter_server<Mode>): results that are always the same need sync<0> or stale<0>");
    using device = Device;
    static constexpr strategy_traits traits{
        .gradients = gradient_policy::reduced, .updates_here = false, .shards = S, .remote_tables = true};
    servers strategy{};

    SINTER_COLD strategy_parts::server_setup setup() const {
        strategy_parts::server_setup s = strategy.setup();
        const int workers = s.members.size();
        if (S % workers || !std::has_single_bit(static_cast<unsigned>(workers)))
            throw option_error("shards cannot be divided among the workers", to_text({"canonical<", S, ">"}),
                               to_text({workers, " workers"}), to_text({"1, 2, 4... up to ", S}));
        if (s.input != batch_input::global)
            throw option_error("workers with batches of their own", "canonical<S>(parameter_server)",
                               "batch_input::per_worker", "batch_input::global");
        s.shards = S / workers;
        s.canonical = true;
        s.order.order = parameter_servers::sum_order::tree;
        s.order.join = parameter_servers::gradient_join::sum;
        s.policy = strategy_parts::number_hash().add(s.policy).add(S).value();
        return s;
    }
    typename device::options device_options(int i) const { return strategy.device_options(i); }
    template <class Programs, class Optimizer>
    using session = strategy_parts::server_session<Programs, Optimizer>;
};

}   // namespace sinter::inline SINTER_TARGET
