// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/loop_turns.hpp>
#include <sinter/device/model_memory.hpp>
#include <sinter/device/tables.hpp>
#include <sinter/device/threads.hpp>
#include <sinter/kernel/cpu/reify.hpp>
#include <sinter/program/target.hpp>
#include <algorithm>
#include <memory>
#ifdef SINTER_PROFILE
#include <sinter/profile/step_profile.hpp>
#endif

/// The CPU as a device: what programs are planned for, and how they run.
namespace sinter {

/// Runs a compiled program P on the CPU. Addresses are worked out once; a step allocates nothing.
template <class P>
class cpu_runner {
public:
    static constexpr const auto& program() { return P::v; }

    /// Floats of scratch space that the program's kernels want.
    static constexpr std::int64_t scratch_floats() {
        std::int64_t most = 0;
        for (int i = 0; i < P::v.n_launches; ++i) {
            const launch& l = P::v.launches[i];
            const std::int64_t *e = P::v.extents + l.first_extent, m = l.batched ? l.m * P::v.max_batch : l.m;
            most = std::max(most, cpu::kernel_table<P>::scratch(l.spec, e, l.parts, m));
        }
        return most;
    }

    void bind(const model_memory& m) {
        m_ = host_places(m);
        operands_ = std::make_unique<float*[]>(n_args + 1);
        if (program_tables<P>::floats && !tables_.size()) {
            tables_ = arena(program_tables<P>::floats);
            program_tables<P>::fill(tables_.data());
        }
        for (int i = 0; i < n_args; ++i) {
            const address a = P::v.args[i];
            operands_[i] = a.where() == space::table ? tables_.data() + a.offset() : m_.at(a);
        }
        scratch_ = m.scratch.data();
    }

    /// `observe(launch, before)` is called around each launch by the calling thread: for profiles.
    template <class Observer = unobserved>
    void run(team& threads, const step_arguments& s, Observer observe = {}) {
#ifdef SINTER_PROFILE   // not an `if`, even of constants: nothing of it shall be parsed where nobody asked
        if constexpr (std::is_same_v<Observer, unobserved>) return run(threads, s, profile_.template observe<P>(threads.size(), s.batch));
#endif
        for (int i = 0; i < n_args; ++i) {
            const address a = P::v.args[i];
            if (a.where() == space::port) operands_[i] = const_cast<float*>(s.ports[port_of(a)]);
            else if (a.slot) operands_[i] = m_.at(a) + a.slot * a.slice_floats(s.batch);
        }
        if (runs_alone) {
            const flush_denormals here;
            return walk({&threads, 1}, 0, s, observe);
        }
        threads.run([&](int thread) { walk({&threads, threads.size()}, thread, s, observe); });
    }
    /// A net so small that waking others, and waiting for them after each kernel, would take longer than all kernels: its
    /// programs are run by the calling thread.
    static constexpr bool runs_alone = [] {
        for (int i = 0; i < P::v.n_launches; ++i)
            if (!P::v.launches[i].brief) return false;
        return true;
    }();

private:
    /// The threads that a program is run by: all of a team, or one.
    struct crew {
        team* all;
        int size;
        void barrier() const {
            if (size > 1) all->barrier();
        }
    };
    static constexpr int n_args = P::v.n_args;
    std::unique_ptr<float*[]> operands_;
    float* scratch_ = nullptr;
    arena tables_;
    host_places m_;
#ifdef SINTER_PROFILE
    profile::step_profile profile_;
#endif

    template <class Observer>
    void walk(crew workers, int thread, const step_arguments& s, Observer& observe) const {
        int next = 0;
        for (int l = 0; l < P::v.n_loops; ++l) {
            for (; next < P::v.loops[l].first; ++next)
                one(next, workers, thread, s, operands_.get() + P::v.launches[next].first_arg, observe);
            turns(P::v.loops[l], workers, thread, s, observe);
            next = P::v.loops[l].end;
        }
        for (; next < P::v.n_launches; ++next) one(next, workers, thread, s, operands_.get() + P::v.launches[next].first_arg, observe);
    }
    template <class Observer>
    void one(int i, crew workers, int thread, const step_arguments& s, float* const* operands, Observer& observe,
             std::int64_t turn = 0, bool first_turn = false) const {
        const launch& l = P::v.launches[i];
        if (l.every > 1 && (s.step + 1) % l.every) return;
        const cpu::kernel_entry& k = cpu::kernel_table<P>::entries[l.spec];
        call c;
        c.p = operands;
        c.e = P::v.extents + l.first_extent;
        c.k = P::v.constants + l.first_constant;
        c.scalars = s.scalars;
        c.scratch = scratch_;
        c.seed = s.seed;
        c.step = s.step;
        c.turn = turn;
        c.first_turn = first_turn;
        c.batch = s.batch;
        c.m = static_cast<int>(l.batched ? l.m * s.batch : l.m);
        c.parts = workers.size == 1 && k.only_divides ? 1 : l.parts;
        const int first = static_cast<int>(share(c.parts, thread, workers.size));
        const int end = static_cast<int>(share(c.parts, thread + 1, workers.size));
        c.first = first;
        c.end = end;
        if (thread == 0) observe(i, true);
        if (k.prepare) {
            for (c.part = first; end > c.part; ++c.part) k.prepare(c);
            workers.barrier();
        }
        for (c.part = first; end > c.part; ++c.part) k.run(c);   // nvcc takes "part <" for the class ops::part
        workers.barrier();
        if (k.finish) {
            for (c.part = first; end > c.part; ++c.part) k.finish(c);
            workers.barrier();
        }
        if (thread == 0) observe(i, false);
    }
    /// All turns of a loop. What runs over time lies slice by slice, so each turn's operands are a slice further on.
    template <class Observer>
    void turns(const loop_launches& l, crew workers, int thread, const step_arguments& s, Observer& observe) const {
        const loop_turns n(l, m_, s.batch);
        if (thread == 0) n.before(P::v.buffers + l.first_buffer, l.buffers);
        if (l.buffers) workers.barrier();
        float* operands[most_operands];
        std::int64_t made = 0;
        for (bool more = n.count > 0; more && made < n.count;) {
            const std::int64_t turn = l.backwards ? n.count - 1 - made : made;
            for (int i = l.first; i < l.end; ++i) {
                const launch& x = P::v.launches[i];
                if (x.idles_last && made + 1 == n.count) continue;
                for (int k = 0; k < x.args; ++k) {
                    const address a = P::v.args[x.first_arg + k];
                    operands[k] = operands_[x.first_arg + k] + (a.moves ? turn * a.slice_floats(s.batch) : 0);
                }
                one(i, workers, thread, s, operands, observe, turn, made == 0);
            }
            ++made;
            if (n.condition) {
                more = *n.condition != 0.f;
                workers.barrier();   // nobody overwrites it before all have looked
            }
        }
        if (thread == 0) n.after(made, P::v.buffers + l.first_buffer, l.buffers);
        workers.barrier();
    }
    static constexpr int most_operands = [] {
        int n = 1;
        for (int i = 0; i < P::v.n_launches; ++i)
            if (P::v.launches[i].args > n) n = P::v.launches[i].args;
        return n;
    }();
};

/// The device that a model is trained on when nothing else is said.
class cpu_device {
public:
    /// Weights in panels of twice the vector's lanes; eight parts, so that up to eight threads find work and the order
    /// of every sum is the same for any number of them.
    static constexpr sinter::target target{.lanes = cpu::lanes, .parts = 8, .winograd = true, .bfloat16_pairs = cpu::multiplies_pairs,
                                           .turned_weights = true, .distinct_rows = true, .product_sums = true,
                                           .column_sums = true, .far_floats = cpu::stores_whole_lines || cpu::joins_halves ? 1 << 21 : 0,
                                           .far_walks = !cpu::stores_whole_lines};
    static constexpr int panel_width = 2 * cpu::lanes;
    using memory = model_memory;
    template <class P>
    using runner = cpu_runner<P>;

    /// `threads`: 0 takes one for each usable core. Never more than target.parts (8) are begun, even if more are asked for:
    /// they would find no work and only be waited for. Throws option_error where it is negative or beyond 1024.
    explicit cpu_device(int threads) : threads_(useful(threads)) {}

    int threads() const { return threads_.size(); }   ///< that it works with
    template <class P, class Observer = unobserved>
    void run(runner<P>& r, const step_arguments& s, Observer observe = {}) {
        r.run(threads_, s, observe);
    }
    void read(const model_memory& m, address from, float* to, std::int64_t floats) const {
        std::memcpy(to, m.at(from), 4 * static_cast<std::size_t>(floats));
    }
    void write(model_memory& m, address to, const float* from, std::int64_t floats) const {
        std::memcpy(m.at(to), from, 4 * static_cast<std::size_t>(floats));
    }
    /// Where the host can read what lies at `from` in the device's memory: here, in place. `room` has floats for a copy.
    const float* host_view(const model_memory& m, address from, float* /*room*/, std::int64_t /*floats*/) const {
        return m.at(from);
    }
    static constexpr bool shares_memory = true;   ///< with the host: views need no room

private:
    team threads_;

    static int useful(int threads) {
        if (threads == 0) threads = usable_cores();
        return threads > team::most ? threads : std::min(threads, target.parts);   // the team says what is wrong with it
    }
};

} // namespace sinter
