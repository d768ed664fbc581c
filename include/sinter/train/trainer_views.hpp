// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/optimizer_memory.hpp>
#include <sinter/train/checkpoint/reserved_names.hpp>
#include <sinter/train/checkpoint/table_files_calls.hpp>
#include <sinter/train/evaluation_ports.hpp>
#include <sinter/train/optimizers/detail/describe.hpp>
#include <sinter/train/optimizers/detail/learning_rates.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/trained_model.hpp>
#include <sinter/train/trainer.hpp>
#include <algorithm>

/// The interfaces by which ordinary code sees a trainer (train/trainer_state.hpp, evaluated_model.hpp,
/// trained_model.hpp), made of one of any type: what depends on the model's type, and no more than a call each.
namespace sinter::inline SINTER_TARGET::detail {

/// The type of a trainer's session, or of a class of its calls.
template <class Trainer>
using session_of = std::remove_cvref_t<decltype(std::declval<Trainer&>().session())>;

/// Whether losses alternate, each counting its own steps.
template <class Trainer>
constexpr int phases_of() {
    if constexpr (requires { Trainer::phases; }) return Trainer::phases;
    else return 1;
}

template <class Trainer>
constexpr const char* memory_of_trainer() {
    if (Trainer::slots() == 0) return nullptr;
    return memory_of<std::remove_cvref_t<decltype(std::declval<Trainer&>().optimizer())>>::name;
}

template <class Trainer>
constexpr const training_parts::table_files_calls* table_files_of() {
    if constexpr (Trainer::strategy_type::traits.remote_tables) return &training_parts::table_files_calls::all;
    else return nullptr;
}

template <class Trainer>
inline constexpr trainer_facts facts_of{
    .parameters = {Trainer::training::v.parameters, Trainer::training::v.n_parameters},
    .states = {Trainer::training::v.states, Trainer::training::v.n_states},
    .scopes = Trainer::training::scopes,
    .slots = Trainer::slots(),
    .memory = memory_of_trainer<Trainer>(),
    .draws_numbers = graph_value<typename Trainer::training::request>::c.streams > 0,
    .remote_tables = Trainer::strategy_type::traits.remote_tables,
    .phases_alternate = requires(const Trainer& t) { t.phase_steps(); },
    .keeps_averages = Trainer::keeps_averages,
    .tables = table_files_of<Trainer>()};

template <class Trainer>
class state_view final : public trainer_state {
public:
    /// Of a trainer that is only read, nothing is called that changes it.
    explicit state_view(const Trainer& t) : trainer_state(facts_of<Trainer>), t_(const_cast<Trainer&>(t)) {
        static_assert(names_are_free<Trainer>(),
                      "files keep the name `step` and all names under `optimizer/`, `run/` and `hooks/` for "
                      "themselves: call that parameter, state or layer something else");
    }

    session_base& session() const override { return t_.session(); }
    std::vector<float> plain(const variable_info& v, int slot) const override {
        return slot < 0 ? t_.plain(v) : t_.plain_slot(v, slot);
    }
    SINTER_COLD std::vector<float> first_values(const variable_info& v, int slot) const override {
        return t_.first_values(v, slot);
    }
    SINTER_COLD packed_values packed(const variable_info& v, const float* x, int slot) const override {
        return t_.packed(v, x, slot);
    }
    void put(const std::vector<packed_values>& all, bool whole) override { t_.put(all, whole); }
    bool weights_are_mixed() const override {
        if constexpr (Trainer::keeps_averages) return t_.weights_are_mixed();
        else return false;
    }
    std::int64_t steps() const override { return t_.steps(); }
    void set_steps(std::int64_t n) override { t_.set_steps(n); }
    std::vector<std::int64_t> phase_steps() const override {
        if constexpr (facts_of<Trainer>.phases_alternate) {
            const auto n = t_.phase_steps();
            return {n.begin(), n.end()};
        } else {
            return {};
        }
    }
    void set_phase_steps(span<const std::int64_t> n) override {
        if constexpr (facts_of<Trainer>.phases_alternate) {
            auto all = t_.phase_steps();
            std::copy_n(n.data(), std::min(n.size(), all.size()), all.begin());
            t_.set_phase_steps(all);
        }
    }
    std::uint64_t seed() const override { return t_.options().seed; }
    std::vector<float> rates() const override { return rates_of(t_.optimizer()); }
    void set_rates(const std::vector<float>& r) override { detail::set_rates(t_.optimizer(), r); }

private:
    Trainer& t_;
};

/// Counts a run's first output: a vote for each row of its last axis, be it one an example or
/// several, but for what the loss ignores. `ran`: a replica, or a session.
template <class Trainer, class Replica>
void count_accuracy(const Replica& ran, metrics::accuracy& accuracy, const batch_view& b) {
    if constexpr (ports_of<Trainer>.classifies()) {
        static constexpr target_spec target = ports_of<Trainer>.loss.at[0];
        const span<const float> y = ran.output(0);
        if (y.empty()) return;
        const int classes = ran.output_shape(0).last();
        const std::int64_t rows = static_cast<std::int64_t>(y.size()) / classes, of_rows = rows / b.size;
        const std::int32_t* const labels = session_parts::target_column(b, Trainer::training::v.targets[0], 0).indices;
        constexpr int of_weights = weights_of_output(ports_of<Trainer>, 0);
        const float* const weights = of_weights ? b.weights : nullptr;
        if (!target.ignores && !weights) return accuracy.add(y.data(), labels, rows, classes);
        for (std::int64_t i = 0; i < rows; ++i) {
            if (target.ignores && labels[i] == target.also) continue;
            if (weights && weights[i * of_weights / of_rows] == 0.f) continue;
            accuracy.add(y.data() + i * classes, labels + i, 1, classes);
        }
    }
}

template <class Trainer>
class model_view final : public trained_model {
    using session_type = session_of<Trainer>;
    static constexpr auto joining_archive() {
        std::unique_ptr<run_archive> (*make)(loop_run&) = nullptr;
        if constexpr (session_type::members_change) make = &archive_of;
        return make;
    }

public:
    explicit model_view(Trainer& t)
        : trained_model(ports_of<Trainer>, phases_of<Trainer>(),
                        ports_of<Trainer>.classifies() && ports_of<Trainer>.loss.at[0].below == 0 &&
                            Trainer::strategy_type::device::shares_memory,   // or each step would wait for its outputs
                        joining_archive()),
          t_(t), state_(t) {}

    trainer_state& state() override { return state_; }
    float evaluate(const batch_view& b) override { return t_.evaluate(b); }
    double loss_weight() const override { return t_.loss_weight(); }
    void count_accuracy(metrics::accuracy& a, const batch_view& b) const override {
        detail::count_accuracy<Trainer>(t_.session(), a, b);
    }
    span<const float> output(int i) const override { return t_.output(i); }
    shape last_output_shape(int i) const override { return t_.last_output_shape(i); }

    float step(const batch_view& b) override { return t_.step(b); }
    const step_result& last_step() const override { return t_.last_step(); }
    void ask_members(bool to_stop, bool to_save) override { t_.ask_members(to_stop, to_save); }
    int next_phase() override {
        if constexpr (phases_of<Trainer>() > 1) return t_.next_phase();
        else return 0;
    }
    void count_accuracy_of_step(metrics::accuracy& a, const batch_view& b) override {
        t_.session().each_part(b, [&](const auto& replica, const batch_view& part) {
            detail::count_accuracy<Trainer>(replica, a, part);
        });
    }
    bool has_served(bool (*asked_to_end)()) override {
        return t_.has_served(asked_to_end);
    }
    void begin_training(std::int64_t max_steps, bool keeps_runs) override {
        t_.begin_training(max_steps, keeps_runs);
    }
    void end_training(bool early) override {
        t_.end_training(early);
    }
    void follow_rates() override {
        if constexpr (!Trainer::strategy_type::traits.updates_here) t_.session().follow(t_.optimizer());
    }
    void need_settings() const override {
        detail::need_settings(t_.optimizer());
        need_learning_rates(t_.optimizer(), phases_of<Trainer>() > 1 ? 0 : t_.steps());
    }
    void each_learning_rate(base::function_ref<void(float, bool)> f) const override {
        detail::each_learning_rate(t_.optimizer(), t_.steps(), f);
    }
    void each_constant_rate(const char* who, base::function_ref<void(float&)> f) override {
        each_schedule(t_.optimizer(), [&](schedule& rate) {
            if (rate.at_step || rate.custom || rate.warmup) refuse_schedule(who);
            f(rate.peak);
        });
    }
    void describe(description& d, std::int64_t end) const override {
        if constexpr (!session_type::alone) {
            d.of("model");
            t_.describe(d);
            describe_optimizer(d, t_.optimizer(), end, "optimizer");
        }
    }

private:
    Trainer& t_;
    state_view<Trainer> state_;
};

} // namespace sinter::detail
