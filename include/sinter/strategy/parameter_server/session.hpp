// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/parameter_server/worker_steps.hpp>
#include <sinter/strategy/session.hpp>
#include <memory>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The session of parameter_server. A worker trains (worker_steps.hpp); a server's serve() runs until the job is over;
/// the evaluator is connected to nobody.
template <class Programs, class Optimizer>
class server_session final : public session_base {
public:
    template <class Strategy>
    SINTER_COLD server_session(const Strategy& s, int threads) : parts_(std::make_unique<parts>(s, threads)) {}

    template <int I = 0, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& v, Observer observe = {}) {
        return parts_->steps.template step<I>(b, v, observe);
    }
    float evaluate(const batch_view& b, const step_values& v) { return values().evaluate(b, v); }
    void predict(const batch_view& b, const step_values& v) { values().predict(b, v); }
    span<const float> output(int i) const { return replicas().output(i); }
    const shape& output_shape(int i) const { return replicas().first().output_shape(i); }
    double loss_weight() const { return replicas().first().loss_weight(); }
    void forget_outputs() {
        if (parts_->job.has_model()) replicas().first().forget_outputs();
    }
    template <class F>
    void each_part(const batch_view& b, F f) {
        parts_->steps.each_part(b, f);
    }

    void read(compiler::address from, float* to, std::int64_t n) const override { values().read(from, to, n); }
    void write(compiler::address to, const float* from, std::int64_t n) override { values().write(to, from, n); }
    void clear_slots() override { values().clear_slots(); }
    void publish() override { values().publish(); }
    void refresh() override { values().refresh(); }
    bool exchange_with_slot(int slot) override { return values().exchange_with_slot(slot), true; }
    int threads() const override { return replicas().threads(); }

    membership member() const override { return job().member(); }
    void reduce(span<double> x) override { values().reduce(x); }
    void broadcast(span<std::byte> x) override { values().broadcast(x); }
    void fail(const char* why) override { values().fail(why); }
    bool independent() const override { return job().independent(); }
    bool may_lag() const override { return values().may_lag(); }
    double mean_of_all(double mean, double weight) override { return values().mean_of_all(mean, weight); }
    bool makes_up() const override { return values().makes_up(); }
    batch_share own_share() const override { return parts_->steps.own_share(); }

    std::int64_t begin_training(std::int64_t steps, std::int64_t max_steps, bool keeps_runs) override {
        return values().begin_training(steps, max_steps, keeps_runs);
    }
    bool begun() const override { return values().begun(); }
    std::int64_t end_training(std::int64_t steps, bool early) override { return values().end_training(steps, early); }
    void rest() override { values().rest(); }
    void set_steps(std::int64_t n) override { values().set_steps(n); }
    std::int64_t next_step(std::int64_t done) override { return values().next_step(done); }
    void read_phase_steps(span<std::int64_t> here) const override { values().read_phase_steps(here); }
    void set_phase_steps(span<const std::int64_t> n) override { values().set_phase_steps(n); }
    bool asked_to_stop() const override { return values().asked_to_stop(); }
    void ask_all_to_stop(const char* why) override { values().ask_all_to_stop(why); }
    bool saves_one_moment() const override { return job().saves_one_moment(); }

    const place_in_job& in_job() const override { return job().in_job(); }
    bool serves() const override { return job().serves(); }
    bool server_ends() const override { return values().server_ends(); }
    void serve(const Optimizer& o, bool (*asked_to_end)() = nullptr) { parts_->job.serve(o, asked_to_end); }
    void follow(const Optimizer& o) { parts_->steps.follow(o); }

    using session_base::tables;
    table_calls* tables() override { return &values(); }
    /// The connection to the servers, for what it counts; null but in a worker.
    parameter_servers::client* client() { return values().client(); }
    parameter_servers::client_counters counters() const { return values().counters(); }

private:
    struct parts {
        job_process<Programs, Optimizer> job;
        value_mirror<Programs, Optimizer> values{job};
        worker_steps<Programs, Optimizer> steps{job, values};
        template <class Strategy>
        parts(const Strategy& s, int threads)
            : job(s.setup(), [&](int i) { return s.device_options(i); }, threads) {}
        /// The connection goes first: of a step that has thrown, rows and gradients may be on their way.
        ~parts() { job.link.reset(); }
    };
    std::unique_ptr<parts> parts_;

    auto& values() { return parts_->values; }
    const auto& values() const { return parts_->values; }
    const auto& job() const { return parts_->job; }
    auto& replicas() { return parts_->job.replicas; }
    const auto& replicas() const { return parts_->job.replicas; }
};

} // namespace sinter::strategy_parts
