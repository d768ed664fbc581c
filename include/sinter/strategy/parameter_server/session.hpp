// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server.hpp>
#include <sinter/net/progress_report.hpp>
#include <sinter/strategy/parameter_server/worker_tables.hpp>
#include <sinter/strategy/program_identity.hpp>
#include <sinter/strategy/synchronous/shard_replicas.hpp>
#include <sinter/strategy/synchronous/shard_states.hpp>
#include <cmath>

namespace sinter::inline SINTER_TARGET {

/// How a strategy with servers is made up: what it says when its trainer is made.
struct server_setup {
    cluster members{};
    sharded::update_order order{};
    batch_input input = batch_input::per_worker;
    int shards = 1;              ///< of this process's part of a batch
    bool canonical = false;      ///< sums over all shards are a tree's, and losses are divided by the whole batch
    int pull_every = 1, push_every = 1;
    bool prefetch = false;
    sharded::row_partition rows = sharded::row_partition::mod;
    sharded::client_options connection{};
    std::string checkpoints{};   ///< folder of the servers'; empty: none
    std::int64_t save_every_steps = 0;
    double save_every_seconds = 0;
    std::uint64_t policy = 0;    ///< a number that processes of one job share
};

/// The session of parameter_server, in every role. A worker's step: rows of tables that its batch names
/// are pulled; each bucket of gradients is pushed as soon as it is final; the commit brings the newest
/// weights. A server's serve() runs until the job is over. The evaluator is connected to nobody.
///
/// `independent()`: workers with batches of their own train each at its own pace; those that share
/// batches make all calls together.
template <class Programs, class Optimizer>
class server_session : public shard_replicas<Programs, false> {
    using replicas = shard_replicas<Programs, false>;
    using typename replicas::device, typename replicas::unit, typename replicas::shard;
    using replicas::shards_, replicas::alone_, replicas::units_, replicas::shard_, replicas::batch_, replicas::at,
        replicas::filled;
    using P = typename Programs::template training<0>;
    static_assert(Programs::n_training == 1, "parameter_server: losses that alternate (alternating_trainer) train by "
                                             "several programs; servers update by one");
    static_assert(device::shares_memory, "parameter_server: workers compute on processors; this device has memory of its own");
    static_assert(P::v.n_sync_points == 0, "parameter_server: synchronised_batch_norm adds up within a step what all "
                                           "workers have, who do not wait for each other: use batch_norm");
    static_assert(compiler::batches_of<Optimizer>() == 1, "parameter_server: accumulate<K> would gather in a slot that "
                                                          "workers do not have: parameter_server_options::push_every");
    static constexpr bool sums = reduction_of<typename P::request::loss>() == reduction::sum;
    static constexpr bool takes_norm = detail::update_of<Optimizer>::make().needs_norm();
    static constexpr std::int64_t n_states = P::v.floats(compiler::space::state);

public:
    template <class Strategy>
    SINTER_COLD server_session(const Strategy& s, int threads)
        : server_session(s.setup(), [&](int) { return s.device_options(0); }, threads) {}

    // ---- roles
    bool serves() const { return role() == cluster_role::ps; }   ///< this process keeps weights, and trains nothing
    bool evaluates() const { return role() == cluster_role::evaluator; }
    bool has_evaluator() const { return setup_.members.evaluator() != nullptr; }
    bool independent() const { return setup_.input == batch_input::per_worker || !trains(); }
    bool per_worker() const { return false; }   // nobody steps with empty batches while others go on
    membership member() const {
        if (serves()) return {-1, setup_.members.size()};
        return trains() ? membership{setup_.members.rank(), setup_.members.size()} : membership{};
    }
    /// A server's work, until all workers have left: in place of training. A second call returns at once.
    SINTER_COLD void serve(const Optimizer& o) {
        if (!serves() || served_) return;
        served_ = true;
        sharded::server_options more;
        more.order = setup_.order;
        more.save_every_steps = setup_.save_every_steps;
        more.save_every_seconds = setup_.save_every_seconds;
        more.first_row = [this](int t, std::int64_t row, float* to) { first_row(t, row, to); };
        sharded::server own(setup_.members, identity(), places_.shards[at(setup_.members.self().index)],
                            make_updater<P, Optimizer>(o), scalars_of(o), std::move(more));
        own.run();
    }

    // ---- the run
    /// Before the first step: the chief's values are those of all from now on. Answers the steps done by all.
    SINTER_COLD std::int64_t begin_training(std::int64_t step, std::int64_t max_steps) {
        if (!link_) return step;
        settle();
        if (member().chief()) {
            const bool restored = !begun_ && link_->client().initialised();
            if (!restored && changed_) send_values();
            changed_ = false;
            link_->client().open(max_steps, restored || (begun_ && !set_) ? -1 : step);
        } else {
            link_->client().wait_until_open();
        }
        max_steps_ = max_steps;
        begun_ = true;
        set_ = resting_ = false;
        pull_all();
        consumed_ = link_->client().last().clock;
        return link_->client().global_step();
    }
    /// Behind the last step of this worker. The chief waits for the others; `early`: nobody is to go on.
    SINTER_COLD std::int64_t end_training(bool early = false) {
        if (!link_ || !begun_) return -1;
        settle();
        if (early && member().chief()) link_->client().ask_all_to_stop("the chief has ended training");
        rest();
        if (member().chief()) link_->client().wait_for_others();
        pull_all();
        return link_->client().global_step();
    }
    /// This worker makes no steps for a while, and is not waited for; the next step joins again.
    SINTER_COLD void rest() {
        if (!link_ || !begun_ || resting_) return;
        settle();
        link_->client().rest();
        resting_ = true;
    }

    /// This worker's part of a step. Examples 0: this step was not made, since the job has come to its end (`stop`),
    /// or, where batches are shared, since the others have made it without this worker.
    template <int I = 0, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& v, Observer observe = {}) {
        need_worker("step");
        if (!begun_) begin_training(v.step, 0);
        if (v.stop && member().chief()) link_->client().ask_all_to_stop("asked to stop");
        settle();
        resting_ = false;
        sharded::client& c = link_->client();
        while (!c.may_step())
            if (!may_yet_step()) return unmade(v, c.asked() || !member().chief());
        if (!independent() && consumed_ < c.last().clock) {
            ++consumed_;
            return unmade(v, false);
        }
        begin(b);
        if (setup_.prefetch) start_pull();
        work(v, observe);
        return finish(v);
    }

    // ---- values
    void read(compiler::address from, float* to, std::int64_t n) const { const_cast<server_session*>(this)->get(from, to, n); }
    void write(compiler::address to, const float* from, std::int64_t n) {
        if (serves()) return;
        if (const int t = of_table(to); t >= 0) return write_table(t, to, from, n);
        if (to.where() == compiler::space::slot) {
            if (member().chief() && trains()) slots_.push_back({to, std::vector<float>(from, from + n)});
            changed_ = true;
            return;
        }
        if (begun_ && !changed_) refresh();
        changed_ = true;
        replicas::write(to, from, n);
    }
    void clear_slots() { slots_.clear(); }   // servers make new ones
    /// The table begins with its initializer's values (strategy_traits::remote_tables).
    void start_table(const variable_info& v, std::uint64_t stream) {
        tables_.start(v, stream);
        changed_ = true;
    }
    template <class Q>
    batch_view prepared(const batch_view& b) {
        const batch_view whole = tables_.template prepare<Q>(b);
        tables_.pull(connected(), parameters());
        return whole;
    }
    /// What has been written becomes the servers'. Before training it stays here until that begins.
    void publish() {
        if (!link_ || !begun_) return;
        if (member().chief() && changed_) {
            send_values();
            set_ = true;
        }
        changed_ = false;
        stale_ = true;
    }
    /// The newest weights, unless nothing has happened here since the last time.
    void refresh() {
        if (link_ && begun_ && !changed_ && !averages_ && stale_) pull_all();
    }
    /// local() has the averages that the optimizer keeps in this slot, or again the weights. Servers and other
    /// workers know nothing of it.
    SINTER_COLD void exchange_with_slot(int slot) {
        if (averages_) {
            averages_ = false;
            stale_ = true;
            return refresh();
        }
        refresh();
        averages_ = true;
        for (int i = 0; i < P::v.n_parameters; ++i) {
            const variable_info& v = P::v.parameters[i];
            if (v.remote || v.group == compiler::frozen_group) continue;
            std::vector<float> x(at(static_cast<int>(v.floats)));
            get({compiler::space::slot, slot * P::v.z.trained + v.at.offset()}, x.data(), v.floats);
            units_[0].write(v.at, x.data(), v.floats);
        }
    }
    /// Learning rates that hooks have changed go with each push.
    void follow(const Optimizer& o) {
        if constexpr (requires { o.learning_rate.peak; }) {
            if (first_rate_ == 0) first_rate_ = o.learning_rate.peak;
            rate_ = first_rate_ != 0 ? o.learning_rate.peak / first_rate_ : 1;
        }
        if (takes_norm && setup_.order.mode == sharded::update_mode::async && !updater_)
            updater_ = make_updater<P, Optimizer>(o);
    }

    // ---- members
    /// Sums over all workers, who make this call together; nothing where each goes its own way.
    void reduce(span<double> x) {
        if (link_ && !independent() && member().count > 1) link_->client().reduce(x);
    }
    bool asked_to_stop() const { return link_ && link_->client().asked(); }
    void ask_all_to_stop(const char* why) {
        if (link_) link_->client().ask_all_to_stop(why);
    }
    sharded::client_counters counters() const { return link_ ? link_->client().seen() : sharded::client_counters{}; }
    sharded::client* client() { return link_ ? &link_->client() : nullptr; }

private:
    struct slot_values {
        compiler::address to;
        std::vector<float> x;
    };
    server_setup setup_;
    detail::server_places places_;
    std::unique_ptr<detail::server_link> link_;   ///< null but in a worker
    detail::worker_tables<P> tables_;
    detail::shard_states<Programs> states_;
    std::unique_ptr<sharded::updater> updater_;   ///< that squares are taken with
    std::unique_ptr<wire::progress_report> report_ = std::make_unique<wire::progress_report>();
    std::vector<slot_values> slots_;              ///< written, and not sent yet
    bool served_ = false, begun_ = false, resting_ = false;
    bool changed_ = false;    ///< values here are newer than the servers'
    bool set_ = false;        ///< the chief has overwritten values since training began
    bool stale_ = false;      ///< steps have been made since the last pull
    bool averages_ = false;
    struct awaited {
        sharded::ticket ticket = 0;
        bool waits = false, brings = false;   ///< brings: with its answer come values
    };
    awaited push_, pull_;
    std::int64_t max_steps_ = 0, steps_ = 0;
    std::int64_t consumed_ = 0;   ///< clocks that this worker has had a batch of
    float first_rate_ = 0, rate_ = 1;

    // ---- of the step that is run
    detail::batch_part part_;
    std::vector<double> numbers_;
    std::vector<const float*> operands_;
    double loss_weights_[std::size_t{bundle::most}] = {};
    float handed_in_[std::size_t{bundle::most}] = {};
    int last_ = -1, next_bucket_ = 0;
    bool finite_ = true, pushes_ = true;
    double loss_ = 0, weight_ = 0;
    std::int64_t examples_ = 0;
    runtime::arena gathered_;   ///< gradients of several steps, or of one that is on its way while the next is made
    int in_round_ = 0;          ///< steps whose gradients are gathered
    sharded::push_info info_{};
    std::vector<float> states_before_;
    std::vector<float> squares_;

    template <class Devices>
    SINTER_COLD server_session(server_setup s, Devices devices, int threads)
        : replicas(*std::make_unique<synchronous_setup>(synchronous_setup{.shards = s.shards, .workers = 1, .input = s.input}),
                   devices, threads),
          setup_(std::move(s)),
          places_(detail::server_places::of<P, Optimizer>(std::max(1, static_cast<int>(setup_.members.servers().size())),
                                                          setup_.order.mode == sharded::update_mode::clocks, setup_.rows)),
          tables_(places_, setup_.shards), states_(setup_.shards, state_policy::per_shard),
          numbers_(at(setup_.shards)), operands_(at(setup_.shards)), states_before_(at(static_cast<int>(n_states))) {
        if (sums) setup_.order.join = sharded::gradient_join::sum;
        check();
        if (trains())
            link_ = std::make_unique<detail::server_link>(setup_.members, identity(), places_, setup_.connection);
        if (setup_.push_every > 1 || setup_.prefetch) gathered_ = runtime::arena(P::v.z.gradients);
        squares_.resize(std::size_t{16} * std::size_t{P::v.n_parameters + 1});
    }
    static synchronous_setup setup_of_replicas(const server_setup& s) { return {.shards = s.shards, .workers = 1}; }
    cluster_role role() const { return setup_.members.self().role; }
    bool trains() const { return role() <= cluster_role::worker; }
    bool clocks() const { return setup_.order.mode == sharded::update_mode::clocks; }
    detail::server_link* connected() { return link_ && begun_ ? link_.get() : nullptr; }
    float* parameters() const { return units_[0].at({compiler::space::parameter, 0}); }
    float* place(int i, compiler::address a) const { return units_[at(i)].at(a); }
    static int of_table(compiler::address a) { return detail::worker_tables<P>::table_at(a); }

    SINTER_COLD wire::identity identity() const {
        const program_identity i = detail::identity_of<Programs>(setup_.policy);
        return {i.model, detail::number_hash().add(i.layout).add(sharded::hash_of({places_.shards.data(), places_.shards.size()})).value(), i.policy};
    }
    SINTER_COLD void check() const {
        const auto refuse = [](const char* what, const std::string& got, const char* needed) {
            throw option_error(what, "parameter_server", got, needed);
        };
        if (setup_.members.servers().empty() && role() != cluster_role::evaluator)
            refuse("the cluster has no parameter server", setup_.members.how(), "one or more of role ps: sinter-launch --ps 1");
        setup_.order.check(setup_.members.size());
        if (setup_.pull_every < 1 || setup_.push_every < 1)
            refuse("steps between two pulls or pushes", joined({setup_.pull_every, ", ", setup_.push_every}), "1 or more");
        if (clocks() && (setup_.pull_every > 1 || setup_.push_every > 1 || setup_.prefetch))
            refuse("older weights than the mode allows", "pull_every, push_every or prefetch", "async, or none of them");
        if (setup_.push_every > 1 && detail::worker_tables<P>::count > 0)
            refuse("gradients of rows cannot be gathered over several steps", "push_every", "1 where servers keep tables");
    }
    SINTER_COLD void need_worker(const char* call) const {
        if (!trains())
            throw option_error("this process does not train", call, setup_.members.self().name(),
                               "train(), train_and_evaluate() or a loop over distribute(), which know of roles");
    }
    typename sharded::server::scalars_function scalars_of(const Optimizer& o) const {
        return [o, first = o](std::int64_t step, float rate, float* to) mutable {
            if constexpr (requires { o.learning_rate.peak; }) o.learning_rate.peak = first.learning_rate.peak * rate;
            o.scalars(step, to);
        };
    }
    void first_row(int t, std::int64_t local, float* to) const {
        const detail::server_places::table& table = places_.tables[at(t)];
        const int self = setup_.members.self().index;
        tables_.first_row(t, table.of.hashed ? local : table.rows.row(self, local), to);
    }

    // ---- values
    SINTER_COLD void send_values() {
        const int tables = detail::worker_tables<P>::count;
        link_->write_all(parameters(), place(0, {compiler::space::state, 0}));
        for (int t = 0; t < tables; ++t)
            if (std::vector<float>& whole = tables_.whole(t); !whole.empty() || begun_) {
                if (!tables_.table(t).hashed) link_->write_table(t, sharded::client::parameters, tables_.first_rows(t).data());
                whole = {};
            }
        for (const slot_values& s : slots_) {
            const std::int64_t slot = s.to.offset() / P::v.z.trained;
            if (const int t = of_table(s.to); t >= 0) link_->write_table(t, 1 + static_cast<int>(slot), s.x.data());
            else
                link_->write(1 + static_cast<int>(slot), s.to.offset() % P::v.z.trained, s.x.data(),
                             static_cast<std::int64_t>(s.x.size()));
        }
        slots_.clear();
    }
    SINTER_COLD void write_table(int t, compiler::address to, const float* from, std::int64_t n) {
        if (to.where() == compiler::space::slot) {
            if (member().chief() && trains()) slots_.push_back({to, std::vector<float>(from, from + n)});
        } else if (!trains() || member().chief()) {
            tables_.whole(t).assign(from, from + n);
        }
        changed_ = true;
    }
    SINTER_COLD void get(compiler::address from, float* to, std::int64_t n) {
        const bool slot = from.where() == compiler::space::slot;
        const int array = slot ? 1 + static_cast<int>(from.offset() / P::v.z.trained) : sharded::client::parameters;
        if (const int t = of_table(from); t >= 0 && from.where() != compiler::space::gradient) {
            if (connected()) return settle(), link_->read_table(t, array, to);
            if (slot) return get_written(from, to, n);
            const std::vector<float> x = tables_.first_rows(t);
            std::copy_n(x.data(), n, to);
            return;
        }
        if (slot && !connected()) return get_written(from, to, n);
        if (slot) return settle(), link_->read(array, from.offset() % P::v.z.trained, to, n);
        if (from.where() != compiler::space::gradient) refresh();
        units_[0].read(from, to, n);
    }
    /// What was written of a slot before there were servers; zeros elsewhere.
    void get_written(compiler::address from, float* to, std::int64_t n) const {
        std::fill_n(to, n, 0.f);
        for (const slot_values& s : slots_)
            if (s.to == from) std::copy_n(s.x.data(), std::min<std::int64_t>(n, static_cast<std::int64_t>(s.x.size())), to);
    }
    /// All values, also those that never change.
    SINTER_COLD void pull_all() {
        settle();
        link_->read_all(parameters());
        if (n_states) {
            link_->client().read(0, sharded::client::states, 0, {states_before_.data(), states_before_.size()});
            put_states(states_before_.data());
        }
        stale_ = false;
    }
    void put_states(const float* x) {
        if (n_states)
            for (unit& u : units_) u.write({compiler::space::state, 0}, x, n_states);
    }
    void take_values() {
        link_->take(parameters());
        if (n_states) {
            std::copy_n(link_->states(), n_states, states_before_.data());
            put_states(link_->states());
        }
    }
    void wait(awaited& a) {
        if (!a.waits) return;
        a.waits = false;
        link_->client().wait(a.ticket);
        if (a.brings) take_values();
    }
    /// Nothing is on its way, and what came is in place.
    void settle() { wait(push_), wait(pull_); }
    void start_pull() {
        if (steps_ % setup_.pull_every == 0) pull_ = {link_->client().start_pull(link_->targets()), true, true};
    }

    // ---- a step
    /// Whether a step that was not allowed now may be later. The chief waits for those that make the last ones.
    SINTER_COLD bool may_yet_step() {
        sharded::client& c = link_->client();
        stale_ = true;
        if (c.asked() || !member().chief()) return false;
        c.rest();
        c.wait_for_others();
        pull_all();
        return !c.asked() && !(max_steps_ > 0 && c.global_step() >= max_steps_);
    }
    step_result unmade(const step_values& v, bool stop) {
        return {0, false, stop, v.save, 0, 0, link_->client().global_step()};
    }
    void begin(const batch_view& b) {
        const membership me = member();
        const bool shares = !independent();
        const int first = shares ? me.index * shards_ : 0, of = shares ? me.count * shards_ : shards_;
        if (b.size < 1 || b.size > of * P::v.max_batch) detail::refuse_size(b.size, of * P::v.max_batch);
        const detail::example_range begin = detail::part_of_batch(b.size, first, of),
                                    end = detail::part_of_batch(b.size, first + shards_ - 1, of);
        const detail::example_range own{begin.first, end.first + end.size - begin.first};
        part_.template assign<P>(b, own);
        batch_ = own.size == b.size ? b : part_.view;
        if (own.size && detail::worker_tables<P>::count > 0) {
            batch_ = tables_.template prepare<P>(batch_);
            tables_.pull(link_.get(), parameters());
        }
        const float* whole[std::size_t{P::v.n_inputs + P::v.n_targets + 1}] = {};
        if (own.size) detail::bind_ports<P>(batch_, whole, true);
        last_ = -1;
        for (int i = 0; i < shards_; ++i) {
            shard& s = shard_[at(i)];
            const detail::example_range part = detail::part_of_batch(b.size, first + i, of);
            // One part of a batch is a batch by itself, of its own mean, but under canonical.
            const int batch = setup_.canonical ? b.size : part.size;
            s = {{part.first - own.first, part.size},
                 {.index = static_cast<std::uint64_t>(me.index * shards_ + i), .global_batch = batch}};
            const float* ports[std::size_t{P::v.n_inputs + P::v.n_targets + 1}] = {};
            if (part.size) detail::move_ports<P>(whole, s.part.first, ports), last_ = i;
            units_[at(i)].template begin_step<0>(ports, part.size);
        }
        this->template remember_program<0>();
        examples_ = own.size;
        next_bucket_ = 0;
        finite_ = true;
        loss_ = weight_ = 0;
    }
    step_values values(int i, const step_values& v) const {
        step_values own = v;
        own.shard = shard_[at(i)].numbers;
        return own;
    }
    template <class Observer>
    void work(const step_values& v, Observer& observe) {
        pushes_ = in_round_ + 1 == setup_.push_every;
        if (pushes_) link_->client().begin_push();
        const bool staged = gathered_.size() > 0;
        if (!staged) wait(push_);   // whose buffers are the gradients
        int begun = 0;
        if constexpr (P::v.n_loss_weights > 0) {
            if (setup_.canonical) {
                begun = P::v.loss_weights_ready;
                for (int i = 0; i < shards_; ++i)
                    if (filled(i)) shard_[at(i)].finite = units_[at(i)].template stretch<0>(values(i, v), {0, begun}, alone_);
                sum_loss_weights();
            }
        }
        for (int i = 0; i < shards_; ++i) {
            shard& s = shard_[at(i)];
            if (!filled(i)) {
                leave_out(i);
                continue;
            }
            s.finite = s.finite && units_[at(i)].template stretch<0>(
                values(i, v), {begun, P::v.segments.first_update}, alone_, [&](int launch, bool before) {
                    if (i == 0) observe(launch, before);
                    if (i == last_ && !before && launch >= detail::of_program::loss_launch<P>) push_ready(launch);
                });
            s.loss = units_[at(i)].template finish_step<0>();
            s.finite = s.finite && std::abs(s.loss) <= std::numeric_limits<float>::max();
            finite_ = finite_ && s.finite;
        }
        if (finite_) push_ready(P::v.n_launches);
    }
    void sum_loss_weights() {
        for (int k = 0; k < P::v.n_loss_weights; ++k) {
            for (int i = 0; i < shards_; ++i) {
                float w = 0;
                if (filled(i)) units_[at(i)].read(P::v.loss_weights[k], &w, 1);
                numbers_[at(i)] = static_cast<double>(w);
            }
            loss_weights_[k] = detail::tree_sum(numbers_.data(), shards_);
        }
        reduce({loss_weights_, static_cast<std::size_t>(P::v.n_loss_weights)});
        for (int k = 0; k < P::v.n_loss_weights; ++k) handed_in_[k] = static_cast<float>(loss_weights_[k]);
        for (shard& s : shard_) s.numbers.loss_weights = handed_in_;
    }
    /// A shard without examples adds nothing.
    void leave_out(int i) {
        for (int k = 0; k < P::v.n_buckets; ++k)
            if (const compiler::gradient_bucket& b = P::v.buckets[k]; !b.is_list()) std::fill_n(place(i, b.at), b.floats, -0.f);
    }
    /// Buckets that are final behind this launch.
    void push_ready(int launch) {
        for (; next_bucket_ < P::v.n_buckets && P::v.buckets[next_bucket_].final_after <= launch; ++next_bucket_)
            if (finite_) push_bucket(next_bucket_);
    }
    void push_bucket(int k) {
        const compiler::gradient_bucket& b = P::v.buckets[k];
        if (b.is_list()) return push_list(k);
        if (shards_ > 1) {
            for (int i = 0; i < shards_; ++i) operands_[at(i)] = place(i, b.at);
            detail::tree_sum(place(0, b.at), operands_.data(), shards_, 0, b.floats / 16);
        }
        float* from = place(0, b.at);
        if (gathered_.size() > 0) from = gather(from, b);
        if (!pushes_) return;
        for (const detail::server_places::part& p : places_.of_bucket[at(k)])
            link_->client().push(p.server, p.first, {from + (p.gradient - b.at.offset()), static_cast<std::size_t>(p.floats)});
    }
    /// Where gradients wait that are not pushed at once, or are while the next are made.
    float* gather(const float* from, const compiler::gradient_bucket& b) {
        if (in_round_ == 0) wait(push_);
        float* const to = gathered_.data() + b.at.offset();
        if (in_round_ == 0) std::copy_n(from, b.floats, to);
        else
            for (std::int64_t i = 0; i < b.floats; ++i) to[i] += from[i];
        if (pushes_ && setup_.push_every > 1 && !sums) {
            const float mean = 1.f / static_cast<float>(setup_.push_every);
            for (std::int64_t i = 0; i < b.floats; ++i) to[i] *= mean;
        }
        return to;
    }
    void push_list(int k) {
        if constexpr (P::v.n_lists > 0) {
            const compiler::gradient_bucket& b = P::v.buckets[k];
            const int t = compiler::remote_tables_of<P>.of_parameter[b.parameter];
            for (int i = 0; i < shards_; ++i) {
                if (!filled(i)) tables_.set_empty(t, i);
                else
                    tables_.set(t, i, {reinterpret_cast<std::int32_t*>(place(i, b.keys)), place(i, b.at), b.row_floats});
            }
            tables_.push(*link_, t, tables_.join(t));
        }
    }
    void sum_losses() {
        const auto sum = [&](auto of_shard) {
            for (int i = 0; i < shards_; ++i) numbers_[at(i)] = filled(i) ? of_shard(i) : 0.;
            return detail::tree_sum(numbers_.data(), shards_);
        };
        loss_ = sum([&](int i) { return static_cast<double>(shard_[at(i)].loss); });
        weight_ = sum([&](int i) { return units_[at(i)].loss_weight(); });
    }
    double square_sum() {
        if constexpr (!takes_norm) return 0;
        if (!updater_) return 0;
        for (int i = 0; i < P::v.n_parameters; ++i) {
            const variable_info& v = P::v.parameters[i];
            if (v.bucket < 0) continue;
            const compiler::gradient_bucket& b = P::v.buckets[v.bucket];
            const float* const g = (gathered_.size() > 0 ? gathered_.data() : place(0, {compiler::space::gradient, 0})) + v.gradient.offset();
            squares_[std::size_t{16} * static_cast<std::size_t>(i)] =
                b.is_list() ? updater_->squares(tables_.join(compiler::remote_tables_of<P>.of_parameter[b.parameter]))
                            : updater_->squares(g, base::round_up(v.floats, 16));
        }
        return static_cast<double>(updater_->total(squares_.data(), P::v.n_parameters));
    }
    void push_states() {
        if (n_states == 0 || !finite_) return;
        const auto any = [&](int i) { return filled(i); };
        states_.join(units_, any);
        int n = 0;
        for (int i = 0; i < shards_; ++i) n += filled(i);
        info_.states_count = n;
        if (!n) return;
        float* const x = states_.joined();
        if (!clocks()) {
            info_.states_are_changes = true;
            for (std::int64_t j = 0; j < n_states; ++j) x[j] = x[j] / static_cast<float>(n) - states_before_[at(static_cast<int>(j))];
        }
        link_->client().push_states(0, {x, static_cast<std::size_t>(n_states)});
    }
    step_result finish(const step_values& v) {
        sum_losses();
        stale_ = true;
        ++steps_;
        ++consumed_;
        const float own = finite_ ? static_cast<float>(loss_) : std::numeric_limits<float>::quiet_NaN();
        const bool adds = setup_.canonical || sums;
        info_.loss += adds ? loss_ : loss_ * weight_;
        info_.weight += weight_;
        info_.examples += static_cast<double>(examples_);
        info_.finite = info_.finite && finite_;
        in_round_ = pushes_ ? 0 : in_round_ + 1;
        step_result r{own, finite_, false, v.save, examples_, weight_, link_->client().global_step()};
        if (!finite_) put_back();
        if (pushes_) {
            push_states();
            info_.rate = rate_;
            if (finite_) info_.square_sum = square_sum();
            const bool pulls = !setup_.prefetch && steps_ % setup_.pull_every == 0;
            push_ = {link_->client().commit(info_, pulls ? link_->targets() : span<const sharded::pull_target>()), true, pulls};
            info_ = {.weight = 0};
            if (clocks() && setup_.order.staleness == 0) note_update(r);
        }
        r.stop = v.stop || asked_to_stop();
        report_->step(link_->client().global_step(), static_cast<double>(r.loss));
        return r;
    }
    /// Of a step that all have made together.
    void note_update(step_result& r) {
        using fate = sharded::answer_info::fate;
        settle();
        const sharded::answer_info& a = link_->client().last();
        r.global_step = a.global_step;
        r.applied = a.push == fate::applied || a.push == fate::staged;
        const double mean = setup_.canonical || sums ? a.loss : a.loss / a.weight;
        if (a.push == fate::not_finite) r.loss = std::numeric_limits<float>::quiet_NaN();
        else if (r.applied) r.loss = static_cast<float>(mean);
        if (r.applied) r.examples = static_cast<std::int64_t>(a.examples), r.loss_weight = a.weight;
        stale_ = false;
    }
    void put_back() {
        for (unit& u : units_) {
            u.template put_back_step<0>();
            u.forget_outputs();
        }
    }
};

} // namespace sinter
