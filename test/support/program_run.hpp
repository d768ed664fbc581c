// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/initialize.hpp>
#include <sinter/train/checkpoint/variables.hpp>
#include <functional>
#include <memory>

#include "support/doubles.hpp"

/// A compiled program on the CPU with memory of its own, without the trainer around it: tests look at everything.
namespace sinter::test {
using namespace compiler;
using namespace runtime;

/// What a program says of itself, without its type: all that is made of it here is compiled once
/// for all programs of a test.
struct program_facts {
    view<const variable_info> parameters, states;
    view<const port_info> inputs, targets;
    view<const shape> outputs;
    view<const scope_entry> scopes;
    const address* output_at;
    address loss;
    view<const address> loss_weights;
    int loss_weights_ready;
    int max_batch;
    std::int64_t floats[5], scratch;   ///< of parameters, gradients, states, slots, activations
};
template <class P>
program_facts facts_of() {
    constexpr auto& p = P::v;
    return {{p.parameters, p.n_parameters}, {p.states, p.n_states}, {p.inputs, p.n_inputs}, {p.targets, p.n_targets},
            {p.output_shapes, p.n_outputs}, P::graph.scopes, p.outputs, p.loss,
            {p.loss_weights, p.n_loss_weights}, p.loss_weights_ready, p.max_batch,
            {p.floats(space::parameter), p.floats(space::gradient), p.floats(space::state), p.floats(space::slot),
             p.floats(space::activation)},
            cpu_runner<P>::scratch_floats()};
}

class program_run {
public:
    explicit program_run(const program_facts& p)
        : loss_weights_ready(p.loss_weights_ready), output_at_(p.output_at), loss_at_(p.loss),
          loss_weights_at_(p.loss_weights) {
        parameters.assign(p.parameters.begin(), p.parameters.end());
        states.assign(p.states.begin(), p.states.end());
        outputs.assign(p.outputs.begin(), p.outputs.end());
        for (auto [from, to] : {std::pair(p.inputs, &inputs), std::pair(p.targets, &targets)})
            for (const port_info& i : from) to->push_back(i.s), below.push_back(i.below);
        max_batch = p.max_batch;
        scalars[0] = 1;
        arena* const arenas[] = {&memory.parameters, &memory.gradients, &memory.states, &memory.slots,
                                 &memory.activations};
        for (int i = 0; i < 5; ++i) *arenas[i] = arena(p.floats[i]);
        memory.scratch = arena(p.scratch);
        for (const auto* list : {&parameters, &states})
            for (const variable_info& v : *list) {
                const std::string path = path_of(p.scopes, v);
                if (list == &parameters) paths.push_back(path);
                const auto x = sinter::detail::initial_values(v, path, 1);
                set(v, doubles({static_cast<int>(x.size())}, std::vector<double>(x.begin(), x.end())));
            }
    }
    virtual ~program_run() = default;

    std::vector<variable_info> parameters, states;
    std::vector<std::string> paths;                  ///< of the parameters
    std::vector<shape> inputs, targets, outputs;
    std::vector<int> below;                          ///< of inputs, then targets: integers stay below it
    int max_batch = 0;
    float loss = 0;
    float scalars[16] = {};                          ///< the optimizer's; sgd's rate is 1
    std::uint64_t seed = 1;
    batch_shard shard = {};                          ///< of a global batch; by default each batch is one
    /// this batch's own, from before a launch of the last run read the global ones
    std::vector<float> loss_weights;
    std::function<void()> before_loss_weights;       ///< called then
    int loss_weights_ready = -1;                     ///< the launch before which they are there
    launch_range launches = {};                      ///< that a run runs
    model_memory memory;

    /// One run. Ports are inputs, then targets, for the first `batch` examples. Before it, all memory that a run need
    /// not keep is filled with NaN, and so is what lies behind the ports' examples: nothing may depend on them.
    void run(int batch, const std::vector<doubles>& ports, std::int64_t step = 0) {
        held_.clear();
        std::vector<const float*> at;
        for (const doubles& a : ports) {
            const shape& s = at.size() < inputs.size() ? inputs[at.size()] : targets[at.size() - inputs.size()];
            arena& m = held_.emplace_back(static_cast<std::int64_t>(a.v.size()) + 16);
            fill_nan(m);
            for (int i = 0; i < a.size(); ++i) {
                m.data()[i] = static_cast<float>(a[i]);
                if (s.type != dtype::i32) continue;
                const auto whole = static_cast<std::int32_t>(a[i]);
                std::memcpy(m.data() + i, &whole, 4);
            }
            at.push_back(m.data());
        }
        at.push_back(nullptr);
        fill_nan(memory.activations);
        for (const variable_info& v : parameters)
            if (v.gradient.where() != space::none) std::fill_n(memory.at(v.gradient), v.floats, NAN);
        fill_nan(memory.scratch);
        before_.clear();
        for (const variable_info& v : parameters) before_.push_back(value(v));
        launch({at.data(), scalars, seed, step, batch, false, launches, shard});
        if (loss_at_.where() != space::none) loss = *memory.at(loss_at_);
    }
    /// The launches behind those that run() was told to stop at.
    void run_rest(int batch, std::int64_t step = 0) {
        launch({nullptr, scalars, seed, step, batch, false, {launches.end}, shard});
        if (loss_at_.where() != space::none) loss = *memory.at(loss_at_);
    }
    void read_loss_weights() {
        loss_weights.clear();
        for (const address a : loss_weights_at_) loss_weights.push_back(*memory.at(a));
    }

    std::vector<float> value(const variable_info& v) const {
        return to_plain(v, memory.at(v.at), cpu_device::panel_width, cpu::lanes);
    }
    void set(const variable_info& v, const doubles& x) {
        const std::vector<float> f(x.v.begin(), x.v.end());
        const auto packed = from_plain(v, f.data(), cpu_device::panel_width, cpu::lanes);
        std::memcpy(memory.at(v.at), packed.data(), 4 * packed.size());
    }
    /// The last run's gradient of parameter i: read where it is stored, else what the update with rate 1 took away.
    std::vector<float> gradient(int i) const {
        const variable_info& v = parameters[static_cast<std::size_t>(i)];
        if (v.gradient.where() != space::none)
            return to_plain(v, memory.at(v.gradient), cpu_device::panel_width, cpu::lanes);
        std::vector<float> g = value(v);
        for (std::size_t k = 0; k < g.size(); ++k) {
            const float old = before_[static_cast<std::size_t>(i)][k];
            g[k] = std::memcmp(&g[k], &old, 4) == 0 ? 0 : old - g[k];   // what is not finite may stay, too
        }
        return g;
    }
    /// Columns that only pad packed weights must stay zero, whatever is done to the others.
    bool padding_is_zero() const {
        for (const variable_info& v : parameters) {
            const auto packed = from_plain(v, value(v).data(), cpu_device::panel_width, cpu::lanes);
            const float* there = memory.at(v.at);
            for (std::size_t k = 0; k < packed.size(); ++k)
                if (packed[k] == 0 && there[k] != 0) return false;
        }
        return true;
    }
    std::vector<float> output(int i, int batch) const {
        const shape& s = outputs[static_cast<std::size_t>(i)];
        const float* p = memory.at(output_at_[i]);
        return {p, p + s.size() * (s.batched ? batch : 1)};
    }
    static void fill_nan(const arena& m) {
        for (std::int64_t i = 0; i < m.size(); ++i) m.data()[i] = NAN;
    }

protected:
    const address* output_at_;
    address loss_at_;
    std::vector<std::vector<float>> before_;
    std::vector<arena> held_;   ///< ports
    view<const address> loss_weights_at_;
    virtual void launch(const step_arguments&) = 0;
};

template <class P>
class compiled_run : public program_run {
public:
    explicit compiled_run(int threads) : program_run(facts_of<P>()), team_(threads) { runner_.bind(memory); }

private:
    team team_;
    cpu_runner<P> runner_;
    void launch(const step_arguments& s) override {
        runner_.run(team_, s, [&](int i, bool before) {
            if (i != loss_weights_ready || !before) return;
            read_loss_weights();
            if (before_loss_weights) before_loss_weights();
        });
    }
};

/// Stored gradients, with and without fusion; and updates within the gradients' kernels.
inline constexpr program_options as_fused{.fuse = true, .store_gradients = true},
    as_unfused{.fuse = false, .store_gradients = true}, as_trained{};

template <class Net, class Loss, program_options O, int Max = 5, program_mode M = program_mode::training,
          class Optimizer = sgd>
std::unique_ptr<program_run> make_run(int threads = 1) {
    return std::unique_ptr<program_run>(
        new compiled_run<compiled<request<Net, Loss, Optimizer, M, Max, cpu_device::target, O>>>(threads));
}

} // namespace sinter::test
