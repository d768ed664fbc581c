// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/device/model_memory.hpp>
#include <sinter/device/cpu/tables.hpp>
#include <sinter/device/list_operands.hpp>
#include <sinter/kernel/cuda/kernel_table.hpp>
#include <sinter/compiler/program.hpp>
#include <memory>

namespace sinter::inline SINTER_TARGET {

/// A compiled program P as a list of launches that an engine carries out one after the other.
/// Addresses are worked out once; the ports are buffers that stay where they are.
template <class Engine, class P>
class gpu_program {
    static constexpr int n_args = static_cast<int>(sizeof(P::v.args) / sizeof(P::v.args[0]));
    static constexpr int n_in = P::v.n_inputs, n_targets = P::v.n_targets;

public:
    static constexpr const auto& program() { return P::v; }
    static constexpr int ports = n_in + n_targets;

    /// Floats of port i for so many examples; some ports have the same for all of them.
    static constexpr std::int64_t port_floats(int i, int batch = P::v.max_batch) {
        const compiler::port_info& p = i < n_in ? P::v.inputs[i] : P::v.targets[i - n_in];
        return std::int64_t{p.s.size()} * (p.s.batched ? batch : 1);
    }
    /// Numbers that the optimizer writes before each step.
    static constexpr int scalars = [] {
        int n = 0;
        for (int s = 0; s < P::n_specs; ++s)
            for (int i = 0; i < P::v.specs[s].instructions; ++i) {
                const compiler::instruction w = compiler::instruction::unpack(P::v.code[P::v.specs[s].code + i]);
                if (w.is(op::runtime_scalar) && w.arg >= n) n = w.arg + 1;
            }
        return n;
    }();
    static_assert(scalars <= gpu::most_scalars, "the optimizer has more run-time scalars than a GPU step carries");

    /// What `s` comes to in the device's memory.
    static gpu::step_state state_of(const runtime::step_arguments& s) {
        gpu::step_state now;
        for (int i = 0; i < scalars; ++i) now.scalars[i] = s.scalars[i];
        now.seed = s.random_key();
        now.number = s.step;
        now.batch = s.batch;
        now.global_batch = s.global_batch();
        now.has_loss_weights = s.shard.loss_weights != nullptr;
        for (int i = 0; i < P::v.n_loss_weights && now.has_loss_weights; ++i)
            now.loss_weights[i] = s.shard.loss_weights[i];
        return now;
    }

    /// Which of the launches that do not run in each step run in this one: a bit for each of their
    /// periods.
    static std::uint64_t fires(std::int64_t number) {
        std::uint64_t bits = 0;
        for (int i = 0; i < periods.n; ++i) bits |= std::uint64_t{(number + 1) % periods.every[i] == 0} << i;
        return bits;
    }

    /// Floats of scratch space that the program's kernels want, the libraries' workspaces not among
    /// them.
    static constexpr std::int64_t scratch_floats() {
        std::int64_t most = 0;
        for (int i = 0; i < P::v.n_launches; ++i) {
            const gpu::work w = work_of(i, P::v.max_batch);
            const std::int64_t n = gpu::kernel_table<Engine, P>::scratch(P::v.launches[i].spec, w);
            if (n > most) most = n;
        }
        return most;
    }

    /// `tables`: where program_tables<P> lie.
    template <class Memory>
    void bind(const Memory& m, float* const* port, float* tables) {
        if (!operands_) operands_ = std::make_unique<float*[]>(n_args);
        for (int i = 0; i < n_args; ++i) {
            const compiler::address a = P::v.args[i];
            operands_.get()[i] = a.where() == compiler::space::port    ? port[port_of(a)]
                                 : a.where() == compiler::space::table ? tables + a.offset()
                                                             : m.at(a);
        }
        scratch_ = m.scratch.data();
        runtime::point_at_lists<P>(m, nullptr, lists_, operands_.get());
    }
    /// Lets updates read these lists, in the engine's memory, in place of the program's own.
    void place_lists(const row_list* lists) {
        struct nowhere {
            float* at(compiler::address) const { return nullptr; }
        };
        runtime::point_at_lists<P>(nowhere{}, lists, lists_, operands_.get());
    }

    /// Runs the launches of `range`. `step` is in the engine's memory, `number` its number;
    /// `observe(launch, before)` is called around each launch. A device_error that a launch meets
    /// is thrown on with the launch's number.
    template <class Observer>
    void run(Engine& engine, const gpu::step_state* step, std::int64_t number, int batch, Observer& observe,
             runtime::launch_range range = {}) const {
        const auto one = [&](int i, std::int64_t iteration) {
            const compiler::launch& l = P::v.launches[i];
            if (l.every > 1 && (number + 1) % l.every) return;
            float* operands[std::size_t{most_operands}];   // kernels get them by value
            for (int k = 0; k < l.args; ++k) {
                const compiler::address a = P::v.args[l.first_arg + k];
                operands[k] = operands_.get()[l.first_arg + k] + a.first_floats(batch) +
                              (a.moves ? iteration * a.slice_floats(batch) : 0);
            }
            gpu::work w = work_of(i, batch);
            w.p = operands;
            w.step = step;
            w.iteration = iteration;
            w.scratch = scratch_;
            if (goes_over_lines(l)) w.list = lists_[l.list].keys, w.list_width = lists_[l.list].row_floats;
            observe(i, true);
            try {
                gpu::kernel_table<Engine, P>::entries[l.spec].run(engine, w);
            } catch (const device_error& e) {
                fail(e, i, iteration);
            }
            observe(i, false);
        };
        int next = range.first;
        const int end = range.end < P::v.n_launches ? range.end : P::v.n_launches;
        for (int l = 0; l < P::v.n_loops; ++l) {
            const compiler::loop_launches& x = P::v.loops[l];
            if (x.first < next || x.first >= end) continue;
            for (; next < x.first; ++next) one(next, 0);
            for (int made = 0; made < x.steps; ++made)
                for (int i = x.first; i < x.end; ++i)
                    if (!P::v.launches[i].skips_last || made + 1 < x.steps)
                        one(i, x.backwards ? x.steps - 1 - made : made);
            next = x.end;
        }
        for (; next < end; ++next) one(next, 0);
    }

private:
    struct period_list {
        int n = 0, every[64] = {};
    };
    static constexpr period_list periods = [] {
        period_list found;
        for (int i = 0; i < P::v.n_launches; ++i) {
            const int every = P::v.launches[i].every;
            int k = 0;
            while (k < found.n && found.every[k] != every) ++k;
            if (every > 1 && k == found.n) found.every[found.n++] = every;
        }
        return found;
    }();
    static_assert([] {
        for (int l = 0; l < P::v.n_loops; ++l)
            if (P::v.loops[l].count.where() != compiler::space::none ||
                P::v.loops[l].condition.where() != compiler::space::none)
                return false;
        return true;
    }(), "a loop whose number of iterations is found while it runs (scan's count, cond, while_loop) runs on CPUs only");
    static constexpr int most_operands = [] {
        int n = 1;
        for (int i = 0; i < P::v.n_launches; ++i)
            if (P::v.launches[i].args > n) n = P::v.launches[i].args;
        return n;
    }();
    std::unique_ptr<float*[]> operands_;
    float* scratch_ = nullptr;
    row_list lists_[std::size_t{P::v.n_lists + 1}];   ///< that updates read

    /// The fault, with the launch's number as describe(model) prints it.
    [[noreturn]] SINTER_COLD static void fail(const device_error& e, int launch, std::int64_t iteration) {
        throw device_error(e.fault(),
                           "launch " + std::to_string(launch) + " of " + std::to_string(P::v.n_launches) +
                               (iteration ? " (iteration " + std::to_string(iteration) + " of its loop): " : ": ") +
                               e.where(),
                           e.got(), e.needed());
    }

    static constexpr gpu::work work_of(int i, int batch) {
        const compiler::launch& l = P::v.launches[i];
        gpu::work w;
        w.e = P::v.extents + l.first_extent;
        w.k = P::v.constants + l.first_constant;
        w.s = &P::v.specs[l.spec];
        w.code = P::v.code + w.s->code;
        w.m = goes_over_lines(l) ? gpu::unknown_rows : l.batched ? l.m * batch : l.m;
        return w;
    }
    /// Sums over a list of rows, of which the device knows how many it has.
    static constexpr bool goes_over_lines(const compiler::launch& l) {
        return l.list >= 0 && l.role != op_role::scatter_rows;
    }
};

} // namespace sinter
