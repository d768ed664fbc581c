// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/program_identity.hpp>
#include <sinter/strategy/session.hpp>
#include <sinter/strategy/synchronous/core.hpp>
#include <memory>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// A strategy of which synchronous_session is the session. `setup(identity)` says how it is made
/// up, and connects to other processes, if there are any: they have the same identity or are
/// refused. `device_options(i)`: of this process's i-th shard. `policy()`: a number that processes
/// of one job share.
template <class S>
concept synchronous_strategy = strategy<S> && requires(const S& s, const program_identity& i) {
    { s.setup(i) } -> std::same_as<synchronous_setup>;
    { s.device_options(0) } -> std::same_as<typename S::device::options>;
    { s.policy() } -> std::same_as<std::uint64_t>;
};
/// What processes compare when they meet.
template <class Programs, other_processes Others, class Strategy>
program_identity identity_under(const Strategy& s) {
    static_assert(synchronous_strategy<Strategy>);
    if constexpr (Others == other_processes::none) return {};   // nobody compares it
    else return identity_of<Programs>(s.policy());
}

/// What sessions of synchronous strategies share: a core, and the calls that go to one of its parts.
template <class Programs, other_processes Others>
class session_of_core : public session_base {
public:
    static constexpr bool alone = Others == other_processes::none;

    template <class Strategy>
    SINTER_COLD session_of_core(const Strategy& s, int threads)
        : core_(std::make_unique<synchronous_core<Programs, Others>>(
              s.setup(identity_under<Programs, Others>(s)), [&](int i) { return s.device_options(i); }, threads)) {}

    float evaluate(const batch_view& b, const step_values& v) { return first().evaluate(b, v); }
    void predict(const batch_view& b, const step_values& v) { first().predict(b, v); }
    span<const float> output(int i) const { return core_->replicas.output(i); }
    const shape& output_shape(int i) const { return first().output_shape(i); }
    double loss_weight() const { return first().loss_weight(); }
    void forget_outputs() { first().forget_outputs(); }
    template <class F>
    void each_part(const batch_view& b, F f) {
        core_->each_part(b, f);
    }
    /// This process's.
    replica_set<Programs>& replicas() { return core_->replicas; }
    int threads() const override { return core_->replicas.threads(); }
    bool per_worker() const override { return core_->members.per_worker(); }
    batch_share own_share() const override { return core_->own_share(); }
    const place_in_job& in_job() const override { return core_->members.in_job(); }
    bool asked_to_stop() const override { return core_->members.asked_to_stop(); }
    void ask_all_to_stop(const char* why) override { core_->members.ask_all_to_stop(why); }
    void set_steps(std::int64_t n) override { core_->members.set_steps(n); }

protected:
    using core = synchronous_core<Programs, Others>;
    std::unique_ptr<core> core_;

private:
    auto& first() { return core_->replicas.first(); }
    const auto& first() const { return core_->replicas.first(); }
};

/// The session of a synchronous strategy whose members stay the same.
template <class Programs, other_processes Others = other_processes::update_all>
class synchronous_session final : public session_of_core<Programs, Others> {
    using base = session_of_core<Programs, Others>;
    using base::core_;

public:
    using base::base;

    template <int I = 0, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& v, Observer observe = {}) {
        return core_->template step<I>(b, v, observe);
    }
    void read(compiler::address from, float* to, std::int64_t n) const override { core_->values.read(from, to, n); }
    void write(compiler::address to, const float* from, std::int64_t n) override { core_->values.write(to, from, n); }
    void clear_slots() override { core_->values.clear_slots(); }
    void publish() override { core_->values.publish(); }
    membership member() const override { return core_->members.place(); }
    void reduce(span<double> x) override { core_->members.reduce(x); }
    void broadcast(span<std::byte> x) override { core_->members.broadcast(x); }
    void fail(const char* why) override { core_->members.fail(why); }
};

/// Whether a strategy's members change from one step to the next (elastic()).
template <class Strategy>
inline constexpr bool changes_members = requires { Strategy::changes_members; };
/// A strategy of one process says so: `others`.
template <class Strategy>
inline constexpr other_processes others_of = other_processes::update_all;
template <class Strategy>
    requires requires { Strategy::others; }
inline constexpr other_processes others_of<Strategy> = Strategy::others;
/// How many replicas' gradients an update adds up itself, where so many share one memory.
template <class Device>
constexpr int gradient_sources(int replicas) {
    return Device::shares_memory && replicas <= program_options::most_gradient_sources ? replicas : 1;
}
/// Options of a device's i-th replica: GPUs are numbered, processors are not.
template <class Device>
typename Device::options options_of_replica(typename Device::options o, int i) {
    if constexpr (requires { o.number; }) o.number = o.number < 0 ? i : o.number + i;
    return o;
}
} // namespace sinter::strategy_parts
