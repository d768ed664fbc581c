// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/parameter_server/server_values.hpp>
#include <sinter/strategy/synchronous/session_over.hpp>
#include <sinter/strategy/synchronous/shard_states.hpp>
#include <array>

namespace sinter::inline SINTER_TARGET::detail {

/// A process of a job with servers, in every role. A worker's step: rows of tables that its batch
/// names are pulled; each bucket of gradients is pushed as soon as it is final; the commit brings
/// the newest weights. A server's serve() runs until the job is over. The evaluator is connected to
/// nobody.
///
/// `independent()`: workers with batches of their own train each at its own pace; those that share
/// batches make all calls together.
template <class Programs, class Optimizer>
class server_replicas : public server_values<Programs, Optimizer> {
    using base_type = server_values<Programs, Optimizer>;
    using base_type::shards_, base_type::units_, base_type::at, base_type::alone_, base_type::shard_, base_type::batch_,
        base_type::filled, base_type::setup_, base_type::places_, base_type::link_, base_type::tables_,
        base_type::updater_, base_type::begun_, base_type::resting_, base_type::is_old_, base_type::rounds_,
        base_type::stale_,
        base_type::push_,
        base_type::max_steps_, base_type::steps_, base_type::consumed_, base_type::rates_, base_type::states_before_,
        base_type::n_states, base_type::takes_norm, base_type::parameters,
        base_type::place, base_type::clocks, base_type::settle, base_type::wait, base_type::start_pull,
        base_type::pull_all, base_type::values;
    using typename base_type::shard, typename base_type::awaited;
    template <int I>
    using training = typename Programs::template training<I>;
    template <int I>
    static constexpr bool sums = base_type::template sums<I>;

public:
    template <class Strategy>
    SINTER_COLD server_replicas(const Strategy& s, int threads)
        : base_type(
              s.setup(), [&](int) { return s.device_options(0); }, threads),
          states_(shards_, state_policy::per_shard), operands_(at(shards_)),
          squares_(std::size_t{16} * std::size_t{base_type::P::v.n_parameters + 1}) {
        drawn_shards_.reserve(at(shards_));
        if (setup_.push_every > 1 || setup_.prefetch) make_rounds(typename base_type::all_training{});
    }
    server_replicas(server_replicas&&) = default;
    server_replicas& operator=(server_replicas&&) = default;
    /// The link goes first: of a step that has thrown, rows and gradients may be on their way.
    ~server_replicas() { link_.reset(); }
    using base_type::member, base_type::independent, base_type::asked_to_stop;

    /// This worker's part of a step. Examples 0: this step was not made, since the job has come to
    /// its end (`stop`), or, where batches are shared, since the others have made it without this
    /// worker (`passed`).
    template <int I = 0, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& given, Observer observe = {}) {
        this->need_worker("step");
        step_values v = given;
        if (!begun_) v.step = this->begin_training(v.step, 0);   // servers may go on from a checkpoint
        sharded::client& c = link_->client();
        if (c.stop_clock() < 0) {
            if (c.server_ends()) c.ask_all_to_stop("a server was asked to end");
            else if (v.stop && (member().chief() || !independent())) c.ask_all_to_stop("asked to stop");
        }
        if (v.save && !independent()) c.ask_all_to_save();
        settle();
        if (is_old_ || c.renewed()) begin_anew();
        resting_ = false;
        if (passes()) return passed(v);
        while (!this->while_waiting([&] { return c.may_step(); })) {
            if (passes()) return passed(v);
            if (!may_yet_step()) return unmade(v, c.asked() || !member().chief());
        }
        if (passes()) return passed(v);
        // Steps of one push have the same number: each draws others of its own.
        if (setup_.push_every > 1) v.step = v.step * setup_.push_every + round_of<I>().steps;
        begin<I>(b, v);
        if (setup_.prefetch) start_pull();
        work<I>(v, observe);
        return finish<I>(v);
    }

private:
    detail::shard_states<Programs> states_;

    // ---- of the step that is run
    detail::batch_part part_;
    std::vector<const float*> operands_;
    std::vector<runtime::batch_shard> drawn_shards_;   ///< of the shards that have examples, where tables draw rows
    int last_ = -1, next_bucket_ = 0;
    bool finite_ = true, pushes_ = true;
    double loss_ = 0, weight_ = 0;
    std::int64_t examples_ = 0;
    std::vector<float> squares_;

    template <int... I>
    void make_rounds(std::integer_sequence<int, I...>) {
        ((rounds_[std::size_t{I}].gathered = runtime::arena(training<I>::v.z.gradients)), ...);
    }
    template <int I>
    auto& round_of() { return rounds_[std::size_t{I}]; }

    // ---- a step
    /// The chief has overwritten the servers' values: those here, and gradients that are gathered,
    /// are of others.
    SINTER_COLD void begin_anew() {
        pull_all();
        for (auto& r : rounds_) r.steps = 0, r.info = {.weight = 0};
    }
    /// Whether all stop behind this step, since somebody has asked.
    bool is_last() const {
        const std::int64_t stop = link_->client().stop_clock();
        return stop >= 0 && consumed_ >= stop;
    }
    /// Whether the others have made the step of this batch, which all share, without this worker.
    bool passes() {
        if (independent() || consumed_ >= link_->client().pass_clocks()) return false;
        ++consumed_;
        stale_ = true;
        return true;
    }
    /// Whether a step that was not allowed now may be later. The chief waits for those that make
    /// the last ones.
    SINTER_COLD bool may_yet_step() {
        sharded::client& c = link_->client();
        stale_ = true;
        if (c.asked() || !member().chief()) return false;
        c.rest();
        c.wait_for_others();
        pull_all();
        return !c.asked() && !(max_steps_ > 0 && c.global_step() >= max_steps_);
    }
    /// Whether all save behind this step, likewise; who has batches of their own saves when it
    /// likes.
    bool saves(const step_values& v) const {
        return independent() ? v.save : consumed_ > 0 && link_->client().saves_files(consumed_);
    }
    step_result unmade(const step_values& v, bool stop) {
        return {.applied = false,
                .stop = stop,
                .save = independent() && v.save,
                .examples = 0,
                .loss_weight = 0,
                .global_step = this->steps_made()};
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
        const membership me = member();
        const bool shares = !independent();
        const int first = shares ? me.index * shards_ : 0, of = shares ? me.count * shards_ : shards_;
        if (b.size < 1 || b.size > of * program::v.max_batch) detail::refuse_size(b.size, of * program::v.max_batch);
        const detail::example_range begin = detail::part_of_batch(b.size, first, of),
                                    end = detail::part_of_batch(b.size, first + shards_ - 1, of);
        const detail::example_range own{begin.first, end.first + end.size - begin.first};
        part_.template assign<program>(b, own);
        batch_ = own.size == b.size ? b : part_.view;
        if (own.size && base_type::worker_tables::count > 0) {
            drawn_shards_.clear();
            for (int i = 0; i < shards_; ++i)
                if (detail::part_of_batch(b.size, first + i, of).size > 0)
                    drawn_shards_.push_back({.index = static_cast<std::uint64_t>(me.index * shards_ + i),
                                             .global_batch = own.size});
            batch_ = tables_.template prepare<program>(batch_, v, {drawn_shards_.data(), drawn_shards_.size()});
            tables_.pull(link_.get(), parameters());
        }
        const float* whole[std::size_t{program::v.n_inputs + program::v.n_targets + 1}] = {};
        if (own.size) bind_ports<program>(batch_, whole, true);
        last_ = -1;
        int with_examples = 0;
        for (int i = 0; i < shards_; ++i) {
            shard& s = shard_[at(i)];
            const detail::example_range range = detail::part_of_batch(b.size, first + i, of);
            // One part of a batch is a batch by itself, of its own mean, but under canonical.
            const int batch = setup_.canonical ? b.size : range.size;
            s = {{range.first - own.first, range.size},
                 {.index = static_cast<std::uint64_t>(me.index * shards_ + i), .global_batch = batch}};
            const float* ports[std::size_t{program::v.n_inputs + program::v.n_targets + 1}] = {};
            if (range.size) {
                detail::move_ports<program>(whole, s.part.first, ports);
                tables_.template place_drawn<program>(with_examples++, ports);
                last_ = i;
            }
            units_[at(i)].template begin_step<I>(ports, range.size);
        }
        this->template remember_program<I>();
        examples_ = own.size;
        next_bucket_ = 0;
        finite_ = true;
        loss_ = weight_ = 0;
    }
    template <int I, class Observer>
    void work(const step_values& v, Observer& observe) {
        using program = training<I>;
        pushes_ = round_of<I>().steps + 1 == setup_.push_every;
        if (pushes_) link_->client().begin_push();
        if (setup_.push_every > 1 && round_of<I>().steps == 0)
            for (int t = 0; t < compiler::remote_tables_of<program>.n; ++t)
                if (compiler::remote_tables_of<program>.at[t].bucket >= 0) tables_.begin_round(t);
        const bool staged = round_of<I>().gathered.size() > 0;
        if (!staged) wait(push_);   // whose buffers are the gradients
        int begun = 0;
        if constexpr (program::v.n_loss_weights > 0) {
            if (setup_.canonical) {
                begun = program::v.loss_weights_ready;
                for (int i = 0; i < shards_; ++i)
                    if (filled(i))
                        shard_[at(i)].finite = units_[at(i)].template stretch<I>(values(i, v), {0, begun}, alone_);
                this->template sum_loss_weights<I>(
                    [&](double* x, int n) { this->reduce({x, static_cast<std::size_t>(n)}); });
            }
        }
        for (int i = 0; i < shards_; ++i) {
            shard& s = shard_[at(i)];
            if (!filled(i)) {
                this->template leave_out<I>(i, v);
                continue;
            }
            s.finite = s.finite &&
                       units_[at(i)].template stretch<I>(
                           values(i, v), {begun, program::v.segments.first_update}, alone_,
                           [&](int launch, bool before) {
                               if (i == 0) observe(launch, before);
                               if (i == last_ && !before && launch >= detail::of_program::loss_launch<program>)
                                   push_ready<I>(launch);
                           });
            s.loss = units_[at(i)].template finish_step<I>();
            s.finite = s.finite && this->is_finite(s.loss);
            finite_ = finite_ && s.finite;
        }
        if (finite_) push_ready<I>(program::v.n_launches);
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
        if (shards_ > 1) {
            for (int i = 0; i < shards_; ++i) operands_[at(i)] = place(i, b.at);
            detail::tree_sum(place(0, b.at), operands_.data(), shards_, 0, b.floats / 16);
        }
        float* const own = place(0, b.at);
        float* from = own;
        if (round_of<I>().gathered.size() > 0) from = gather<I>(from, b);
        push_whole_tables<I>(k, own);
        if (!pushes_) return;
        for (const detail::server_places::part& p : places_.of_bucket[std::size_t{I}][at(k)])
            link_->client().push(p.server, p.first,
                                 {from + (p.gradient - b.at.offset()), static_cast<std::size_t>(p.floats)});
    }
    /// Gradients of tables that are no lists, since some lookups are by rows that all examples
    /// share (a sampled softmax's candidates): shards have added them up.
    template <int I>
    void push_whole_tables(int k, float* bucket) {
        using program = training<I>;
        for (int t = 0; t < compiler::remote_tables_of<program>.n; ++t) {
            const remote_table& r = compiler::remote_tables_of<program>.at[t];
            if (r.bucket != k || r.gradient.where() == compiler::space::none) continue;
            for (int i = 1; i < shards_; ++i) tables_.set_empty(t, i);
            tables_.set(t, 0, tables_.as_list(t, bucket + (r.gradient.offset() - program::v.buckets[k].at.offset())));
            push_rows<I>(t);
        }
    }
    /// Where gradients wait that are not pushed at once, or are while the next are made.
    template <int I>
    float* gather(const float* from, const compiler::gradient_bucket& b) {
        const auto& r = round_of<I>();
        if (r.steps == 0) wait(push_);
        float* const to = r.gathered.data() + b.at.offset();
        if (r.steps == 0) std::copy_n(from, b.floats, to);
        else
            for (std::int64_t i = 0; i < b.floats; ++i) to[i] += from[i];
        if (pushes_ && setup_.push_every > 1 && !sums<I>) {
            const float mean = 1.f / static_cast<float>(setup_.push_every);
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
            for (int i = 0; i < shards_; ++i) {
                if (!filled(i)) tables_.set_empty(t, i);
                else
                    tables_.set(t, i,
                                {reinterpret_cast<std::int32_t*>(place(i, b.keys)), place(i, b.at), b.row_floats});
            }
            push_rows<I>(t);
        }
    }
    /// Of a table, what shards have been given; together with the rest of the round where that is
    /// one push.
    template <int I>
    void push_rows(int t) {
        const row_list& rows = tables_.join(t);
        if (setup_.push_every > 1) tables_.gather(t, rows);
        if (!pushes_) return;
        wait(push_);   // whose rows are sent from where these are collected
        if (setup_.push_every == 1) return tables_.push(*link_, t, rows);
        if (!sums<I>) tables_.scale_gathered(t, 1.f / static_cast<float>(setup_.push_every));
        tables_.push_gathered(*link_, t);
    }
    void sum_losses() {
        loss_ = this->sum_of_shards([&](int i) { return static_cast<double>(shard_[at(i)].loss); });
        weight_ = this->sum_of_shards([&](int i) { return units_[at(i)].loss_weight(); });
    }
    template <int I>
    double square_sum() {
        using program = training<I>;
        const runtime::arena& gathered = round_of<I>().gathered;
        if constexpr (!takes_norm) return 0;
        if (!updater_) return 0;
        std::fill(squares_.begin(), squares_.end(), 0.f);
        for (int i = 0; i < program::v.n_parameters; ++i) {
            const variable_info& v = program::v.parameters[i];
            if (v.bucket < 0) continue;
            const compiler::gradient_bucket& b = program::v.buckets[v.bucket];
            const float* const g =
                (gathered.size() > 0 ? gathered.data() : place(0, {compiler::space::gradient, 0})) +
                v.gradient.offset();
            const int t = v.remote ? compiler::remote_tables_of<program>.of_parameter[i] : -1;
            const std::int64_t padded = base::round_up(v.remote ? compact_floats(i) : v.floats, 16);
            squares_[std::size_t{16} * static_cast<std::size_t>(i)] =
                t >= 0 && setup_.push_every > 1 ? updater_->squares(tables_.gathered(t))
                : b.is_list()                   ? updater_->squares(tables_.join(t))
                                                : updater_->squares(g, padded);
        }
        return static_cast<double>(updater_->total(squares_.data(), program::v.n_parameters));
    }
    static std::int64_t compact_floats(int parameter) {
        constexpr auto& remote = compiler::remote_tables_of<typename base_type::P>;
        const remote_table& r = base_type::worker_tables::table(remote.of_parameter[parameter]);
        return std::int64_t{r.most_rows} * r.width;
    }
    void push_states(sharded::push_info& info) {
        if (n_states == 0 || !finite_) return;
        const auto any = [&](int i) { return filled(i); };
        states_.join(units_, any);
        int n = 0;
        for (int i = 0; i < shards_; ++i) n += filled(i);
        info.states_count = n;
        if (!n) return;
        float* const x = states_.joined();
        if (!clocks()) {
            info.states_are_changes = true;
            for (std::int64_t j = 0; j < n_states; ++j)
                x[j] = x[j] / static_cast<float>(n) - states_before_[at(static_cast<int>(j))];
        }
        link_->client().push_states(0, {x, static_cast<std::size_t>(n_states)});
    }
    template <int I>
    step_result finish(const step_values& v) {
        auto& r = round_of<I>();
        sharded::push_info& info = r.info;
        sum_losses();
        stale_ = true;
        ++steps_;
        ++consumed_;
        const float own = finite_ ? static_cast<float>(loss_) : std::numeric_limits<float>::quiet_NaN();
        info.phase = I;
        info.adds = setup_.canonical || sums<I>;
        info.loss += info.adds || weight_ == 0 ? loss_ : loss_ * weight_;   // 0: its weights cancel
        info.weight += weight_;
        info.examples += static_cast<double>(examples_);
        info.finite = info.finite && finite_;
        r.steps = pushes_ ? 0 : r.steps + 1;
        step_result result{.loss = own,
                           .applied = finite_,
                           .save = independent() && v.save,
                           .examples = examples_,
                           .loss_weight = weight_,
                           .global_step = this->steps_made()};
        if (!finite_) this->template put_back<I>();
        if (pushes_) {
            push_states(info);
            info.rate = rates_.factor();
            if (finite_) info.square_sum = square_sum<I>();
            const bool pulls = !setup_.prefetch && steps_ % setup_.pull_every == 0;
            push_ =
                awaited{link_->client().commit(info, pulls ? link_->targets() : span<const sharded::pull_target>()),
                        true, pulls};
            const bool adds = info.adds;
            info = {.weight = 0};
            if (clocks() && setup_.order.staleness == 0) note_update(result, adds);
            else if (!clocks() && finite_) ++result.global_step;   // this push, whose answer is on its way
        }
        result.save = saves(v);
        result.stop = independent() ? v.stop || asked_to_stop() : is_last();
        this->report(static_cast<double>(result.loss));
        return result;
    }
    /// Of a step that all have made together.
    void note_update(step_result& r, bool adds) {
        using fate = sharded::answer_info::fate;
        settle();
        const sharded::answer_info& a = link_->client().last();
        r.global_step = this->steps_made();
        const bool again = a.push == fate::repeated && std::isfinite(a.loss);   // its first answer was lost
        r.applied = a.push == fate::applied || a.push == fate::staged || again;
        const double mean = adds || a.weight == 0 ? a.loss : a.loss / a.weight;
        if (a.push == fate::not_finite) r.loss = std::numeric_limits<float>::quiet_NaN();
        else if (r.applied) r.loss = static_cast<float>(mean);
        if (r.applied) r.examples = static_cast<std::int64_t>(a.examples), r.loss_weight = a.weight;
        stale_ = false;
    }
};

/// The session of parameter_server: see server_replicas.
template <class Programs, class Optimizer>
class server_session final : public session_over<server_replicas<Programs, Optimizer>> {
    using parts = server_replicas<Programs, Optimizer>;

public:
    using session_over<parts>::session_over;

    bool exchange_with_slot(int slot) override { return parts::exchange_with_slot(slot), true; }
    bool independent() const override { return parts::independent(); }
    bool may_lag() const override { return parts::may_lag(); }
    double mean_of_all(double mean, double weight) override { return parts::mean_of_all(mean, weight); }
    bool makes_up() const override { return parts::makes_up(); }

    std::int64_t begin_training(std::int64_t steps, std::int64_t max_steps, bool keeps_runs) override {
        return parts::begin_training(steps, max_steps, keeps_runs);
    }
    bool begun() const override { return parts::begun(); }
    std::int64_t end_training(std::int64_t steps, bool early) override { return parts::end_training(steps, early); }
    void rest() override { parts::rest(); }
    std::int64_t next_step(std::int64_t done) override { return parts::next_step(done); }
    void read_phase_steps(span<std::int64_t> here) const override { parts::read_phase_steps(here); }
    void set_phase_steps(span<const std::int64_t> n) override { parts::set_phase_steps(n); }
    bool saves_one_moment() const override { return parts::saves_one_moment(); }

    bool serves() const override { return parts::serves(); }
    bool server_ends() const override { return parts::server_ends(); }
};

} // namespace sinter::detail
