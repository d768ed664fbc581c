// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/message.hpp>
#include <sinter/net/archive.hpp>
#include <sinter/net/openssl.hpp>
#include <sinter/net/service.hpp>
#include <sinter/net/wait_note.hpp>
#include <sinter/parameter_server/agreed_clocks.hpp>
#include <sinter/parameter_server/clocks.hpp>
#include <sinter/parameter_server/push_log.hpp>
#include <sinter/parameter_server/server/interface.hpp>
#include <sinter/parameter_server/copies.hpp>
#include <sinter/parameter_server/server/conversation.hpp>
#include <sinter/parameter_server/server/copy_stream.hpp>
#include <sinter/parameter_server/server/reductions.hpp>
#include <sinter/parameter_server/server/shared_squares.hpp>
#include <sinter/parameter_server/server_log.hpp>
#include <sinter/parameter_server/shard.hpp>
#include <sinter/parameter_server/table_rows.hpp>
#include <sinter/parameter_server/tables_of_job.hpp>
#include <sinter/parameter_server/step_tickets.hpp>
#include <sinter/parameter_server/values_gate.hpp>
#include <cmath>
#include <condition_variable>
#include <list>

namespace sinter::inline SINTER_TARGET::sharded {

/// What a server is inside. A thread serves each connection: it reads a request, carries it out and
/// answers. One mutex guards who is there, the clocks, the log and the tickets; values have locks
/// of their own. Whoever changes values holds `gate` shared, whoever copies all of them alone; it
/// is taken before the mutex. Of a shard that two processes keep (copies.hpp), a process has two
/// engines: that of its own shard, which has the door, and that of the shard before it. There,
/// whoever changes values holds `gate` alone, so that all changes have one order.
struct server::engine {
    using lock = std::unique_lock<std::mutex>;
    enum class presence : std::uint8_t { expected, here, resting, left, dead, never_came };

    struct worker {
        presence now = presence::expected;
        std::uint64_t incarnation = 0;
        std::uint64_t applied_number = 0;            // of its last push that is in the values, or of no use
        std::atomic<double> heard{0};
        int descriptor = -1;                         // of its connection
        conversation* talk = nullptr;                // likewise
        bool served = false;                         // by a thread
        int arriving = 0;                            // connections that wait for the end of the one before
        enum { not_said, anew, amid } comes = not_said;   // whether its process had made sums when it joined
        std::unique_ptr<staged_push> incoming;
        std::vector<std::unique_ptr<staged_push>> staged;   // by clock
        worker_counters counters;
        std::int64_t applied_before = 0;             // when steps_per_second was measured last
        answer_info info;                            // of its last push
    };
    /// The pushes of a clock.
    struct clock_pushes {
        std::vector<staged_push*> here, used;   // by rank: those that make it; of these, those that are added up
        bool finite = true, any = false, came = false;
        float rate = 1;
        int phase = 0;
        bool agree = true;   // on the phase
        std::int64_t save = 0;
        answer_info info;
        bool updates() const { return any && finite; }
    };
    /// The squares of the clock that is being applied, as far as it has come: whose pushes make it.
    struct clock_norm {
        std::int64_t clock = -1, version = 0;
        shared_squares::ranks of = 0;
        std::vector<float> squares;   // of tensor i at 16 * i
    };
    struct connection {
        base::posix_thread thread;
        std::atomic<bool> over{false};
    };

    engine(const cluster& c, const wire::identity& same, shard_layout l, std::unique_ptr<updater> u, scalars_function s,
           server_options o, bool second = false)
        : who(c), options(std::move(o)), shard_number(number_of_shard(c, second)), scalars(std::move(s)),
          memory(l, std::move(u), options.first_row, static_cast<int>(c.servers().size())),
          order(options.order), all_clocks(order, c.size()), log(c.size()), tickets(order.mode, c.size()),
          sums(c.size(), order.order), together(order.backup > 0 && c.servers().size() > 1),
          joined(memory.layout(), order), workers(static_cast<std::size_t>(c.size())),
          notes(options.log, who.self().name()), own(wire::service_greeting(c, same)) {
        order.check(c.size());
        begin_copies(second);
        wire::fill_random({reinterpret_cast<std::byte*>(&life), sizeof life});
        if (who.self().role != cluster_role::ps)
            throw option_error("this task is no parameter server", "sharded::server", who.self().name(), "ps");
        scalar_values.resize(static_cast<std::size_t>(memory.optimizer().scalars()) + 16);
        for (const sharded::run& r : memory.layout().runs) parameters = std::max(parameters, r.tensor + 1);
        for (const table_layout& t : memory.layout().tables) parameters = std::max(parameters, t.tensor + 1);
        parameters = std::max(parameters, options.parameters);
        begun_of.resize(static_cast<std::size_t>(options.phases));
        made_of = begun_of;
        clipped = order.mode == update_mode::clocks && memory.optimizer().needs() == norm_need::all_gradients;
        if (clipped && who.servers().size() > 1) {
            if ((order.backup > 0 || replicated()) && c.size() > shared_squares::most_workers)
                throw option_error("too many workers for clipping by the norm of all gradients on several servers with "
                                   "backup workers, or with replicas = 2",
                                   "the optimizer of a parameter server", sinter::joined({c.size(), " workers"}),
                                   sinter::joined({shared_squares::most_workers, " at most"}));
            std::optional<shared_squares::second_copies> twice;
            if (replicated())
                twice = {shard_number,
                         [this](std::int64_t clock, span<const float> total) { return keep_norm(clock, total); }};
            all_squares = std::make_unique<shared_squares>(who, same, parameters, [this] {
                const lock hold(mutex);
                return stopping || failure.has_value();
            }, 60 + who.options.dead_after, std::move(twice));
        }
        for (int w = 0; w < c.size(); ++w)
            if (!order.all_join) all_clocks.retire(w);
        if (!replicated()) restore();
        started = linked = saved_at = base::monotonic_seconds();
        gets_on();
        if (second) return;
        if (replicated()) make_other(same);
        door = std::make_unique<wire::service>(
            who, own,
            wire::service::calls{
                .objection = [this](const wire::greeting& g) { return objection(g); },
                .joined = [this](const wire::greeting& g, wire::data_link link) { begin(g, std::move(link)); },
                .failed = [this](const std::string& what) { fail("its connections' thread failed: " + what); }},
            options.log, options.strangers);
    }
    ~engine() {
        shut();
        if (other) other->shut();
        if (door) door->close();
        for (connection& c : connections) c.thread.join();
        for (base::posix_thread* t : {&saver, &follower, &applier, &exporter})
            if (t->joinable()) t->join();
    }
    void shut() {
        const lock hold(mutex);
        stopping = true;
        hang_up();
        changed.notify_all();
    }

    cluster who;
    server_options options;
    int shard_number;                                // among all shards
    scalars_function scalars;
    shard memory;
    update_order order;
    int parameters = 0;
    bool clipped = false;
    std::unique_ptr<shared_squares> all_squares;     // of several servers

    mutable std::mutex mutex;
    std::condition_variable changed;
    values_gate gate;
    // Under the mutex:
    clocks all_clocks;
    push_log log;
    step_tickets tickets;
    reductions sums;
    agreed_clocks together;                          // of server 0
    joined_push joined;                              // of whoever is `applying`
    clock_norm norm;                                 // likewise
    std::vector<worker> workers;
    std::vector<float> scalar_values;
    std::int64_t begun = 0, global_step = 0;         // updates that were begun, and made
    std::vector<std::int64_t> begun_of, made_of;     // the same of each phase, where losses alternate
    bool has_values = false, open = false, restored = false, applying = false, stopping = false, asked = false;
    bool replaced = false;                           // what was restored: the job goes on from other values
    bool any_left = false;
    bool ends_soon = false;                          // options.asked_to_end said so, here or in the follower's process
    std::int64_t version = 0;                        // how often the chief has overwritten the values of an open job
    bool renewing = false;                           // it does now
    std::int64_t steps_set = 0;                      // how often global_step was set
    std::int64_t save_agreed = 0, saved_agreed = 0;  // the step that all servers save as; and have
    std::vector<std::int64_t> saves_to_come;         // without clocks: all that were named and are not made yet
    std::int64_t save_made = 0, save_told = 0;       // likewise, on server 0: the newest that all others have made,
                                                     // as pushes say; and have heard of, as who rests says
    std::int64_t saved_by_steps = 0, named_at = 0;   // global steps: of the last that was due by steps; when
                                                     // server 0 named one last
    std::int64_t loads_heard = 0, loads_saved = 0;   // how often the chief has set the steps of an open job, as by
                                                     // load(); of which a checkpoint has been made
    std::int64_t load_step = 0;                      // what it has set them to last
    std::string load_fault;                          // why that checkpoint could not be written
    bool said_late = false;                          // that checkpoints are due more often than they are written
    bool ends_named = false;                         // the last one was named when nobody made steps any more
    std::int64_t end_clock = 0;                      // clocks that server 0 has applied, as who rests or leaves says
    std::int64_t open_clock = 0, open_step = 0;      // clocks applied, and global steps, when the job was opened
    std::uint64_t life = 0;                          // a number that each process of this server has of its own
    std::string stop_reason;
    std::optional<cluster_error> failure;
    wire::rare_log notes;
    wire::wait_note absent_workers{who.self().name(), who.options.join_within};   // for workers that have never come
    double started = 0, died = 0;                    // died: when a worker did last
    std::atomic<double> got_on{0};                   // when anything happened last that members wait for
    std::int64_t restored_step = -1;                 // of the checkpoint that this process began with
    std::int64_t clocks_elsewhere = 0, step_elsewhere = 0;   // what other servers had come to when this one came back
    std::uint64_t opened_by = 0, openings = 0;       // the incarnation of the chief that has opened the job, how often
    // A checkpoint that is requested:
    std::int64_t save_wanted = 0, save_done = 0, saved_step = 0, saved_as = -1;   // saved_as: by its name
    double saved_at = 0;
    std::string save_where, save_fault;
    // Where two processes keep this shard:
    copy_role part = copy_role::leading;
    std::uint64_t epoch = 0, view = 0;               // view: counts what changes who is served
    std::shared_ptr<copy_stream> stream;             // to the follower; null: there is none
    bool was_followed = false, copying = false, told_end = false;
    int leader_descriptor = -1;                      // of the connection to the leader that is followed
    double linked = 0;                               // when there was one
    double asked_unled = -1e9;                       // when a worker has asked this copy last though it does not lead
    std::vector<int> others;                         // descriptors of connections that are no worker's in service

    wire::greeting own;
    std::list<connection> connections;
    base::posix_thread saver, follower, applier, exporter;
    std::unique_ptr<engine> other;                   // of the shard before this one
    std::unique_ptr<wire::service> door;

    /// Memory for a worker's pushes.
    void prepare(worker& k) {
        if (!k.incoming) k.incoming = std::make_unique<staged_push>(memory.layout());
        while (order.mode == update_mode::clocks && static_cast<std::int64_t>(k.staged.size()) <= order.staleness)
            k.staged.push_back(std::make_unique<staged_push>(memory.layout()));
    }
    /// Where a worker's push of this clock waits, in worker::staged.
    std::size_t slot_of(std::int64_t clock) const { return static_cast<std::size_t>(clock % (order.staleness + 1)); }
    worker& at(int w) { return workers[static_cast<std::size_t>(w)]; }
    /// Whether a worker may begin a step. An asynchronous push that is being applied counts
    /// already: its worker has given its ticket back.
    step_tickets::answer ask_for_step(int w) {
        const auto t =
            tickets.ask(w, order.mode == update_mode::async ? begun : global_step, all_clocks.next(w),
                        all_clocks.applied());
        if (t == step_tickets::answer::yes) together.give(all_clocks.next(w));
        return t;
    }
    /// Under the mutex: an update of a phase begins, and the optimizer's scalars for it.
    void begin_update(int phase, float rate, float* to) {
        std::int64_t& n = begun_of[static_cast<std::size_t>(phase)];
        scalars(n++, rate, to);
        ++begun;
    }
    /// Under the mutex: it is not made after all.
    void undo_update(int phase) { --begun, --begun_of[static_cast<std::size_t>(phase)]; }
    /// Under the mutex: it is made.
    void end_update(int phase) {
        ++made_of[static_cast<std::size_t>(phase)];
        ++global_step;
    }
    /// Under the mutex: so many updates have been made, of each phase as `of` says, where there are
    /// several.
    void set_steps(std::int64_t n, const std::vector<std::int64_t>& of) {
        global_step = begun = n;
        named_at = std::min(named_at, n), saved_by_steps = std::min(saved_by_steps, n);
        saved_step = std::min(saved_step, n);
        ++steps_set;
        if (made_of.size() == 1) made_of[0] = n;
        else if (of.size() == made_of.size()) made_of = of;
        else made_of.assign(made_of.size(), 0);
        begun_of = made_of;
    }
    /// The worker's push of this clock. One beyond the job's last step is late: a worker may have
    /// leave for the clock before, which other servers have applied already.
    clocks::verdict take_push(int w, std::int64_t clock) {
        const bool beyond = tickets.limit() > 0 && global_step + (clock - all_clocks.applied()) >= tickets.limit();
        return beyond ? clocks::verdict::late : all_clocks.push(w, clock);
    }
    /// Under the mutex: whether all are here who were in the job when this server was started again. What they have
    /// agreed on some of them may know alone (after which step all save or stop), so that nobody goes on before.
    bool all_are_back() const {
        return !restored || !order.all_join ||
               std::ranges::none_of(workers, [](const worker& k) { return k.now == presence::expected; });
    }
    /// Under the mutex: whether a worker that comes now may make a step.
    bool may_step_still() const { return !asked && (tickets.limit() <= 0 || global_step < tickets.limit()); }
    bool is_first() const { return shard_number == 0; }
    /// Whether there is nobody with whom this server would have to agree on what is saved.
    bool saves_alone() const { return who.servers().size() == 1; }
    /// Whether the servers agree on whose pushes make a clock: server 0 decides.
    bool agrees() const { return all_squares && order.backup > 0; }
    bool replicated() const { return options.replicas == 2; }
    /// Whether this worker is to stop: at once, or where batches are shared at the clock that all
    /// agree on.
    bool stops(int w) const { return together.stops(order.mode == update_mode::async ? 0 : all_clocks.next(w)); }
    cluster_error about_self(std::string operation, std::string cause) const {
        return {own.rank, who.self().name(), text_of(who.self().address()), std::move(operation), global_step,
                std::move(cause)};
    }
    void fail(const std::string& cause) {
        const lock hold(mutex);
        fail_held(about_self("serving", cause));
    }
    void fail_held(const cluster_error& e) {
        if (!failure) failure.emplace(e);
        changed.notify_all();
    }

    // ---- Who is there
    /// Lines for an operator (base/message.hpp).
    void tell(std::string_view text, message_level level = message_level::normal) const {
        base::say(level, text, who.self().name());
    }
    /// Whether a worker may come again into a job that others are in the midst of. It makes the same
    /// calls from the beginning, and so has to have the sums that were made without it.
    bool keeps_sums() const { return order.all_join && (order.backup > 0 || !open || is_at_its_opening()); }
    /// Whether no step has been made since the job was opened: a process that was replaced before may join yet.
    bool is_at_its_opening() const { return all_clocks.applied() == open_clock; }
    bool lives(const worker& k) const {
        return k.now == presence::here || k.now == presence::resting || (k.now == presence::expected && order.all_join);
    }
    std::string objection(const wire::greeting& g) {
        const lock hold(mutex);
        if (failure) return "the server has failed: " + std::string(failure->what());
        if (stopping) return "the job is over";
        if (replicated() && g.rank >= who.size()) return {};
        if (g.rank >= who.size())
            return all_squares && is_first() && g.index > 0 ? "" : "this server asks nothing of other servers";
        const worker& k = at(g.rank);
        if (k.served && k.incarnation != g.incarnation && k.now != presence::dead && !has_hung_up(k))
            return who.member(g.rank).name() + " is in this job already: the task was started twice";
        return {};
    }
    inline static bool has_hung_up(const worker& k);
    inline void replace(int w);
    void begin(const wire::greeting& g, wire::data_link link) {
        const lock hold(mutex);
        connections.remove_if([](connection& c) {
            if (!c.over) return false;
            c.thread.join();
            return true;
        });
        connection& c = connections.emplace_back();
        auto held = std::make_shared<wire::data_link>(std::move(link));
        c.thread = base::posix_thread([this, &c, held, w = g.rank, incarnation = g.incarnation] {
            if (replicated()) serve_copy(w, incarnation, std::move(*held));
            else if (w >= who.size()) serve_server(w - who.size(), std::move(*held));
            else serve(w, incarnation, std::move(*held));
            c.over = true;
        });
    }
    void serve_server(int index, wire::data_link link) {
        try {
            all_squares->serve(index, link);
        } catch (const error&) {   // it has ended, or dials again: whoever misses its part says so
        }
    }
    void hang_up_on_workers() {
        for (worker& k : workers)
            if (k.descriptor >= 0) ::shutdown(k.descriptor, SHUT_RDWR);
    }
    /// Ends all connections: their threads notice.
    void hang_up() {
        hang_up_on_workers();
        for (const int d : others) ::shutdown(d, SHUT_RDWR);
    }
    void take_leave(int w, presence how) {
        worker& k = at(w);
        if (w == 0) need_whole_values();
        k.now = how;
        all_clocks.retire(w);
        tickets.give_back(w);
        if (how == presence::left) any_left = true;
        gets_on();
        changed.notify_all();
    }
    /// The chief is gone: where it was overwriting values, they are partly old.
    void need_whole_values() {
        if (!renewing) return;
        fail_held(cluster_error(0, who.member(0).name(), text_of(who.member(0).address()), "overwriting values",
                                global_step, "it has gone before all of them were written"));
    }
    inline bool has_others(int w) const;
    inline void steps_elsewhere(std::int64_t clocks, std::int64_t step);
    inline void count_lost_clock();
    /// Something has happened that members wait for.
    void gets_on() { got_on = base::monotonic_seconds(); }
    /// What a worker waits for.
    enum class awaited : std::uint8_t { nobody, opening, clock, sum, others };
    inline std::string whom(awaited what, int but) const;
    inline std::string stuck(awaited what, int waits);
    inline void declare_dead(int w, double silent);
    inline std::string joined_text_of_dead(const std::string& names, int dead, double silent) const;

    inline void restore();
    inline std::string saved_log() const;
    inline void save(const std::string& where, bool by_steps, const std::shared_ptr<shard_files>& of_job = {});
    inline void load_tables(const tables_of_job&);
    inline bool ends_unsaved() const;
    inline std::optional<std::int64_t> due_save(double now) const;
    bool save_is_due(double now) const { return due_save(now).has_value(); }
    inline void agree_to_save();
    inline void name_save(std::int64_t step);
    inline void hear_before_end(const std::string& argument);
    inline void keep_saving();
    inline void keep_exporting();
    inline void serve(int w, std::uint64_t incarnation, wire::data_link link);
    inline void advance(lock& hold);
    inline void comes_to(int w, std::int64_t clock, lock& hold);
    inline void apply_clock(lock& hold, shared_squares::ranks of = shared_squares::everybody,
                            std::optional<float> told = {});
    inline void update_by_clock(const clock_pushes&, std::int64_t clock, std::int64_t step, float sum);
    inline clock_pushes pushes_of_clock(shared_squares::ranks of) const;
    inline void put_rows(const table_rows&);
    inline const char* apply_push(staged_push&, std::int64_t step, const float* scalars, float* copy_to);
    inline void look_at_sums();
    inline std::string counters_text() const;
    inline void report(lock& hold, bool last = false);
    inline bool nobody_came(double now) const;
    inline bool has_applied_all() const;
    inline bool is_at_rest() const;
    inline void look_whether_it_is_to_end(double now);
    inline void serve_until_the_end();
    inline void look_who_lives(double gap);
    inline bool is_over(double now) const;
    inline std::vector<worker_counters> counters() const;

    // ---- The norm of all gradients of a clock (server/norms.hpp)
    /// Whether the pushes of a clock have one to be clipped by, on all servers alike.
    bool has_norm(const clock_pushes& p) const { return clipped && p.finite && (all_squares ? p.came : p.any); }
    inline void apply_clocks();
    inline std::optional<shared_squares::ranks> decision(lock& hold);
    inline bool is_other_view(std::uint64_t seen) const;
    inline bool only_the_dead_wait() const;
    inline bool gives_up_clock(std::uint64_t seen) const;
    inline void join(const clock_pushes&);
    inline void sum_squares(const clock_pushes&, const clock_norm&, std::int64_t step);
    inline std::optional<float> norm_of_clock(lock& hold, clock_pushes&, clock_norm, std::int64_t step,
                                              std::uint64_t seen);
    inline void tell_joining(const clock_norm&);
    inline bool is_kept(lock& hold, std::uint64_t seen);
    inline bool keep_norm(std::int64_t clock, span<const float> total);
    inline void take_joining(clock_norm);

    // ---- Copies (server/copies.hpp)
    /// Held by whoever changes values: alone, where all changes have one order.
    struct changing_values {
        explicit changing_values(engine& e) : e_(e), alone_(e.replicated()) {
            if (alone_) e_.gate.lock();
            else e_.gate.lock_shared();
        }
        /// Calls say() now and then while it waits.
        template <class Say>
        changing_values(engine& e, Say say) : e_(e), alone_(e.replicated()) {
            for (double most = 0.001; !(alone_ ? e_.gate.try_lock_for(most) : e_.gate.try_lock_shared_for(most)); say())
                most = e_.who.options.heartbeat_every();
        }
        ~changing_values() {
            if (alone_) e_.gate.unlock();
            else e_.gate.unlock_shared();
        }
        changing_values(const changing_values&) = delete;
        changing_values& operator=(const changing_values&) = delete;

    private:
        engine& e_;
        bool alone_;
    };
    struct named_descriptor;
    inline static int number_of_shard(const cluster&, bool other);
    inline void begin_copies(bool other);
    inline void make_other(const wire::identity&);
    inline void serve_copy(int number, std::uint64_t incarnation, wire::data_link);
    inline void serve_unled(int w, wire::data_link);
    inline void serve_other_server(wire::data_link);
    inline std::shared_ptr<copy_stream> serve_follower(conversation&, const copy_note& theirs);
    inline bool lead(std::uint64_t next);
    inline void changed_view();
    inline copy_note note() const;
    /// Under the mutex: what a worker that joins is told.
    std::string about_text() const {
        const bool keeps = keeps_sums();
        const std::uint64_t first = sums.first_kept();
        return wire::archived(about_server{static_cast<std::uint8_t>(has_values), sums.now(),
                                           keeps && first == 1 ? 1 : sums.now(), keeps ? first : 1, life,
                                           restored ? restored_step : -1, open,
                                           together.all_files_clocks(), note()});
    }
    inline std::string state_text();
    inline void tell_state();
    inline void take_state(span<const std::byte>);
    inline void check_state() const;
    template <class Archive>
    void serialize_state(Archive&);
    inline void send_all(conversation&);
    inline void send_stream(wire::data_link&, const std::shared_ptr<copy_stream>&);
    inline void follow();
    inline void follow_once(wire::service_client&);
    inline bool take_copy(conversation&, const wire::frame_header&, std::vector<std::byte>& scratch);
    inline void restore_rows(std::size_t table, std::int64_t n, const std::byte*);
    inline void take_push(int w, std::uint64_t incarnation, const commit_block&, copied_push);
    inline bool is_done_unled(double now) const;
    inline bool is_led_by_nobody(double now) const;
    inline void serve_both();
};

} // namespace sinter::sharded
