// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/checked_number.hpp>
#include <sinter/parameter_server/copies.hpp>
#include <sinter/parameter_server/table_rows.hpp>
#include <sinter/parameter_server/tables_of_job.hpp>
#include <sinter/parameter_server/wrong_number.hpp>
#include <iterator>

/// Remote procedure calls of a parameter server, besides pushes, pulls and arrays (protocol.hpp): a number, a struct of
/// arguments and a struct of what is answered for each. Both ends use the same structs. Arguments and answers are
/// archives (net/archive.hpp); README.md has their bytes, which a test compares. A struct's check() throws
/// format_error for values that no caller has; it is made of whatever arrives before anything is done.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The `elements` of a call's frame. Numbers stay: a call that goes leaves a gap.
enum class call_id : std::uint16_t {
    join = 1, join_resting, rest, leave, open, wait_until_open, acquire_step,
    begin_renewal, end_renewal, wait_for_renewal, wait_for_others, wait_for_clock,
    all_reduce, restore_sums, stop, save_together, fail,
    get_phase_steps, get_stop_reason, get_counters, find_non_finite,
    read_rows, put_rows, reset_table, save_tables, load_tables, checkpoint,
    lead, follow, exchange_norms
};
inline constexpr auto last_call = static_cast<std::uint16_t>(call_id::exchange_norms);

/// As README.md and errors have it.
SINTER_COLD inline const char* name_of(call_id id) {
    static constexpr const char* names[] = {
        "join", "join_resting", "rest", "leave", "open", "wait_until_open", "acquire_step",
        "begin_renewal", "end_renewal", "wait_for_renewal", "wait_for_others", "wait_for_clock",
        "all_reduce", "restore_sums", "stop", "save_together", "fail",
        "get_phase_steps", "get_stop_reason", "get_counters", "find_non_finite",
        "read_rows", "put_rows", "reset_table", "save_tables", "load_tables", "checkpoint",
        "lead", "follow", "exchange_norms"};
    static_assert(std::size(names) == last_call);
    const auto n = static_cast<std::size_t>(id);
    return n >= 1 && n <= last_call ? names[n - 1] : "a call that is not known";
}

inline constexpr std::uint32_t most_phases = 64;     ///< losses that alternate
inline constexpr std::size_t most_reason = 1000;     ///< bytes of a reason that a worker gives
inline constexpr std::size_t most_path = 4096;       ///< of a folder's name

/// Arguments, by call.
namespace calls {

struct nothing {
    template <class A>
    void serialize(A&, unsigned) {}
    void check() const {}
};
/// What ends with a worker's steps: how far it knows server 0 to be, so that others do not end before.
struct progress {
    std::int64_t clocks = 0;       ///< that server 0 has applied
    std::int64_t named_save = 0;   ///< the save that it has named last; 0: none, or saves go by clocks
    template <class A>
    void serialize(A& a, unsigned) {
        a & clocks & named_save;
    }
    void check() const {
        check_number(clocks, 0, "no number of clocks", "what a worker knows of server 0");
        check_number(named_save, 0, "no name of a save", "what a worker knows of server 0");
    }
};
/// Of an open job.
struct opening {
    std::int64_t clock = 0, step = 0;   ///< clocks applied, and global steps, when it was opened
    template <class A>
    void serialize(A& a, unsigned) {
        a & clock & step;
    }
    void check() const {
        check_number(clock, 0, "no number of clocks", "the opening of a job");
        check_number(step, 0, "no global step", "the opening of a job");
    }
};

/// A worker takes part from now on. The first call on a connection, and after rest.
struct join {
    static constexpr call_id id = call_id::join;
    using answer = about_server;
    std::int64_t clock = 0;         ///< of its next push
    std::uint64_t epoch = 0;        ///< of two copies: the newest that it has met
    std::int64_t named_save = 0;    ///< the last save that it knows of, perhaps by an earlier process of the server
    std::int64_t version = 0;       ///< of the job's values, as it knows when they are not being overwritten
    known_to_worker known{};
    template <class A>
    void serialize(A& a, unsigned v) {
        a & clock & epoch & named_save & version;
        known.serialize(a, v);
    }
    void check() const {
        check_number(clock, 0, "no clock", "the next push of a worker that joins");
        check_number(named_save, 0, "no name of a save", "what a worker that joins knows", most_count / 2);
        check_number(version, 0, "no number of overwritings", "what a worker that joins knows");
        known.check();
    }
};
/// The first call on a connection of a worker that makes no steps for now.
struct join_resting : nothing {
    static constexpr call_id id = call_id::join_resting;
    using answer = about_server;
};
/// This worker makes no steps for now.
struct rest : progress {
    static constexpr call_id id = call_id::rest;
    using answer = nothing;
};
/// This worker has done its part.
struct leave : progress {
    static constexpr call_id id = call_id::leave;
    using answer = nothing;
};
/// By the chief, after the initial values.
struct open {
    static constexpr call_id id = call_id::open;
    using answer = opening;
    std::int64_t max_steps = 0;     ///< global steps; 0: no limit
    std::int64_t global_step = -1;  ///< -1: as it is
    std::uint8_t begins = 1;        ///< 1: training does, and what was asked for before is over
    std::vector<std::int64_t> phase_steps{};   ///< of each loss, where they alternate
    std::uint64_t number = 0;       ///< of the chief's openings: one that is asked for once more is done already
    template <class A>
    void serialize(A& a, unsigned) {
        a & max_steps & global_step & begins & phase_steps & number;
    }
    SINTER_COLD void check() const;
};
struct wait_until_open : nothing {
    static constexpr call_id id = call_id::wait_until_open;
    using answer = opening;
};
/// Returns once this worker may begin a step, as the flags of the answer say.
struct acquire_step : nothing {
    static constexpr call_id id = call_id::acquire_step;
    using answer = nothing;
};
/// By the chief: it overwrites values from now on, which make the values' version this one.
struct begin_renewal {
    static constexpr call_id id = call_id::begin_renewal;
    using answer = nothing;
    std::int64_t version = 0;
    template <class A>
    void serialize(A& a, unsigned) {
        a & version;
    }
    void check() const { check_number(version, 0, "no number of overwritings", "the beginning of one"); }
};
struct end_renewal {
    static constexpr call_id id = call_id::end_renewal;
    using answer = nothing;
    std::int64_t step = 0;   ///< the global step from now on
    template <class A>
    void serialize(A& a, unsigned) {
        a & step;
    }
    void check() const { check_number(step, 0, "no global step", "the end of an overwriting"); }
};
struct wait_for_renewal {
    static constexpr call_id id = call_id::wait_for_renewal;
    using answer = nothing;
    std::int64_t version = 0;   ///< which the values have then, or a later one
    template <class A>
    void serialize(A& a, unsigned) {
        a & version;
    }
    void check() const { check_number(version, 0, "no number of overwritings", "waiting for one"); }
};
/// Returns once all other workers rest, have left, or are dead.
struct wait_for_others : progress {
    static constexpr call_id id = call_id::wait_for_others;
    using answer = nothing;
};
/// Returns once all clocks before this one are applied.
struct wait_for_clock {
    static constexpr call_id id = call_id::wait_for_clock;
    using answer = nothing;
    std::int64_t clock = 0;
    template <class A>
    void serialize(A& a, unsigned) {
        a & clock;
    }
    void check() const { check_number(clock, 0, "no clock", "waiting for one"); }
};
/// The sum over workers of these numbers, in the order of their ranks.
struct all_reduce {
    static constexpr call_id id = call_id::all_reduce;
    struct answer {
        std::vector<double> sums{};
        template <class A>
        void serialize(A& a, unsigned) {
            a & sums;
        }
        void check() const {}
    };
    std::uint64_t number = 0;   ///< of this sum, from 1 on
    std::vector<double> numbers{};
    template <class A>
    void serialize(A& a, unsigned) {
        a & number & numbers;
    }
    void check() const { check_number(static_cast<std::int64_t>(number), 1, "no number of a sum", "a worker's sum"); }
};
/// Results that this server has not made, or does not know any more, as when it was started again.
struct restore_sums {
    static constexpr call_id id = call_id::restore_sums;
    using answer = nothing;
    std::uint64_t first = 0;   ///< the number of the first
    std::vector<std::vector<double>> sums{};
    template <class A>
    void serialize(A& a, unsigned) {
        a & first & sums;
    }
    void check() const {
        check_number(static_cast<std::int64_t>(first), 1, "no number of a sum", "what a worker knows");
    }
};
/// All workers are to stop.
struct stop {
    static constexpr call_id id = call_id::stop;
    using answer = nothing;
    std::string reason{};
    template <class A>
    void serialize(A& a, unsigned) {
        a & reason;
    }
    void check() const { check_text(reason, most_reason, "the reason to stop"); }
};
/// All workers are to save after the same step.
struct save_together : nothing {
    static constexpr call_id id = call_id::save_together;
    using answer = nothing;
};
/// The job ends with this worker's error.
struct fail {
    static constexpr call_id id = call_id::fail;
    using answer = nothing;
    std::string cause{};
    template <class A>
    void serialize(A& a, unsigned) {
        a & cause;
    }
    void check() const { check_text(cause, most_reason, "the cause of an error"); }
};
struct get_phase_steps : nothing {
    static constexpr call_id id = call_id::get_phase_steps;
    struct answer {
        std::vector<std::int64_t> steps{};   ///< updates of each loss, where they alternate
        template <class A>
        void serialize(A& a, unsigned) {
            a & steps;
        }
        void check() const {}
    };
};
struct get_stop_reason : nothing {
    static constexpr call_id id = call_id::get_stop_reason;
    struct answer {
        std::string reason{};   ///< and whose; empty: nobody has asked all to stop
        template <class A>
        void serialize(A& a, unsigned) {
            a & reason;
        }
        void check() const {}
    };
};
struct get_counters : nothing {
    static constexpr call_id id = call_id::get_counters;
    struct answer {
        std::string json{};
        template <class A>
        void serialize(A& a, unsigned) {
            a & json;
        }
        void check() const {}
    };
};
struct find_non_finite : nothing {
    static constexpr call_id id = call_id::find_non_finite;
    using answer = wrong_numbers;
};
/// Rows of a table of 64-bit keys in the order of their keys, as many as a frame holds.
struct read_rows {
    static constexpr call_id id = call_id::read_rows;
    using answer = table_rows;
    std::int64_t table = 0;
    std::int64_t first = INT64_MIN;   ///< the lowest key; INT64_MIN: the table is read from its beginning
    template <class A>
    void serialize(A& a, unsigned) {
        a & table & first;
    }
    void check() const { check_number(table, 0, "rows of no table", "reading a table"); }
};
struct put_rows : table_rows {
    static constexpr call_id id = call_id::put_rows;
    using answer = nothing;
};
/// By the chief: a table has the values of its initializer again.
struct reset_table {
    static constexpr call_id id = call_id::reset_table;
    using answer = nothing;
    std::int64_t table = 0;
    template <class A>
    void serialize(A& a, unsigned) {
        a & table;
    }
    void check() const { check_number(table, 0, "rows of no table", "a table to reset"); }
};
/// Each server writes its tables, as a part of the job's checkpoint.
struct save_tables {
    static constexpr call_id id = call_id::save_tables;
    struct answer {
        std::string fault{};   ///< why it could not; empty: it has
        template <class A>
        void serialize(A& a, unsigned) {
            a & fault;
        }
        void check() const {}
    };
    std::string folder{}, name{};   ///< folder/name/shard-K-of-N.safetensors
    template <class A>
    void serialize(A& a, unsigned) {
        a & folder & name;
    }
    void check() const {
        check_text(folder, most_path, "the name of a folder");
        check_text(name, most_path, "the name of a folder");
    }
};
/// By the chief: each server reads its tables from there.
struct load_tables : tables_of_job {
    static constexpr call_id id = call_id::load_tables;
    using answer = nothing;
    void check() const {
        check_text(folder, most_path, "the name of a folder");
        check_text(name, most_path, "the name of a folder");
    }
};
/// This server alone makes a checkpoint.
struct checkpoint {
    static constexpr call_id id = call_id::checkpoint;
    using answer = nothing;
    std::string name{};   ///< of its folder; empty: by the global step
    template <class A>
    void serialize(A& a, unsigned) {
        a & name;
    }
    void check() const { check_text(name, most_path, "the name of a folder"); }
};
/// By the chief, to a copy that does not lead its shard: it is to, from this epoch on.
struct lead {
    static constexpr call_id id = call_id::lead;
    using answer = about_server;
    std::uint64_t epoch = 0;
    template <class A>
    void serialize(A& a, unsigned) {
        a & epoch;
    }
    void check() const {}
};
/// By a server that keeps the other copy of a shard: it wants all values, and what changes them. The answer is of
/// copy_protocol.hpp.
struct follow {
    static constexpr call_id id = call_id::follow;
    copy_note note{};
    template <class A>
    void serialize(A& a, unsigned v) {
        note.serialize(a, v);
    }
    void check() const {
        if (!note.makes_sense()) throw format_error("makes no sense", "what the other copy of a shard says of itself");
    }
};
/// By another server, to the leader of shard 0: the parts of norms follow on this connection
/// (server/shared_squares.hpp).
struct exchange_norms {
    static constexpr call_id id = call_id::exchange_norms;
    std::int32_t shard = 0;   ///< whose parts come
    template <class A>
    void serialize(A& a, unsigned) {
        a & shard;
    }
    void check() const { check_number(shard, 0, "no shard", "the norm of all gradients", INT32_MAX); }
};

inline void open::check() const {
    check_number(max_steps, 0, "no limit of steps", "opening a job", INT64_MAX);
    check_number(global_step, -1, "no global step", "opening a job");
    check_number(static_cast<std::int64_t>(phase_steps.size()), 0, "too many losses", "opening a job", most_phases);
    for (const std::int64_t n : phase_steps) check_number(n, 0, "no number of updates of a loss", "opening a job");
}

} // namespace calls

/// Arguments or an answer as bytes, and back. The latter throws format_error for bytes that are none.
template <class Message>
std::string encode(Message m) {
    return wire::archived(std::move(m));
}
template <class Message>
Message decode(span<const std::byte> bytes) {
    Message m = wire::restored<Message>(bytes);
    m.check();
    return m;
}

template <class... Calls>
struct call_list {
    /// f(the arguments of call `id`). False: there is no such call here. Throws format_error as decode() does.
    template <class F>
    static bool visit(call_id id, span<const std::byte> bytes, F f) {
        return ((id == Calls::id && (f(decode<Calls>(bytes)), true)) || ...);
    }
};
/// Calls of a worker to a server that serves it.
using worker_calls =
    call_list<calls::join, calls::join_resting, calls::rest, calls::leave, calls::open, calls::wait_until_open,
              calls::acquire_step, calls::begin_renewal, calls::end_renewal, calls::wait_for_renewal,
              calls::wait_for_others, calls::wait_for_clock, calls::all_reduce, calls::restore_sums, calls::stop,
              calls::save_together, calls::fail, calls::get_phase_steps, calls::get_stop_reason, calls::get_counters,
              calls::find_non_finite, calls::read_rows, calls::put_rows, calls::reset_table, calls::save_tables,
              calls::load_tables, calls::checkpoint>;
/// Calls about the two copies of a shard.
using copy_calls = call_list<calls::lead, calls::follow, calls::exchange_norms>;

} // namespace sinter::parameter_servers
