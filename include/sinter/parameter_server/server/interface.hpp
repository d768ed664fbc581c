// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/identity.hpp>
#include <sinter/net/rate_limited_log.hpp>
#include <sinter/net/handshake_limits.hpp>
#include <sinter/parameter_server/counters.hpp>
#include <sinter/parameter_server/shard_files.hpp>
#include <sinter/parameter_server/table_changes.hpp>
#include <sinter/parameter_server/update_order.hpp>
#include <sinter/parameter_server/updater.hpp>
#include <functional>
#include <memory>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The shard of the server before this one, of which this one has the second copy.
struct other_shard {
    shard_layout layout;
    std::unique_ptr<updater> update;
    std::function<void(int table, std::int64_t row, float* to)> first_row;
};

/// How a server updates, saves, and watches its workers.
struct server_options {
    update_order order;
    std::shared_ptr<shard_files> files;          ///< null: no checkpoints
    /// 0: only where asked. By clocks all servers save at the same one; else several servers each
    /// save at a step of their own what server 0 has named, "step-N".
    std::int64_t save_every_steps = 0;
    double save_every_seconds = 0;               ///< several servers save together, when server 0 says so
    /// Is given the rows that have changed, by table, every `changes_every_steps` global steps and
    /// at the end, by a thread of the server's. What it throws becomes a line of `log`; the next
    /// call has those rows again.
    std::function<void(int shard, span<table_changes>)> changes;
    std::int64_t changes_every_steps = 1000;
    /// The values that a row of a table begins with; null: zeros. `row`: local, or its key.
    std::function<void(int table, std::int64_t row, float* to)> first_row;
    int parameters = 0;   ///< how many the model has (run::tensor), for norms of all gradients; 0: as the layout
    /// Called from time to time by a thread of the server's, and at the end: workers by rank,
    /// tables as the layout has them.
    std::function<void(std::int64_t global_step, span<const worker_counters>, span<const row_counts>)> report;
    double report_every = 1;                     ///< seconds
    /// Whether this process has been asked to end, say by a signal; null: nobody asks. Looked at a
    /// few times a second. Workers are notified and stop, all after one step where they share batches;
    /// then this server ends.
    std::function<bool()> asked_to_end;
    int phases = 1;   ///< losses that alternate, each with updates of its own (run::phase)
    wire::rate_limited_log::sink log;                    ///< lines about unknown peers and bad requests; none: stderr
    wire::handshake_limits strangers;
    /// 2: each shard is kept by two servers, and whatever is answered is with both. Needs `other`,
    /// and in place of `files` a function: a copy that comes to lead takes over who writes.
    int replicas = 1;
    std::shared_ptr<other_shard> other;
    std::function<std::shared_ptr<shard_files>(int shard)> files_of;
    /// Files in a folder that the chief names, for a checkpoint of the whole job; none: it is refused.
    std::function<std::shared_ptr<shard_files>(int shard, const std::string& folder)> files_in;
};

/// A parameter server: the work of a process whose role is ps. It keeps floats and updates them as
/// its workers' pushes say; it knows no net.
class server {
public:
    /// The optimizer's scalars at a global step, `rate` being the push's factor on the learning
    /// rate.
    using scalars_function = std::function<void(std::int64_t step, float rate, float* to)>;

    /// Listens from now on. Throws option_error for options that make no sense, cluster_error where
    /// the address of this task cannot be used.
    SINTER_APART server(const cluster&, const wire::identity&, shard_layout, std::unique_ptr<updater>, scalars_function,
                        server_options = {});
    SINTER_APART ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /// Serves until all workers have left. Throws cluster_error: all are gone and none has left, or
    /// what went wrong here.
    SINTER_APART void run();
    /// Makes run() return soon; any thread.
    SINTER_APART void stop() noexcept;

    SINTER_APART std::int64_t global_step() const;
    SINTER_APART std::vector<worker_counters> counters() const;   ///< by rank

    struct engine;

private:
    std::unique_ptr<engine> engine_;
};

} // namespace sinter::parameter_servers
