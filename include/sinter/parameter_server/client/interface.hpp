// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/identity.hpp>
#include <sinter/parameter_server/counters.hpp>
#include <sinter/parameter_server/push_info.hpp>
#include <sinter/parameter_server/shard_layout.hpp>
#include <sinter/parameter_server/wrong_number.hpp>
#include <memory>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A worker's calls to the servers.
struct client_options {
    double reconnect_within = 60;   ///< seconds for which a silent server is dialled again; 0: an error at once
    int replicas = 1;               ///< servers that keep each shard: 1 or 2, as the servers say
    bool overlap = true;            ///< a thread sends and receives while the caller computes; false: only wait() does
};

/// Where a server's values go: `values` has all its floats, `states` all its floats of states;
/// null: not wanted.
struct pull_target {
    float* values = nullptr;
    float* states = nullptr;
};

struct request;
/// Names a push or pull that is under way, until wait().
using ticket = std::int64_t;

/// A worker's side of all servers. One thread calls it. What goes wrong for good is a cluster_error
/// that names the server (its role, address, operation, step); a lost connection is made anew, and
/// what was not acknowledged is sent again.
class client {
public:
    /// Arrays of a server's that are read and written by number: 0 parameters, k >= 1 slot k - 1.
    static constexpr int parameters = 0, states = states_array;

    /// Dials all servers, and waits until all are there (`join_within`). Throws cluster_error: who
    /// is missing, or what is not agreed upon.
    SINTER_APART client(const cluster&, const wire::identity&, std::vector<shard_layout>, client_options = {});
    /// As leave(), without its errors.
    SINTER_APART ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    SINTER_APART int servers() const;
    SINTER_APART const shard_layout& layout(int server) const;

    // ---- Initial values. All of these wait for their answers.
    /// Whether the servers had values when this client came: of a checkpoint, or since the job
    /// runs.
    SINTER_APART bool initialised() const;
    /// Whether the job runs already: these values are not only of a checkpoint that servers began with.
    SINTER_APART bool is_live() const;
    /// Overwrites or reads floats of an array. Slots of new parameters are made by the server.
    SINTER_APART void write(int server, int array, std::int64_t first, span<const float>);
    SINTER_APART void read(int server, int array, std::int64_t first, span<float>);
    /// The same for whole rows [first, first + n) of a table.
    SINTER_APART void write_rows(int server, int table, int array, std::int64_t first, span<const float>);
    SINTER_APART void read_rows(int server, int table, int array, std::int64_t first, span<float>);
    /// By the chief, after the initial values: from now on others' pulls are answered and steps
    /// handed out. `max_steps` counts global steps; 0: no limit. global_step -1: as it is.
    /// `begins`: training does, and what was asked for before (an end) is over; false: the job is
    /// open, and other numbers are set. `phase_steps`: of each phase, where losses alternate.
    SINTER_APART void open(std::int64_t max_steps, std::int64_t global_step = -1, bool begins = true,
                           std::vector<std::int64_t> phase_steps = {});
    /// Waits until the chief has opened the job.
    SINTER_APART void wait_until_open();
    /// The chief overwrites values of an open job by write(), between these two. Until the second
    /// nobody else reads, so that nobody has some of the new values and some of the old. Pushes
    /// that were computed from the values before are dropped and counted
    /// (answer_info::fate::outdated): their gradient is that of another point.
    SINTER_APART void begin_renewal();
    SINTER_APART void end_renewal();
    /// The others, where all know that the chief is about to do so: returns when it has.
    SINTER_APART void wait_for_renewal();
    /// How often that has happened, as the servers have answered last.
    SINTER_APART std::int64_t version() const;
    /// Gradients are computed from now on from the values that were pulled last, or read last:
    /// which commit() says. Without a call of these: always those pulled last. use_pulled():
    /// whether those are of another version than the ones before; then what no pull brings (frozen
    /// parameters) is to be read as well.
    SINTER_APART bool use_pulled();
    SINTER_APART void use_newest();
    /// Gradients are computed from what read() gives between these two calls. True: all of it is of one version, the
    /// newest that is known. False: the chief has overwritten some of it meanwhile.
    SINTER_APART void begin_reading();
    SINTER_APART bool use_read();
    /// Whether the chief has overwritten values since those that are in use left the servers, or
    /// some of them.
    SINTER_APART bool renewed() const;

    /// Clocks that were applied, and global steps, when the job was opened.
    SINTER_APART std::int64_t open_clock() const;
    SINTER_APART std::int64_t open_step() const;

    /// Updates of each phase, as server 0 has them.
    SINTER_APART std::vector<std::int64_t> phase_steps() const;

    // ---- Steps
    /// The clock of this worker's next push, which is waited for from now on.
    SINTER_APART std::int64_t next_clock();
    /// Waits for leave to begin a step. False: max_steps is reached, or somebody has asked all to
    /// stop.
    SINTER_APART bool may_step();
    /// This worker makes no steps for now, and is not waited for; its next may_step() joins again.
    SINTER_APART void rest();
    /// Returns when all other workers rest, have left, or are dead. Who has not come yet is waited
    /// for, at most for the server's join_within, where steps can still be made.
    SINTER_APART void wait_for_others();
    /// Clocks that were applied without this worker are over for it. Answers the clock of its next
    /// push. Not between the beginning of a step and its commit.
    SINTER_APART std::int64_t pass_clocks();
    /// Returns when all clocks before this worker's next are applied, on every server.
    SINTER_APART void wait_for_clock();

    /// Begins a push; the one before must be committed. Buffers of a push stay the caller's,
    /// unchanged, until a wait() for its commit has returned.
    SINTER_APART void begin_push();
    /// A part of the gradient that is final: at server `server`, from float `first` on (whole
    /// lines).
    SINTER_APART void push(int server, std::int64_t first, span<const float>);
    /// Gradients of rows of a table: local rows, or keys of a table that grows; each once.
    SINTER_APART void push_rows(int server, int table, span<const std::int64_t> keys, span<const float> rows);
    SINTER_APART void push_states(int server, span<const float>);
    /// The push is whole: each server applies it as a whole, once. With `to` (one for each server)
    /// the answers bring the newest values there.
    SINTER_APART ticket commit(const push_info&, span<const pull_target> to = {});
    SINTER_APART ticket start_pull(span<const pull_target> to);
    /// Rows by local number or key, one after the other into `to`. Rows of a growing table that
    /// are not there yet come with the values that they would begin with.
    SINTER_APART ticket start_pull_rows(int server, int table, span<const std::int64_t> keys, float* to);
    SINTER_APART void wait(ticket);

    SINTER_APART answer_info last() const;
    SINTER_APART std::int64_t global_step() const;
    SINTER_APART client_counters seen() const;

    // ---- All workers, by server 0
    /// Sums over all workers that live, in rank order; all call it in the same order.
    SINTER_APART void reduce(span<double>);
    /// Where workers share batches all stop after the same step: one that nobody has begun.
    /// Elsewhere at once.
    SINTER_APART void ask_all_to_stop(const char* reason);
    /// The job ends with an error, on all servers and workers: this worker's, for this cause.
    SINTER_APART void fail(const char* cause) noexcept;
    SINTER_APART bool asked() const;
    /// Whether a server's process has been asked to end (server_options::asked_to_end): somebody is
    /// to ask all to stop.
    SINTER_APART bool server_ends() const;
    /// Of which clock on nobody makes a step, since somebody has asked; -1: nobody has, or it is
    /// not known yet.
    SINTER_APART std::int64_t stop_clock() const;
    SINTER_APART std::string stop_reason() const;
    /// Where workers share batches: all save after the same step, which nobody has begun; once it
    /// is known it is the one before files_clock().
    SINTER_APART void ask_all_to_save();
    SINTER_APART std::int64_t files_clock() const;
    /// Whether all save, or have saved, after so many clocks.
    SINTER_APART bool saves_files(std::int64_t clocks) const;
    /// Whether this worker was started again, and still makes calls that the others have made without it: what they
    /// then added up it is sent. It does not do again what only one is to do once, such as to write files.
    SINTER_APART bool makes_up() const;
    /// One of the calls of calls.hpp, and server `server`'s answer: `call(0, calls::get_counters())`. Compiled apart it
    /// is there for all of those (client/instances.hpp).
    template <class Call>
    typename Call::answer call(int server, const Call&);
    /// The same of all servers at once: their answers.
    template <class Call>
    std::vector<typename Call::answer> call_all(const Call&);
    /// Numbers of tables and of the optimizer's memory that are infinite or NaN, by server: of each array the
    /// first (shard::wrong_numbers).
    SINTER_APART std::vector<std::vector<wrong_number>> wrong_numbers();

    /// Says that this worker has done its part, to all servers, and closes.
    SINTER_APART void leave();

private:
    struct engine;
    std::unique_ptr<engine> engine_;

    SINTER_APART void write_array(int server, std::int64_t array, std::int64_t first, span<const float>);
    SINTER_APART void read_array(int server, std::int64_t array, std::int64_t first, span<float>);
    SINTER_APART std::byte* place_for(request&, std::size_t bytes);
    SINTER_APART request& pushed(int server);
    SINTER_APART void want(request&, int server, const pull_target&, std::uint32_t& flags);
};

} // namespace sinter::parameter_servers
