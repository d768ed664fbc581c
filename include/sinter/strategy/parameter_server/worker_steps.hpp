// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/bind_batch.hpp>
#include <sinter/strategy/parameter_server/followed_rates.hpp>
#include <sinter/strategy/parameter_server/value_mirror.hpp>
#include <sinter/strategy/synchronous/batch_cut.hpp>
#include <sinter/strategy/synchronous/shard_states.hpp>
#include <array>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Steps of a worker: rows of tables that its batch names are pulled; each bucket of gradients is pushed as soon as it
/// is final; the commit brings the newest weights. Workers with batches of their own train each at its own pace; those
/// that share batches make all calls together.
template <class Programs, class Optimizer>
class worker_steps {
    using process = job_process<Programs, Optimizer>;
    using mirror = value_mirror<Programs, Optimizer>;
    using set = typename process::set;
    using worker_tables = typename process::worker_tables;
    template <int I>
    using training = typename set::template training<I>;
    template <int I>
    static constexpr bool sums = process::template sums<I>;
    static constexpr bool takes_norm = process::takes_norm;
    static constexpr std::int64_t n_states = process::n_states;

public:
    SINTER_COLD worker_steps(process& job, mirror& values)
        : job_(job), values_(values), replicas_(job.replicas), states_(job.replicas.size(), state_policy::per_shard),
          operands_(at(job.replicas.size())),
          squares_(std::size_t{16} * std::size_t{process::P::v.n_parameters + 1}) {
        drawn_shards_.reserve(at(job.replicas.size()));
        if (job_.setup.push_every > 1 || job_.setup.prefetch) make_rounds(typename set::all{});
    }
    worker_steps(const worker_steps&) = delete;
    worker_steps& operator=(const worker_steps&) = delete;

    /// Learning rates that hooks have changed go with each push, as the factor by which they are not what they were
    /// when training began: servers have them as they were. option_error where several have other factors.
    void follow(const Optimizer& o) {
        rates_.follow(o);
        if (takes_norm && job_.setup.order.mode == parameter_servers::update_mode::async && !updater_)
            updater_ = process::updater_of(o);
    }
    /// f(replica, part of b) for each shard that had examples in the last step, which was of this batch.
    template <class F>
    void each_part(const batch_view& b, F f) {
        [&]<int... I>(std::integer_sequence<int, I...>) {
            ((I == program_ ? replicas_.template each_part<I>(b, first_, f) : void()), ...);
        }(typename set::all{});
    }
    /// Which examples of batches that all workers share this one computes.
    batch_share own_share() const {
        const int n = replicas_.size();
        if (job_.independent()) return {};
        return {job_.member().index * n, n, job_.member().count * n};
    }

    /// This worker's part of a step. Examples 0: this step was not made, since the job has come to
    /// its end (`stop`), or, where batches are shared, since the others have made it without this
    /// worker (`passed`).
    template <int I = 0, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& given, Observer observe = {}) {
        job_.need_worker("step");
        step_values v = given;
        if (!now().begun) v.step = values_.begin_training(v.step, 0);   // servers may go on from a checkpoint
        parameter_servers::client& c = job_.link->client();
        if (c.stop_clock() < 0) {
            if (c.server_ends()) c.ask_all_to_stop("a server was asked to end");
            else if (v.stop && (job_.member().chief() || !job_.independent())) c.ask_all_to_stop("asked to stop");
        }
        if (v.save && !job_.independent()) c.ask_all_to_save();
        values_.settle();
        if (now().is_old || c.renewed()) begin_anew();
        now().resting = false;
        if (passes()) return passed(v);
        while (!values_.while_waiting([&] { return c.may_step(); })) {
            if (passes()) return passed(v);
            if (!may_yet_step()) return unmade(v, c.asked() || !job_.member().chief());
        }
        if (passes()) return passed(v);
        // Steps of one push have the same number: each draws others of its own.
        if (job_.setup.push_every > 1) v.step = v.step * job_.setup.push_every + round_of<I>().steps;
        begin<I>(b, v);
        if (job_.setup.prefetch) values_.start_pull();
        work<I>(v, observe);
        return finish<I>(v);
    }

private:
    /// What becomes one push of a training program's.
    struct round {
        runtime::arena accumulated{};   ///< gradients of several steps, or of one that is sent while the next is made
        int steps = 0;                  ///< whose gradients are accumulated
        parameter_servers::push_info info{.weight = 0};
    };
    process& job_;
    mirror& values_;
    set& replicas_;
    strategy_parts::shard_states<Programs> states_;
    std::array<round, std::size_t{Programs::n_training}> rounds_;
    std::unique_ptr<parameter_servers::updater> updater_;   ///< that squares are taken with
    strategy_parts::followed_rates rates_;

    // ---- of the step that is run
    int program_ = 0;
    int first_ = 0;   ///< of the batch that all share, the first example that is this worker's
    batch_view batch_{};   ///< this worker's
    strategy_parts::batch_part part_;
    std::vector<const float*> operands_;
    std::vector<runtime::batch_shard> drawn_shards_;   ///< of the shards that have examples, where tables draw rows
    int last_ = -1, next_bucket_ = 0;
    bool finite_ = true, pushes_ = true;
    double loss_ = 0, weight_ = 0;
    std::int64_t examples_ = 0;
    std::vector<float> squares_;

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    worker_progress& now() { return values_.now; }
    const worker_progress& now() const { return values_.now; }
    batch_cut cut(int size) const {
        const membership me = job_.member();
        const int n = replicas_.size();
        return job_.independent() ? batch_cut{size, 0, n} : batch_cut{size, me.index * n, me.count * n};
    }
    template <int... I>
    void make_rounds(std::integer_sequence<int, I...>) {
        ((rounds_[std::size_t{I}].accumulated = runtime::arena(training<I>::v.z.gradients)), ...);
    }
    template <int I>
    auto& round_of() { return rounds_[std::size_t{I}]; }

    // ---- a step
    /// The chief has overwritten the servers' values: those here, and gradients that are accumulated,
    /// are of others.
    SINTER_COLD void begin_anew() {
        values_.pull_all();
        for (auto& r : rounds_) r.steps = 0, r.info = {.weight = 0};
    }
    /// Whether all stop behind this step, since somebody has asked.
    bool is_last() const {
        const std::int64_t stop = job_.link->client().stop_clock();
        return stop >= 0 && now().consumed >= stop;
    }
    /// Whether the others have made the step of this batch, which all share, without this worker.
    bool passes() {
        if (job_.independent() || now().consumed >= job_.link->client().pass_clocks()) return false;
        ++now().consumed;
        now().stale = true;
        return true;
    }
    /// Whether a step that was not allowed now may be later. The chief waits for those that make
    /// the last ones.
    SINTER_COLD bool may_yet_step() {
        parameter_servers::client& c = job_.link->client();
        now().stale = true;
        if (c.asked() || !job_.member().chief()) return false;
        c.rest();
        c.wait_for_others();
        values_.pull_all();
        return !c.asked() && !(now().max_steps > 0 && c.global_step() >= now().max_steps);
    }
    /// Whether all save behind this step, likewise; who has batches of their own saves when it
    /// likes.
    bool saves(const step_values& v) const {
        return job_.independent() ? v.save : now().consumed > 0 && job_.link->client().saves_files(now().consumed);
    }
    step_result unmade(const step_values& v, bool stop) {
        return {.applied = false,
                .stop = stop,
                .save = job_.independent() && v.save,
                .examples = 0,
                .loss_weight = 0,
                .global_step = values_.steps_made()};
    }
    step_result passed(const step_values& v) {
        step_result r = unmade(v, is_last());
        r.save = saves(v);
        r.passed = true;
        return r;
    }
    template <int I>
    void begin(const batch_view& b, const step_values& v) {
        using program = training<I>;
        const int shards = replicas_.size(), first_shard = job_.member().index * shards;
        const batch_cut parts = cut(b.whole ? b.whole : b.size);
        if (parts.size < 1 || parts.size > parts.of * program::v.max_batch)
            session_parts::refuse_size(parts.size, parts.of * program::v.max_batch);
        const example_range own = parts.own(shards);
        need_examples(b, own, parts.size);
        first_ = own.first - b.first;
        part_.template assign<program>(b, {first_, own.size});
        batch_ = own.size == b.size ? b : part_.view;
        const auto number = [&](int i) { return static_cast<std::uint64_t>(first_shard + i); };
        if (own.size && worker_tables::count > 0) {
            drawn_shards_.clear();
            for (int i = 0; i < shards; ++i)
                if (parts.shard(i).size > 0) drawn_shards_.push_back({.index = number(i), .global_batch = own.size});
            batch_ = job_.tables.template prepare<program>(batch_, v, {drawn_shards_.data(), drawn_shards_.size()});
            job_.pull_rows(job_.link.get());
        }
        const float* ports[std::size_t{program::v.n_inputs + program::v.n_targets + 1}] = {};
        if (own.size) bind_ports<program>(batch_, ports, true);
        int with_examples = 0;
        begin_shards<I>(
            replicas_, parts, ports, own.first,
            [&](int i, int size) {
                // One part of a batch is a batch by itself, of its own mean, but under canonical.
                return runtime::batch_shard{.index = number(i),
                                            .global_batch = job_.setup.canonical ? parts.size : size};
            },
            [&](const float** of_shard) { job_.tables.template place_drawn<program>(with_examples++, of_shard); });
        last_ = -1;
        for (int i = 0; i < shards; ++i)
            if (replicas_.filled(i)) last_ = i;
        program_ = I;
        examples_ = own.size;
        next_bucket_ = 0;
        finite_ = true;
        loss_ = weight_ = 0;
    }
    template <int I, class Observer>
    void work(const step_values& v, Observer& observe) {
        using program = training<I>;
        pushes_ = round_of<I>().steps + 1 == job_.setup.push_every;
        if (pushes_) job_.link->client().begin_push();
        if (job_.setup.push_every > 1 && round_of<I>().steps == 0)
            for (int t = 0; t < compiler::remote_tables_of<program>.n; ++t)
                if (compiler::remote_tables_of<program>.at[t].bucket >= 0) job_.tables.begin_round(t);
        const bool staged = round_of<I>().accumulated.size() > 0;
        if (!staged) values_.wait_for_push();   // whose buffers are the gradients
        int begun = 0;
        if constexpr (program::v.n_loss_weights > 0) {
            if (job_.setup.canonical) {
                begun = program::v.loss_weights_ready;
                for (int i = 0; i < replicas_.size(); ++i)
                    if (replicas_.filled(i))
                        replicas_.shard(i).finite = replicas_[i].template stretch<I>(replicas_.values(i, v), {0, begun},
                                                                                     replicas_.alone());
                replicas_.template sum_loss_weights<I>(
                    [&](double* x, int n) { values_.reduce({x, static_cast<std::size_t>(n)}); });
            }
        }
        for (int i = 0; i < replicas_.size(); ++i) {
            shard_in_step& s = replicas_.shard(i);
            if (!replicas_.filled(i)) {
                replicas_.template leave_out<I>(i, v);
                continue;
            }
            s.finite = s.finite && stretch<I>(i, v, {begun, program::v.segments.first_update}, observe);
            s.loss = replicas_[i].template finish_step<I>();
            s.finite = s.finite && is_finite(s.loss);
            finite_ = finite_ && s.finite;
        }
        if (finite_) push_ready<I>(program::v.n_launches);
    }
    /// These launches, of shard i. Where the host has the last shard's gradients they are pushed meanwhile.
    template <int I, class Observer>
    bool stretch(int i, const step_values& v, runtime::launch_range launches, Observer& observe) {
        const step_values own = replicas_.values(i, v);
        if constexpr (set::shared)
            return replicas_[i].template stretch<I>(own, launches, replicas_.alone(), [&](int launch, bool before) {
                if (i == 0) observe(launch, before);
                if (i == last_ && !before && launch >= of_program::loss_launch<training<I>>) push_ready<I>(launch);
            });
        else if (i == 0) return replicas_[i].template stretch<I>(own, launches, replicas_.alone(), observe);
        else return replicas_[i].template stretch<I>(own, launches, replicas_.alone());
    }
    /// Buckets that are final behind this launch.
    template <int I>
    void push_ready(int launch) {
        using program = training<I>;
        constexpr auto& p = program::v;
        for (; next_bucket_ < p.n_buckets && p.buckets[next_bucket_].final_after <= launch; ++next_bucket_)
            if (finite_) push_bucket<I>(next_bucket_);
    }
    template <int I>
    void push_bucket(int k) {
        const compiler::gradient_bucket& b = training<I>::v.buckets[k];
        if (b.is_list()) return push_list<I>(k);
        add_up<I>(b);
        float* const own = replicas_.template place<I>(0, b.at);
        float* from = own;
        if (round_of<I>().accumulated.size() > 0) from = accumulate<I>(from, b);
        push_whole_tables<I>(k, own);
        if (!pushes_) return;
        for (const strategy_parts::server_places::part& p : job_.places.of_bucket[std::size_t{I}][at(k)])
            job_.link->client().push(p.server, p.first,
                                 {from + (p.gradient - b.at.offset()), static_cast<std::size_t>(p.floats)});
    }
    /// The bucket of all shards, in the host's memory.
    template <int I>
    void add_up(const compiler::gradient_bucket& b) {
        const int shards = replicas_.size();
        if (set::shared && shards == 1) return;
        float* const sum = replicas_.template place<I>(0, b.at);
        if constexpr (set::peers) {   // by the devices, in the order of tree_sum
            for (int step = 1; step < shards; step *= 2)
                for (int i = 0; i + step < shards; i += 2 * step)
                    replicas_[i].add_from(replicas_[i + step], b.at, b.floats);
            replicas_.first().read(b.at, sum, b.floats);
        } else {
            for (int i = 0; i < shards; ++i) {
                operands_[at(i)] = replicas_.template place<I>(i, b.at);
                if (!set::shared && replicas_.filled(i))
                    replicas_[i].read(b.at, replicas_.template place<I>(i, b.at), b.floats);
            }
            if (shards == 1) return;
            tree_sum(sum, operands_.data(), shards, 0, b.floats / 16);
            if (!set::shared) replicas_.first().write(b.at, sum, b.floats);   // where gradients are read
        }
    }
    /// Gradients of tables that are no lists, since some lookups are by rows that all examples
    /// share (a sampled softmax's candidates): shards have added them up.
    template <int I>
    void push_whole_tables(int k, float* bucket) {
        using program = training<I>;
        for (int t = 0; t < compiler::remote_tables_of<program>.n; ++t) {
            const remote_table& r = compiler::remote_tables_of<program>.at[t];
            if (r.bucket != k || r.gradient.where() == compiler::space::none) continue;
            for (int i = 1; i < replicas_.size(); ++i) job_.tables.set_empty(t, i);
            const std::int64_t in_bucket = r.gradient.offset() - program::v.buckets[k].at.offset();
            job_.tables.set(t, 0, job_.tables.as_list(t, bucket + in_bucket));
            push_rows<I>(t);
        }
    }
    /// Where gradients wait that are not pushed at once, or are while the next are made.
    template <int I>
    float* accumulate(const float* from, const compiler::gradient_bucket& b) {
        const auto& r = round_of<I>();
        if (r.steps == 0) values_.wait_for_push();
        float* const to = r.accumulated.data() + b.at.offset();
        if (r.steps == 0) std::copy_n(from, b.floats, to);
        else
            for (std::int64_t i = 0; i < b.floats; ++i) to[i] += from[i];
        if (pushes_ && job_.setup.push_every > 1 && !sums<I>) {
            const float mean = 1.f / static_cast<float>(job_.setup.push_every);
            for (std::int64_t i = 0; i < b.floats; ++i) to[i] *= mean;
        }
        return to;
    }
    template <int I>
    void push_list(int k) {
        using program = training<I>;
        if constexpr (program::v.n_lists > 0) {
            const compiler::gradient_bucket& b = program::v.buckets[k];
            const int t = compiler::remote_tables_of<program>.of_parameter[b.parameter];
            for (int i = 0; i < replicas_.size(); ++i) {
                if (!replicas_.filled(i)) job_.tables.set_empty(t, i);
                else job_.tables.set(t, i, list_of(i, t, b));
            }
            push_rows<I>(t);
        }
    }
    /// Shard i's gradient of table t, in the host's memory.
    row_list list_of(int i, int t, const compiler::gradient_bucket& b) {
        if constexpr (set::shared) {
            return {reinterpret_cast<std::int32_t*>(replicas_[i].host(b.keys)), replicas_[i].host(b.at), b.row_floats};
        } else {
            const row_list to = job_.tables.copy(t, i);
            const int most = std::min(b.most_rows, worker_tables::table(t).most_rows);
            replicas_[i].read(b.keys, reinterpret_cast<float*>(to.keys), list_header + most);
            if (to.size() > 0) replicas_[i].read(b.at, to.rows, 16 * to.lines());
            return to;
        }
    }
    /// Of a table, what shards have been given; together with the rest of the round where that is
    /// one push.
    template <int I>
    void push_rows(int t) {
        const row_list& rows = job_.tables.join(t);
        if (job_.setup.push_every > 1) job_.tables.accumulate(t, rows);
        if (!pushes_) return;
        values_.wait_for_push();   // whose rows are sent from where these are collected
        if (job_.setup.push_every == 1) return job_.tables.push(*job_.link, t, rows);
        if (!sums<I>) job_.tables.scale_accumulated(t, 1.f / static_cast<float>(job_.setup.push_every));
        job_.tables.push_accumulated(*job_.link, t);
    }
    void sum_losses() {
        loss_ = replicas_.sum([&](int i) { return static_cast<double>(replicas_.shard(i).loss); });
        weight_ = replicas_.sum([&](int i) { return replicas_[i].loss_weight(); });
    }
    template <int I>
    double square_sum() {
        using program = training<I>;
        const runtime::arena& accumulated = round_of<I>().accumulated;
        if constexpr (!takes_norm) return 0;
        if (!updater_) return 0;
        std::fill(squares_.begin(), squares_.end(), 0.f);
        const float* const gradients = replicas_.template place<I>(0, {compiler::space::gradient, 0});
        for (int i = 0; i < program::v.n_parameters; ++i) {
            const variable_info& v = program::v.parameters[i];
            if (v.bucket < 0) continue;
            const compiler::gradient_bucket& b = program::v.buckets[v.bucket];
            const float* const g = (accumulated.size() > 0 ? accumulated.data() : gradients) + v.gradient.offset();
            const int t = v.remote ? compiler::remote_tables_of<program>.of_parameter[i] : -1;
            const std::int64_t padded = base::round_up(v.remote ? compact_floats(i) : v.floats, 16);
            squares_[std::size_t{16} * static_cast<std::size_t>(i)] =
                t >= 0 && job_.setup.push_every > 1 ? updater_->squares(job_.tables.accumulated(t))
                : b.is_list()                   ? updater_->squares(job_.tables.join(t))
                                                : updater_->squares(g, padded);
        }
        return static_cast<double>(updater_->total(squares_.data(), program::v.n_parameters));
    }
    static std::int64_t compact_floats(int parameter) {
        constexpr auto& remote = compiler::remote_tables_of<typename process::P>;
        const remote_table& r = worker_tables::table(remote.of_parameter[parameter]);
        return std::int64_t{r.most_rows} * r.width;
    }
    void push_states(parameter_servers::push_info& info) {
        if (n_states == 0 || !finite_) return;
        states_.add_up(replicas_);
        int n = 0;
        for (int i = 0; i < replicas_.size(); ++i) n += replicas_.filled(i);
        info.states_count = n;
        if (!n) return;
        float* const x = states_.sums();
        if (!job_.clocks()) {
            info.states_are_changes = true;
            for (std::int64_t j = 0; j < n_states; ++j)
                x[j] = x[j] / static_cast<float>(n) - values_.states_read()[at(static_cast<int>(j))];
        }
        job_.link->client().push_states(0, {x, static_cast<std::size_t>(n_states)});
    }
    template <int I>
    step_result finish(const step_values& v) {
        auto& r = round_of<I>();
        parameter_servers::push_info& info = r.info;
        sum_losses();
        now().stale = true;
        ++now().steps;
        ++now().consumed;
        const float own = finite_ ? static_cast<float>(loss_) : std::numeric_limits<float>::quiet_NaN();
        info.phase = I;
        info.adds = job_.setup.canonical || sums<I>;
        info.loss += info.adds || weight_ == 0 ? loss_ : loss_ * weight_;   // 0: its weights cancel
        info.weight += weight_;
        info.examples += static_cast<double>(examples_);
        info.finite = info.finite && finite_;
        r.steps = pushes_ ? 0 : r.steps + 1;
        step_result result{.loss = own,
                           .applied = finite_,
                           .save = job_.independent() && v.save,
                           .examples = examples_,
                           .loss_weight = weight_,
                           .global_step = values_.steps_made()};
        if (!finite_) replicas_.template put_back<I>();
        if (pushes_) {
            push_states(info);
            info.rate = rates_.factor();
            if (finite_) info.square_sum = square_sum<I>();
            const bool pulls = !job_.setup.prefetch && now().steps % job_.setup.pull_every == 0;
            const auto targets = pulls ? job_.link->targets() : span<const parameter_servers::pull_target>();
            values_.begin_push(job_.link->client().commit(info, targets), pulls);
            const bool adds = info.adds;
            info = {.weight = 0};
            if (job_.clocks() && job_.setup.order.staleness == 0) note_update(result, adds);
            else if (!job_.clocks() && finite_) ++result.global_step;   // this push, whose answer is on its way
        }
        result.save = saves(v);
        result.stop = job_.independent() ? v.stop || values_.asked_to_stop() : is_last();
        values_.report(static_cast<double>(result.loss));
        return result;
    }
    /// Of a step that all have made together.
    void note_update(step_result& r, bool adds) {
        using fate = parameter_servers::answer_info::fate;
        values_.settle();
        const parameter_servers::answer_info& a = job_.link->client().last();
        r.global_step = values_.steps_made();
        const bool again = a.push == fate::repeated && __builtin_isfinite(a.loss);   // its first answer was lost
        r.applied = a.push == fate::applied || a.push == fate::staged || again;
        const double mean = adds || a.weight == 0 ? a.loss : a.loss / a.weight;
        if (a.push == fate::not_finite) r.loss = std::numeric_limits<float>::quiet_NaN();
        else if (r.applied) r.loss = static_cast<float>(mean);
        if (r.applied) r.examples = static_cast<std::int64_t>(a.examples), r.loss_weight = a.weight;
        now().stale = false;
    }
};

} // namespace sinter::strategy_parts
