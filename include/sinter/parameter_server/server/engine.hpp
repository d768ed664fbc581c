// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/message.hpp>
#include <sinter/base/mutex.hpp>
#include <sinter/net/archive.hpp>
#include <sinter/net/openssl.hpp>
#include <sinter/net/service.hpp>
#include <sinter/net/wait_note.hpp>
#include <sinter/parameter_server/agreed_clocks.hpp>
#include <sinter/parameter_server/checkpoint_schedule.hpp>
#include <sinter/parameter_server/clocks.hpp>
#include <sinter/parameter_server/push_log.hpp>
#include <sinter/parameter_server/server/clock_pushes.hpp>
#include <sinter/parameter_server/server/blocking_link.hpp>
#include <sinter/parameter_server/server/interface.hpp>
#include <sinter/parameter_server/server/job_progress.hpp>
#include <sinter/parameter_server/server/reductions.hpp>
#include <sinter/parameter_server/server/replication.hpp>
#include <sinter/parameter_server/server/service_end.hpp>
#include <sinter/parameter_server/server/worker_registry.hpp>
#include <sinter/parameter_server/server_log.hpp>
#include <sinter/parameter_server/shard.hpp>
#include <sinter/parameter_server/step_tickets.hpp>
#include <sinter/parameter_server/table_rows.hpp>
#include <sinter/parameter_server/tables_of_job.hpp>
#include <sinter/parameter_server/values_gate.hpp>
#include <cmath>
#include <list>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What a server is inside: its parts, each with rules of its own, and what they do together. A thread serves each
/// connection: it reads a request, carries it out and answers. One mutex guards the parts; clang looks that they are
/// used under it alone. Values have locks of their own. Whoever changes values holds `gate` shared, whoever copies all
/// of them alone; it is taken before the mutex. Of a shard that two processes keep (copies.hpp), a process has two
/// engines: that of its own shard, which has the service, and that of the shard before it. There, whoever changes
/// values holds `gate` alone, so that all changes have one order.
struct server::engine {
    using lock = base::mutex_lock;
    using presence = worker_presence;
    using worker = registered_worker;

    engine(const cluster& c, const wire::identity& same, shard_layout l, std::unique_ptr<updater> u, scalars_function s,
           server_options o, bool second = false)
        : who(c), options(std::move(o)), shard_number(number_of_shard(c, second)),
          memory(l, std::move(u), options.first_row, static_cast<int>(c.servers().size())),
          work{std::move(s), merged_push(memory.layout(), options.order), {}}, all_clocks(options.order, c.size()),
          log(c.size()), tickets(options.order.mode, c.size()), sums(c.size(), options.order.order),
          together(options.order.backup > 0 && c.servers().size() > 1), workers(c.size(), options.order.all_join),
          progress(options.phases),
          saves({options.order.mode == update_mode::clocks, saves_alone(), options.save_every_steps,
                 options.save_every_seconds},
                base::monotonic_seconds()),
          notes{wire::rate_limited_log(options.log, who.self().name()),
                wire::wait_note(who.self().name(), who.options.join_within)},
          listening{wire::service_greeting(c, same), 0, {}, nullptr} {
        options.order.check(c.size());
        begin_copies(second);
        wire::fill_random({reinterpret_cast<std::byte*>(&listening.process_nonce), sizeof listening.process_nonce});
        if (who.self().role != cluster_role::ps)
            throw option_error("this task is no parameter server", "parameter_servers::server", who.self().name(),
                               "ps");
        work.scalar_values.resize(static_cast<std::size_t>(memory.optimizer().scalars()) + 16);
        begin_clipping(same);
        for (int w = 0; w < c.size(); ++w)
            if (!options.order.all_join) all_clocks.retire(w);
        if (!replicated()) restore();
        notes.began = base::monotonic_seconds();
        copies.linked(notes.began);
        gets_on();
        if (second) return;
        if (replicated()) make_other(same);
        listening.service = std::make_unique<wire::service>(
            who, listening.greeting,
            wire::service::calls{
                .objection = [this](const wire::greeting& g) { return objection(g); },
                .joined = [this](const wire::greeting& g, wire::data_link link) { begin(g, std::move(link)); },
                .failed = [this](const std::string& what) { fail("its connections' thread failed: " + what); }},
            options.log, options.strangers);
    }
    SINTER_COLD ~engine() {
        shut();
        if (other) other->shut();
        if (listening.service) listening.service->close();
        for (connection& c : listening.connections) c.thread.join();
        for (base::posix_thread* t : {&threads.saver, &threads.follower, &threads.applier, &threads.exporter})
            if (t->joinable()) t->join();
    }
    void shut() SINTER_EXCLUDES(mutex) {
        const lock hold(mutex);
        ending.stop();
        hang_up();
        changed.notify_all();
    }

    struct connection {
        base::posix_thread thread;
        std::atomic<bool> over{false};
    };
    /// Who connects to this process.
    struct listener {
        wire::greeting greeting;
        std::uint64_t process_nonce = 0;      ///< a number that each process of this server has of its own
        std::list<connection> connections;
        std::unique_ptr<wire::service> service;   ///< null: the engine beside this one has it
    };
    struct own_threads {
        base::posix_thread saver, follower, applier, exporter;
    };
    /// What is reported to the operator now and then.
    struct operator_notes {
        wire::rate_limited_log rare;
        wire::wait_note absent_workers;       ///< for workers that have never come
        double began = 0;                     ///< when this server did, in seconds
        void say(const std::string& text, message_level level = message_level::normal) { rare.write(text, level); }
    };

    cluster who;
    server_options options;
    int shard_number;                             // among all shards
    shard memory;
    update_memory work;                           // of whoever is `applying`
    gradient_clipping clip;                       // likewise
    mutable base::mutex mutex;
    base::condition changed;
    values_gate gate;
    bool applying SINTER_GUARDED_BY(mutex) = false;   // a thread makes an update by clocks
    clocks all_clocks SINTER_GUARDED_BY(mutex);
    push_log log SINTER_GUARDED_BY(mutex);
    step_tickets tickets SINTER_GUARDED_BY(mutex);
    reductions sums SINTER_GUARDED_BY(mutex);
    agreed_clocks together SINTER_GUARDED_BY(mutex);  // of server 0
    worker_registry workers SINTER_GUARDED_BY(mutex);
    job_progress progress SINTER_GUARDED_BY(mutex);
    checkpoint_schedule saves SINTER_GUARDED_BY(mutex);
    replication copies SINTER_GUARDED_BY(mutex);
    service_end ending SINTER_GUARDED_BY(mutex);
    operator_notes notes SINTER_GUARDED_BY(mutex);
    std::atomic<double> got_on{0};                // when anything happened last that members wait for
    listener listening;
    own_threads threads;
    std::unique_ptr<engine> other;                // of the shard before this one

    /// Memory for a worker's pushes.
    void prepare(worker& k) {
        if (!k.incoming) k.incoming = std::make_unique<staged_push>(memory.layout());
        while (options.order.mode == update_mode::clocks &&
               static_cast<std::int64_t>(k.staged.size()) <= options.order.staleness)
            k.staged.push_back(std::make_unique<staged_push>(memory.layout()));
    }
    /// Where a worker's push of this clock waits, in worker::staged.
    std::size_t slot_of(std::int64_t clock) const {
        return static_cast<std::size_t>(clock % (options.order.staleness + 1));
    }
    /// A worker by its rank. What its own thread uses needs no mutex: its connection, and its pushes that come in.
    worker& at(int w) SINTER_NO_THREAD_SAFETY_ANALYSIS { return workers.at(w); }
    /// Whether a worker may begin a step. An asynchronous push that is being applied counts
    /// already: its worker has given its ticket back.
    step_tickets::answer ask_for_step(int w) SINTER_REQUIRES(mutex) {
        const bool async = options.order.mode == update_mode::async;
        const auto t = tickets.ask(w, async ? progress.begun() : progress.global_step(), all_clocks.next(w),
                                   all_clocks.applied());
        if (t == step_tickets::answer::yes) together.give(all_clocks.next(w));
        return t;
    }
    /// An update of a phase begins, and the optimizer's scalars for it.
    void begin_update(int phase, float rate, float* to) SINTER_REQUIRES(mutex) {
        work.scalars(progress.next_of(phase), rate, to);
        progress.begin_update(phase);
    }
    /// So many updates have been made, of each phase as `of` says, where there are several.
    void set_steps(std::int64_t n, const std::vector<std::int64_t>& of) SINTER_REQUIRES(mutex) {
        progress.set_steps(n, of);
        saves.steps_were_set(n);
    }
    /// The worker's push of this clock. One beyond the job's last step is late: a worker may have
    /// leave for the clock before, which other servers have applied already.
    clocks::verdict take_push(int w, std::int64_t clock) SINTER_REQUIRES(mutex) {
        const std::int64_t most = tickets.limit();
        const bool beyond = most > 0 && progress.global_step() + (clock - all_clocks.applied()) >= most;
        return beyond ? clocks::verdict::late : all_clocks.push(w, clock);
    }
    /// Whether all are here who were in the job when this server was started again. What they have agreed on some of
    /// them may know alone (after which step all save or stop), so that nobody goes on before.
    bool all_are_back() const SINTER_REQUIRES(mutex) {
        return !progress.is_restored() || !options.order.all_join || workers.count(presence::expected) == 0;
    }
    /// Whether a worker that comes now may make a step.
    bool may_step_still() const SINTER_REQUIRES(mutex) {
        return !progress.asked_to_stop() && (tickets.limit() <= 0 || progress.global_step() < tickets.limit());
    }
    /// Of the losses that alternate.
    bool has_phase(int phase) const { return phase >= 0 && phase < options.phases; }
    bool is_first() const { return shard_number == 0; }
    /// Whether there is nobody with whom this server would have to agree on what is saved.
    bool saves_alone() const { return who.servers().size() == 1; }
    /// Whether the servers agree on whose pushes make a clock: server 0 decides.
    bool agrees() const { return clip.squares && options.order.backup > 0; }
    bool replicated() const { return options.replicas == 2; }
    /// Whether this worker is to stop: at once, or where batches are shared at the clock that all
    /// agree on.
    bool stops(int w) const SINTER_REQUIRES(mutex) {
        return together.stops(options.order.mode == update_mode::async ? 0 : all_clocks.next(w));
    }
    cluster_error about_self(std::string operation, std::string cause) const SINTER_REQUIRES(mutex) {
        return {listening.greeting.rank, who.self().name(), text_of(who.self().address()), std::move(operation),
                progress.global_step(), std::move(cause)};
    }
    void fail(const std::string& cause) SINTER_EXCLUDES(mutex) {
        const lock hold(mutex);
        fail_held(about_self("serving", cause));
    }
    void fail_held(const cluster_error& e) SINTER_REQUIRES(mutex) {
        ending.fail(e);
        changed.notify_all();
    }

    // ---- Who is there
    /// Lines for an operator (base/message.hpp).
    void notify_operator(std::string_view text, message_level level = message_level::normal) const {
        base::say(level, text, who.self().name());
    }
    /// Whether a worker may come again into a job that others are in the midst of. It makes the same
    /// calls from the beginning, and so has to have the sums that were made without it.
    bool keeps_sums() const SINTER_REQUIRES(mutex) {
        // Where no step has been made since the job was opened, a process that was replaced before may join yet.
        const bool begins = !progress.is_open() || all_clocks.applied() == progress.open_clock();
        return options.order.all_join && (options.order.backup > 0 || begins);
    }
    inline std::string objection(const wire::greeting& g) SINTER_EXCLUDES(mutex);
    inline static bool has_hung_up(const worker& k);
    inline void replace(int w) SINTER_REQUIRES(mutex);
    inline void begin(const wire::greeting& g, wire::data_link link) SINTER_EXCLUDES(mutex);
    inline void serve_server(int index, wire::data_link link);
    inline void hang_up_on_workers() SINTER_REQUIRES(mutex);
    inline void hang_up() SINTER_REQUIRES(mutex);
    inline void take_leave(int w, presence how) SINTER_REQUIRES(mutex);
    inline void need_whole_values() SINTER_REQUIRES(mutex);
    /// Something has happened that members wait for.
    void gets_on() { got_on = base::monotonic_seconds(); }
    /// What a worker waits for.
    enum class awaited : std::uint8_t { nobody, opening, clock, sum, others };
    inline std::string whom(awaited what, int but) const SINTER_REQUIRES(mutex);
    inline std::string stuck(awaited what, int waits) SINTER_REQUIRES(mutex);
    inline void declare_dead(int w, double silent) SINTER_REQUIRES(mutex);
    inline std::string text_of_dead(const std::string& names, int dead, double silent) const;

    inline void restore() SINTER_REQUIRES(mutex);
    inline std::string saved_log() const SINTER_REQUIRES(mutex);
    inline void save(const std::string& where, bool by_steps, const std::shared_ptr<shard_files>& of_job = {})
        SINTER_EXCLUDES(mutex);
    inline void load_tables(const tables_of_job&);
    /// What the schedule of checkpoints is to know.
    checkpoint_facts facts(double now) const SINTER_REQUIRES(mutex) {
        const bool asked = progress.asked_to_stop();
        return {.now = now, .global_step = progress.global_step(), .leads = copies.leads(), .open = progress.is_open(),
                .has_files = options.files != nullptr, .asked_to_stop = asked, .at_rest = asked && is_at_rest(),
                .stopping = ending.is_stopping()};
    }
    /// Whether a checkpoint is due before another clock may be applied.
    bool save_is_due() const SINTER_REQUIRES(mutex) { return saves.due(facts(0)).has_value(); }
    inline void agree_to_save() SINTER_REQUIRES(mutex);
    /// A schedule has named a checkpoint if `before` is not its newest name; `n` is reported to the operator.
    inline void report_saves(std::int64_t before, checkpoint_schedule::notice n) SINTER_REQUIRES(mutex);
    inline void note_progress(std::int64_t clocks, std::int64_t named) SINTER_REQUIRES(mutex);
    inline void keep_saving() SINTER_EXCLUDES(mutex);
    inline std::string hand_on(std::vector<table_changes>&) const;
    inline void keep_exporting() SINTER_EXCLUDES(mutex);
    inline void serve(int w, std::uint64_t incarnation, wire::data_link link) SINTER_EXCLUDES(mutex);
    inline void advance() SINTER_REQUIRES(mutex);
    inline void comes_to(int w, std::int64_t clock) SINTER_REQUIRES(mutex);
    inline void apply_clock(shared_squares::ranks of = shared_squares::everybody, std::optional<float> known_sum = {})
        SINTER_REQUIRES(mutex);
    inline void note_applied(clock_pushes&, std::int64_t clock) SINTER_REQUIRES(mutex);
    inline void update_by_clock(const clock_pushes&, std::int64_t clock, std::int64_t step, float sum);
    inline clock_pushes pushes_of_clock(shared_squares::ranks of) const SINTER_REQUIRES(mutex);
    inline void put_rows(const table_rows&);
    inline const char* apply_push(staged_push&, std::int64_t step, const float* scalars, float* copy_to);
    inline void look_at_sums() SINTER_REQUIRES(mutex);
    inline std::string counters_text() const SINTER_EXCLUDES(mutex);
    inline void report(bool last = false) SINTER_REQUIRES(mutex);
    inline bool nobody_came(double now) const SINTER_REQUIRES(mutex);
    inline bool has_applied_all() const SINTER_REQUIRES(mutex);
    inline bool is_at_rest() const SINTER_REQUIRES(mutex);
    inline void look_whether_it_is_to_end(double now) SINTER_REQUIRES(mutex);
    inline void serve_until_the_end() SINTER_EXCLUDES(mutex);
    inline void end_service() SINTER_REQUIRES(mutex);
    inline void look_who_lives(double gap) SINTER_REQUIRES(mutex);
    inline bool is_over(double now) const SINTER_REQUIRES(mutex);
    inline std::vector<worker_counters> counters() const SINTER_EXCLUDES(mutex);

    // ---- The norm of all gradients of a clock (server/norms.hpp)
    /// Whether the pushes of a clock have one to be clipped by, on all servers alike.
    bool has_norm(const clock_pushes& p) const { return clip.used && p.finite && (clip.squares ? p.came : p.any); }
    inline void begin_clipping(const wire::identity&);
    inline void apply_clocks() SINTER_EXCLUDES(mutex);
    inline std::optional<shared_squares::ranks> decision() SINTER_REQUIRES(mutex);
    inline bool is_other_view(std::uint64_t seen) const SINTER_EXCLUDES(mutex);
    inline bool only_the_dead_wait() const SINTER_REQUIRES(mutex);
    inline bool gives_up_clock(std::uint64_t seen) const SINTER_EXCLUDES(mutex);
    inline void join(const clock_pushes&);
    inline void sum_squares(const clock_pushes&, const clock_norm&, std::int64_t step);
    inline std::optional<float> norm_of_clock(clock_pushes&, clock_norm, std::int64_t step, std::uint64_t seen)
        SINTER_EXCLUDES(mutex);
    inline void send_joining(const clock_norm&) SINTER_REQUIRES(mutex);
    inline bool is_kept(std::uint64_t seen) SINTER_EXCLUDES(mutex);
    inline bool keep_norm(std::int64_t clock, span<const float> total) SINTER_EXCLUDES(mutex);
    inline void take_joining(clock_norm) SINTER_EXCLUDES(mutex);

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
    inline void begin_copies(bool other) SINTER_REQUIRES(mutex);
    inline void make_other(const wire::identity&);
    inline void serve_copy(int number, std::uint64_t incarnation, wire::data_link) SINTER_EXCLUDES(mutex);
    inline void serve_unled(int w, wire::data_link) SINTER_EXCLUDES(mutex);
    inline void serve_other_server(wire::data_link) SINTER_EXCLUDES(mutex);
    inline std::shared_ptr<copy_stream> serve_follower(blocking_link&, const copy_note& theirs) SINTER_EXCLUDES(mutex);
    inline bool lead(std::uint64_t next) SINTER_EXCLUDES(mutex);
    inline void changed_view() SINTER_REQUIRES(mutex);
    /// What a worker that joins gets.
    std::string about_text() const SINTER_REQUIRES(mutex) {
        const bool keeps = keeps_sums();
        const std::uint64_t first = sums.first_kept();
        return wire::archived(about_server{
            static_cast<std::uint8_t>(progress.has_values()), sums.now(), keeps && first == 1 ? 1 : sums.now(),
            keeps ? first : 1, listening.process_nonce, progress.is_restored() ? progress.restored_step() : -1,
            progress.is_open(), together.all_files_clocks(), copies.note()});
    }
    inline std::string state_text() SINTER_REQUIRES(mutex);
    inline void send_state() SINTER_REQUIRES(mutex);
    inline void take_state(span<const std::byte>) SINTER_REQUIRES(mutex);
    inline void check_state() const SINTER_REQUIRES(mutex);
    template <class Archive>
    void serialize_state(Archive&) SINTER_REQUIRES(mutex);
    inline void send_all(blocking_link&);
    inline void send_stream(wire::data_link&, const std::shared_ptr<copy_stream>&) SINTER_EXCLUDES(mutex);
    inline void follow() SINTER_EXCLUDES(mutex);
    inline void follow_once(wire::service_client&) SINTER_EXCLUDES(mutex);
    inline bool take_copy(blocking_link&, const wire::frame_header&, std::vector<std::byte>& scratch)
        SINTER_EXCLUDES(mutex);
    inline void restore_rows(std::size_t table, std::int64_t n, const std::byte*);
    inline void take_push(int w, std::uint64_t incarnation, const commit_block&, copied_push) SINTER_EXCLUDES(mutex);
    inline bool is_done_unled(double now) const SINTER_REQUIRES(mutex);
    inline bool is_led_by_nobody(double now) const SINTER_REQUIRES(mutex);
    inline void serve_both();
};

} // namespace sinter::parameter_servers
