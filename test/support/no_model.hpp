// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/loop_run.hpp>

namespace sinter::test {

struct no_session : session_base {
    void read(facts::address, float*, std::int64_t) const override {}
    void write(facts::address, const float*, std::int64_t) override {}
    void clear_slots() override {}
    int threads() const override { return 1; }
};

/// What hooks and the loop see of a model, where there is none: a test overrides the calls that it means.
class no_model : public trained_model, public trainer_state {
    static constexpr port_facts no_ports{};
    static constexpr trainer_facts no_facts{};
    mutable no_session session_;
    step_result last_{};

public:
    no_model() : trained_model(no_ports, 1, false, nullptr), trainer_state(no_facts) {}

    trainer_state& state() override { return *this; }
    float evaluate(const batch_view&) override { return 0; }
    double loss_weight() const override { return 1; }
    void count_accuracy(metrics::accuracy&, const batch_view&) const override {}
    span<const float> output(int) const override { return {}; }
    shape last_output_shape(int) const override { return {}; }
    float step(const batch_view&) override { return 0; }
    const step_result& last_step() const override { return last_; }
    void ask_members(bool, bool) override {}
    int next_phase() override { return 0; }
    void count_accuracy_of_step(metrics::accuracy&, const batch_view&) override {}
    bool has_served(bool (*)()) override { return false; }
    void begin_training(std::int64_t, bool) override {}
    void end_training(bool) override {}
    void follow_rates() override {}
    void need_settings() const override {}
    void each_learning_rate(base::function_ref<void(float, bool)>) const override {}
    void each_constant_rate(const char*, base::function_ref<void(float&)>) override {}
    void describe(description&, std::int64_t) const override {}

    session_base& session() const override { return session_; }
    std::vector<float> plain(const variable_info&, int) const override { return {}; }
    std::vector<float> first_values(const variable_info&, int) const override { return {}; }
    packed_values packed(const variable_info&, const float*, int) const override { return {}; }
    void put(const std::vector<packed_values>&, bool) override {}
    bool weights_are_mixed() const override { return false; }
    std::int64_t steps() const override { return 0; }
    void set_steps(std::int64_t) override {}
    std::vector<std::int64_t> phase_steps() const override { return {}; }
    void set_phase_steps(span<const std::int64_t>) override {}
    std::uint64_t seed() const override { return 0; }
    std::vector<float> rates() const override { return {}; }
    void set_rates(const std::vector<float>&) override {}
};

} // namespace sinter::test
