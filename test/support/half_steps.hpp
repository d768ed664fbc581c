// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <sinter/base/span.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/strategy/bind_batch.hpp>
#include <sinter/train/trainer.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

/// One training program with memory of its own, whose steps are run in two halves: gradients, then updates.
namespace sinter::test {
using namespace compiler;
using namespace runtime;

/// A batch of random numbers for all that a program P reads.
template <class P>
class random_batch {
public:
    random_batch(std::uint64_t number, int size = P::v.max_batch) {
        random_stream r(77, number);
        for (int i = 0; i < P::v.n_inputs + P::v.n_targets; ++i) {
            const bool input = i < P::v.n_inputs;
            const port_info& p = input ? P::v.inputs[i] : P::v.targets[i - P::v.n_inputs];
            const auto n = static_cast<std::size_t>(size) * static_cast<std::size_t>(p.s.size());
            data::input_view& v = (input ? inputs_ : targets_)[input ? i : i - P::v.n_inputs];
            v.width = p.s.size();
            if (p.s.type == dtype::i32) {
                whole_.emplace_back(n);
                for (std::int32_t& x : whole_.back())
                    x = static_cast<std::int32_t>(r.below(static_cast<std::uint32_t>(p.below)));
                v.indices = whole_.back().data();
            } else {
                floats_.emplace_back(n + 16);
                for (float& x : floats_.back()) x = r.uniform(-1, 1);
                v.values = floats_.back().data();
            }
            if (!p.weight) continue;
            for (float& x : floats_.back()) x = x < -0.6f ? 0.f : x + 0.7f;   // some count for nothing
            view_.weights = v.values;
            view_.weight_width = v.width;
        }
        view_.inputs = {inputs_, P::v.n_inputs};
        view_.targets = {targets_, P::v.n_targets};
        view_.size = size;
    }
    random_batch(const random_batch&) = delete;
    const data::batch_view& view() const { return view_; }

private:
    std::vector<std::vector<float>> floats_;
    std::vector<std::vector<std::int32_t>> whole_;
    data::input_view inputs_[P::v.n_inputs + 1], targets_[P::v.n_targets + 1];
    data::batch_view view_;
};

/// `P` with the first values of a trainer of the same net.
template <class P, class Optimizer>
class half_steps {
public:
    using program = P;
    static constexpr program_segments cuts = P::v.segments;

    template <class Trainer>
    half_steps(const Trainer& first, Optimizer o, int threads) : optimizer_(o), device_({.threads = threads}) {
        const std::pair<arena*, space> arenas[] = {{&memory_.parameters, space::parameter},
                                                   {&memory_.gradients, space::gradient},
                                                   {&memory_.states, space::state}, {&memory_.slots, space::slot},
                                                   {&memory_.activations, space::activation}};
        for (const auto& [a, s] : arenas) *a = arena(P::v.floats(s));
        memory_.scratch = arena(cpu_runner<P>::scratch_floats());
        runner_.bind(memory_);
        for (int i = 0; i < P::v.n_parameters; ++i) {
            const variable_info& v = P::v.parameters[i];
            write(v, v.at, first.plain(first.parameter(i)));
            for (int k = 0; k < Trainer::slots_of(v); ++k)
                write(v, slot(v, k), first.plain_slot(first.parameter(i), k));
        }
        for (int i = 0; i < P::v.n_states; ++i) write(P::v.states[i], P::v.states[i].at, first.plain(first.state(i)));
    }
    void begin(const data::batch_view& b, const batch_shard& shard = {}) {
        if (b.size) bind_batch<P>(b, ports_, true);
        optimizer_.scalars(step_, scalars_);
        now_ = {ports_, scalars_, 1, step_, b.size, true};
        now_.shard = shard;
    }
    step_arguments& now() { return now_; }   ///< what runs are given until the next begin()
    void end() { ++step_; }                   ///< of a step whose second half was run bit by bit
    /// False if the loss is not finite.
    bool gradients(const data::batch_view& b, const batch_shard& shard = {}) {
        begin(b, shard);
        return run({0, cuts.first_update});
    }
    /// With arguments of the first half, but for the batch, which nobody needs to keep.
    void update() {
        now_.ports = nullptr;
        run({cuts.first_update});
        ++step_;
    }
    cpu_runner<P>& runner() { return runner_; }
    bool run(launch_range r) {
        now_.launches = r;
        return device_.template run<P>(runner_, now_);
    }
    void step(const data::batch_view& b) {
        gradients(b);
        update();
    }
    // as a trainer has them
    static const variable_info& parameter(int i) { return P::v.parameters[i]; }
    static const variable_info& state(int i) { return P::v.states[i]; }
    static int slots_of(const variable_info& v) { return v.group == frozen_group ? 0 : P::v.slots; }
    std::vector<float> plain(const variable_info& v) const { return plain_at(v, v.at); }
    std::vector<float> plain_slot(const variable_info& v, int k) const { return plain_at(v, slot(v, k)); }

    /// Calls f(mine, theirs) for each parameter, slot and state, where T is a trainer of the same
    /// net or another of these.
    template <class T, class F>
    void compare(const T& t, F f) const {
        for (int i = 0; i < P::v.n_parameters; ++i) {
            f(plain(parameter(i)), t.plain(t.parameter(i)));
            for (int k = 0; k < slots_of(parameter(i)); ++k)
                f(plain_slot(parameter(i), k), t.plain_slot(t.parameter(i), k));
        }
        for (int i = 0; i < P::v.n_states; ++i) f(plain(state(i)), t.plain(t.state(i)));
    }
    template <class T>
    bool equals(const T& t) const {
        bool same = true;
        compare(t, [&](const auto& x, const auto& y) {
            same = same && std::memcmp(x.data(), y.data(), 4 * x.size()) == 0;
        });
        return same;
    }
    template <class T>
    double difference(const T& t) const {
        double most = 0;
        compare(t, [&](const auto& x, const auto& y) {
            for (std::size_t i = 0; i < x.size(); ++i)
                most = std::max(most, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
        });
        return most;
    }
    float* at(address a) const { return memory_.at(a); }

private:
    Optimizer optimizer_;
    cpu_device device_;
    model_memory memory_;
    cpu_runner<P> runner_;
    const float* ports_[P::v.n_inputs + P::v.n_targets + 1] = {};
    float scalars_[Optimizer::n_scalars + 1] = {};
    step_arguments now_;
    std::int64_t step_ = 0;

    static address slot(const variable_info& v, int k) { return {space::slot, k * P::v.z.trained + v.at.offset()}; }
    std::vector<float> plain_at(const variable_info& v, address from) const {
        return to_plain(v, memory_.at(from), cpu_device::panel_width, cpu_device::target.lanes);
    }
    void write(const variable_info& v, address to, const std::vector<float>& x) {
        const auto packed = from_plain(v, x.data(), cpu_device::panel_width, cpu_device::target.lanes);
        std::memcpy(memory_.at(to), packed.data(), 4 * packed.size());
    }
};

} // namespace sinter::test
