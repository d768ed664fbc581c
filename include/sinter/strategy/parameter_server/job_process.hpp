// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/compiler/schedules_of.hpp>
#include <sinter/net/progress_report.hpp>
#include <sinter/parameter_server/shard_checkpoint.hpp>
#include <sinter/strategy/parameter_server/changes_files.hpp>
#include <sinter/strategy/parameter_server/host_parameters.hpp>
#include <sinter/strategy/parameter_server/places_of_program.hpp>
#include <sinter/strategy/parameter_server/reports.hpp>
#include <sinter/strategy/parameter_server/server_setup.hpp>
#include <sinter/strategy/parameter_server/worker_tables.hpp>
#include <sinter/strategy/program_identity.hpp>
#include <sinter/strategy/synchronous/replica_set.hpp>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// A process of a job with servers, in every role: what it is and has, and the work of a server.
template <class Programs, class Optimizer>
class job_process {
public:
    using set = replica_set<Programs>;
    using unit = typename set::unit;
    template <int I>
    using training = typename set::template training<I>;
    using P = training<0>;
    using all_training = std::make_integer_sequence<int, Programs::n_training>;
    template <int... I>
    static auto tables_of(std::integer_sequence<int, I...>) -> strategy_parts::worker_tables<training<I>...>;
    using worker_tables = decltype(tables_of(all_training{}));
    static constexpr int phases = Programs::n_training;   ///< losses that alternate
    template <int I>
    static constexpr bool sums = reduction_of<typename training<I>::request::loss>() == reduction::sum;
    static constexpr bool takes_norm = detail::update_of<Optimizer>::make().needs_norm();
    static constexpr std::int64_t n_states = P::v.floats(compiler::space::state);

    /// `devices(i)`: the options of shard i's device.
    template <class Devices>
    SINTER_COLD job_process(server_setup s, Devices devices, int threads)
        : setup(std::move(s)),
          replicas(has_model() ? setup.shards : 0, 1, threads ? threads : base::usable_cores(), false, devices),
          parameters(replicas),
          places(places_of(std::max(1, static_cast<int>(setup.members.servers().size())),
                           setup.order.mode == parameter_servers::update_mode::clocks, setup.rows, all_training{})),
          tables(places, setup.shards, setup.push_every, !set::shared), in_job_(place_in_job::of(setup.members)) {
        check();
        if (trains())
            link = std::make_unique<strategy_parts::server_link>(setup.members, identity(), places, setup.connection);
    }
    job_process(const job_process&) = delete;
    job_process& operator=(const job_process&) = delete;
    /// The link goes first: of a step that has thrown, rows and gradients may be on their way.
    SINTER_COLD ~job_process() { link.reset(); }

    const server_setup setup;
    set replicas;
    host_parameters<Programs> parameters;
    const strategy_parts::server_places places;
    worker_tables tables;
    std::unique_ptr<wire::progress_report> report = std::make_unique<wire::progress_report>();
    std::unique_ptr<strategy_parts::server_link> link;   ///< null but in a worker

    // ---- roles
    const place_in_job& in_job() const { return in_job_; }
    bool trains() const { return role() <= cluster_role::worker; }
    bool clocks() const { return setup.order.mode == parameter_servers::update_mode::clocks; }
    bool serves() const { return role() == cluster_role::ps; }   ///< this process keeps weights, and trains nothing
    bool independent() const { return setup.input == batch_input::per_worker || !trains(); }
    /// Whether files are of one moment: others do not go on while the chief saves.
    bool saves_one_moment() const { return setup.input == batch_input::global; }
    membership member() const {
        if (serves()) return {-1, setup.members.size()};
        return trains() ? membership{setup.members.rank(), setup.members.size()} : membership{};
    }
    /// A server's work, until all workers have left: in place of training. Where `asked_to_end`
    /// says so meanwhile it has all workers stop. A second call returns at once.
    SINTER_COLD void serve(const Optimizer& o, bool (*asked_to_end)() = nullptr) {
        if (!serves() || served_) return;
        served_ = true;
        parameter_servers::server_options more;
        more.order = setup.order;
        more.save_every_steps = setup.save_every_steps;
        more.save_every_seconds = setup.save_every_seconds;
        if (!setup.changes.empty() && !places.tables.empty()) {
            more.changes_every_steps = setup.changes_every_steps;
            more.changes = [this, last = std::vector<std::int64_t>(places.shards.size())](
                               int shard, span<parameter_servers::table_changes> all) mutable {
                last[at(shard)] = strategy_parts::write_changes(setup.changes, places, shard, all, last[at(shard)]);
            };
        }
        more.report = [this](std::int64_t step, span<const parameter_servers::worker_counters> workers,
                             span<const parameter_servers::row_counts> rows) {
            if (report->wanted())
                report_server(*report, step, workers, rows, places.shards[at(setup.members.self().index)]);
        };
        if (asked_to_end) more.asked_to_end = asked_to_end;
        more.parameters = P::v.n_parameters;
        more.phases = phases;
        const int self = setup.members.self().index, before = (self + places.servers() - 1) % places.servers();
        const auto first_row_of = [this](int which) {
            return [this, which](int t, std::int64_t row, float* to) { first_row(which, t, row, to); };
        };
        if (setup.replicas == 1 && !setup.checkpoints.empty()) more.files = files(self);
        more.files_in = [this](int which, const std::string& folder) { return files(which, folder, 0); };
        more.first_row = first_row_of(self);
        if ((more.replicas = setup.replicas) == 2) {
            if (!setup.checkpoints.empty()) more.files_of = [this](int which) { return files(which); };
            more.other = std::make_shared<parameter_servers::other_shard>(parameter_servers::other_shard{
                places.shards[at(before)], updater_of(o), first_row_of(before)});
        }
        parameter_servers::server own(setup.members, identity(), places.shards[at(self)],
                            updater_of(o), scalars_of(o), std::move(more));
        own.run();
    }

    /// Whether there are replicas here: a server takes no memory of a device that is not the host's, which its machine
    /// need not have.
    bool has_model() const { return set::shared || !serves(); }
    SINTER_COLD void need_model(const char* call) const {
        if (!has_model())
            throw option_error("a parameter server keeps no replica on a device", call, setup.members.self().name(),
                               "a worker, the chief or the evaluator");
    }
    /// Brings the rows that the prepared batch names to all replicas; from `from`, null: this process's own.
    void pull_rows(server_link* from) {
        tables.pull(from, parameters.data());
        if constexpr (!set::shared)
            for (int t = 0; t < worker_tables::count; ++t)
                parameters.put(tables.table(t).at.offset(), std::int64_t{tables.rows(t)} * tables.table(t).width);
    }
    static std::unique_ptr<parameter_servers::updater> updater_of(const Optimizer& o) {
        return make_updater<P, Optimizer, servers_target<typename Programs::device>>(o);
    }
    SINTER_COLD void need_worker(const char* call) const {
        if (!trains())
            throw option_error("this process does not train", call, setup.members.self().name(),
                               "train(), train_and_evaluate() or a loop over distribute(), which know of roles");
    }

private:
    place_in_job in_job_;
    bool served_ = false;

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    template <int First, int... More>
    static strategy_parts::server_places places_of(int servers, bool whole, parameter_servers::row_partition rows,
                                           std::integer_sequence<int, First, More...>) {
        return places_of_program<P, Optimizer, training<More>...>(servers, whole, rows);
    }
    template <int... I>
    static constexpr bool has_sync_points(std::integer_sequence<int, I...>) {
        return ((training<I>::v.n_sync_points > 0) || ...);
    }
    cluster_role role() const { return setup.members.self().role; }

    SINTER_COLD program_identity identity_of_program() const { return identity_of<Programs>(setup.policy); }
    SINTER_COLD wire::identity identity() const {
        const program_identity i = identity_of_program();
        const std::uint64_t shards = parameter_servers::hash_of({places.shards.data(), places.shards.size()});
        return {i.model, strategy_parts::number_hash().add(i.layout).add(shards).value(), i.policy};
    }
    SINTER_COLD void check() const {
        static_assert(!has_sync_points(all_training{}),
                      "parameter_server: synchronised_batch_norm adds up within a step what all workers have, who do "
                      "not wait for each other: use batch_norm");
        const auto refuse = [](const char* what, const std::string& got, const char* needed) {
            throw option_error(what, "parameter_server", got, needed);
        };
        if (setup.members.servers().empty() && role() != cluster_role::evaluator)
            refuse("the cluster has no parameter server", setup.members.how(),
                   "one or more of role ps: sinter-launch --ps 1");
        setup.order.check(setup.members.size());
        if (role() != cluster_role::evaluator) setup.check_replicas();
        if (setup.pull_every < 1 || setup.push_every < 1)
            refuse("steps between two pulls or pushes", to_text({setup.pull_every, ", ", setup.push_every}),
                   "1 or more");
        if (clocks() && (setup.pull_every > 1 || setup.push_every > 1 || setup.prefetch))
            refuse("older weights than the mode allows", "pull_every, push_every or prefetch",
                   "async, or none of them");
    }
    typename parameter_servers::server::scalars_function scalars_of(const Optimizer& o) const {
        return [first = Optimizer(o)](std::int64_t step, float rate, float* to) {
            Optimizer now = first;
            compiler::each_schedule(now, [&](auto& s) { s.peak *= rate; });
            now.scalars(step, to);
        };
    }
    SINTER_COLD std::shared_ptr<parameter_servers::shard_files> files(int which) const {
        return files(which, setup.checkpoints, setup.keep);
    }
    SINTER_COLD std::shared_ptr<parameter_servers::shard_files> files(int which, const std::string& folder,
                                                                      int keep) const {
        parameter_servers::shard_checkpoint_setup s{folder,
                                          which,
                                          places.servers(),
                                          identity_of_program().layout,
                                          places.dense.pieces[at(which)],
                                          {},
                                          keep};
        for (const strategy_parts::server_places::table& t : places.tables) s.tables.push_back(t.rows);
        return parameter_servers::checkpoints_of(std::move(s));
    }
    void first_row(int which, int t, std::int64_t local, float* to) const {
        const strategy_parts::server_places::table& table = places.tables[at(t)];
        tables.first_row(t, table.hashed ? local : table.rows.row(which, local), to);
    }
};

} // namespace sinter::strategy_parts
