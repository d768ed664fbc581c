// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu/loop_iterations.hpp>
#include <sinter/device/model_memory.hpp>
#include <sinter/device/cpu/executor.hpp>
#include <sinter/device/cpu/float_arithmetic.hpp>
#include <sinter/device/cpu/tables.hpp>
#include <sinter/device/cpu/early_values.hpp>
#include <sinter/device/cpu/threads.hpp>
#include <sinter/device/device.hpp>
#include <sinter/device/list_operands.hpp>
#include <sinter/kernel/cpu/kernel_table.hpp>
#include <sinter/compiler/target.hpp>
#include <algorithm>
#include <memory>
#include <vector>

/// The CPU as a device: what programs are planned for, and how they run.
namespace sinter::inline SINTER_TARGET {

#ifdef SINTER_PROFILE
template <class P>
struct step_counter;   ///< counts P's launches: <sinter/profile/step_profile.hpp> has it, and sinter.hpp includes that
#endif

/// Runs a compiled program P on the CPU. Addresses are worked out once; a step allocates nothing.
template <class P>
class cpu_runner {
public:
    static constexpr const auto& program() { return P::v; }

    /// Floats of scratch space that the program's kernels want.
    static constexpr std::int64_t scratch_floats() {
        std::int64_t most = 0;
        for (int i = 0; i < P::v.n_launches; ++i) {
            const compiler::launch& l = P::v.launches[i];
            const std::int64_t *e = P::v.extents + l.first_extent, m = l.batched ? l.m * P::v.max_batch : l.m;
            most = std::max(most, cpu::kernel_table<P>::scratch(l.spec, e, l.parts, m));
        }
        return most;
    }

    void bind(const runtime::model_memory& m) {
        m_ = runtime::host_places(m);
        operands_ = std::make_unique<float*[]>(n_args + 1);
        if (runtime::program_tables<P>::floats && !tables_.size()) {
            tables_ = runtime::arena(runtime::program_tables<P>::floats);
            runtime::program_tables<P>::fill(tables_.data());
        }
        for (int i = 0; i < n_args; ++i) {
            const compiler::address a = P::v.args[i];
            operands_.get()[i] = a.where() == compiler::space::table ? tables_.data() + a.offset() : m_.at(a);
        }
        scratch_ = m.scratch.data();
        early_.resize(static_cast<std::size_t>(runtime::early_values<P>::floats));
        lists_.resize(static_cast<std::size_t>(P::v.n_lists));
        if constexpr (P::v.n_lists > 0) place_lists(nullptr);
    }

    /// Runs the launches that `s` names. `observe(launch, before)` is called around each by the
    /// calling thread: for profiles. False where it ended because the loss is not finite, as was
    /// asked for: memory is then as it was before, activations and gradients excepted.
    template <class Observer = runtime::unobserved>
    bool run(runtime::team& threads, const runtime::step_arguments& s, Observer observe = {}) {
#ifdef SINTER_PROFILE   // not an `if`, even of constants: nothing of it shall be parsed where nobody asked
        if constexpr (std::is_same_v<Observer, runtime::unobserved>)
            return run(threads, s, profile_.template observe<P>(threads.size(), s.batch));
#endif
        float** const operands = operands_.get();
        for (int i = 0; i < n_args; ++i) {
            const compiler::address a = P::v.args[i];
            if (a.where() == compiler::space::port) {
                if (s.ports) operands[i] = const_cast<float*>(s.ports[port_of(a)]);
            } else if (a.slot && !is_gradient_source(a)) {
                operands[i] = m_.at(a) + a.first_floats(s.batch);
            }
        }
        if constexpr (P::v.n_lists > 0)
            if (s.launches.end > P::v.segments.first_update) place_lists(s.lists);
        const runtime::early_values<P> before(early_);
        if (s.launches.first == 0) before.keep(m_);
        if (s.batch <= alone_to) {
            const runtime::flush_denormals here;
            if (walk({&threads, 1}, 0, s, observe)) return true;
        } else {
            bool whole = true;
            threads.run([&](int thread) {
                const bool done = walk({&threads, threads.size()}, thread, s, observe);
                if (thread == 0) whole = done;
            });
            if (whole) return true;
        }
        before.put_back(m_);
        return false;
    }
    /// The share of thread `thread` in launches that do not read the batch, while the other threads
    /// of `all` do theirs. The launches before these have been run. Updates read what place_lists()
    /// and update_from() said last.
    void run_share(runtime::team& all, int thread, const runtime::step_arguments& s) const {
        runtime::unobserved nobody;
        walk({&all, all.size()}, thread, s, nobody);
    }
    /// Where program_options::gradient_sources is more than one: lets updates read the sum of so
    /// many gradients. `arenas`: of each where its gradients begin or, where steps are accumulated,
    /// its slots.
    void update_from(float* const* arenas) {
        for (int i = 0; i < n_args; ++i)
            if (const compiler::address a = P::v.args[i]; is_gradient_source(a))
                operands_.get()[i] = arenas[number_of_source(a)] + a.offset();
    }
    /// Lets updates read these lists (see step_arguments::lists); null: the program's own.
    void place_lists(const row_list* lists) {
        runtime::point_at_lists<P>(m_, lists, lists_.data(), operands_.get());
    }
    /// States, and what is updated before the loss is known, as they were before the step's first
    /// launch.
    void put_back_early() { runtime::early_values<P>(early_).put_back(m_); }
    /// Waking others, and waiting for them after each kernel, would take longer than all kernels of
    /// a small net for so many examples: its programs are run by the calling thread then.
    static constexpr int alone_to = [] {
        int n = P::v.max_batch;
        for (int i = 0; i < P::v.n_launches; ++i) n = std::min(n, P::v.launches[i].brief_to);
        return n;
    }();

private:
    static constexpr int n_args = P::v.n_args;
    std::unique_ptr<float*[]> operands_;
    float* scratch_ = nullptr;
    runtime::arena tables_;
    runtime::host_places m_;
    std::vector<float> early_;   ///< what early_values keeps for the time of a step
    std::vector<row_list> lists_;   ///< that updates read
#ifdef SINTER_PROFILE
    step_counter<P> profile_;
#endif

    template <class Observer>
    bool walk(runtime::worker_group workers, int thread, const runtime::step_arguments& s, Observer& observe) const {
        return runtime::executor<most_operands>(runtime::view_of_program<P>, operands_.get(), m_, scratch_, workers,
                                                thread, s, P::v.n_lists ? lists_.data() : nullptr)
            .run(observe);
    }
    /// Of a launch in a loop, rounded up, so that programs share the code that walks them.
    static constexpr int most_operands = [] {
        int n = P::v.n_loops ? 32 : 0;
        for (int l = 0; l < P::v.n_loops; ++l)
            for (int i = P::v.loops[l].first; i < P::v.loops[l].end; ++i)
                while (n < P::v.launches[i].args) n *= 2;
        return n;
    }();
};

/// The device that a model is trained on when nothing else is said.
class cpu_device {
public:
    /// Weights in panels of twice the vector's lanes; SINTER_PARTS parts
    /// (base/compiler_options.hpp; eight), so that up to as many threads find work and the order of
    /// every sum is the same for any number of them.
    static constexpr sinter::compiler::target target{.lanes = cpu::lanes,
                                           .parts = SINTER_PARTS,
                                           .winograd = true,
                                           .bfloat16_pairs = cpu::multiplies_pairs,
                                           .transposed_weights = true,
                                           .unique_rows = true,
                                           .product_sums = true,
                                           .fused_producers = true,
                                           .row_lists = true,
                                           .column_sums = true,
                                           .non_temporal_floats =
                                               cpu::stores_whole_lines || cpu::joins_halves ? 1 << 21 : 0,
                                           .non_temporal_walks = !cpu::stores_whole_lines};
    static constexpr int panel_width = 2 * cpu::lanes;
    using memory = runtime::model_memory;
    template <class P>
    using runner = cpu_runner<P>;
    struct options {
        int threads = 0;   ///< 0: one for each usable core, but at most SINTER_PARTS
    };
    struct event {   ///< run() returns when all is done: there is nothing to wait for
        void wait() const {}
    };

    explicit cpu_device(options o) : cpu_device(o.threads) {}
    /// `threads`: 0 takes one for each usable core. Never more than SINTER_PARTS (8) are begun,
    /// even if more are asked for: they would find no work and only be waited for. Throws
    /// option_error where it is negative or beyond 1024.
    explicit cpu_device(int threads) : threads_(std::make_unique<runtime::team>(useful(threads))) {}

    int threads() const { return threads_->size(); }   ///< that it works with
    template <class P, class Observer = runtime::unobserved>
    bool run(runner<P>& r, const runtime::step_arguments& s, Observer observe = {}) {
        return r.run(*threads_, s, observe);
    }
    /// The same by the calling thread alone.
    template <class P, class Observer = runtime::unobserved>
    static bool run_alone(runner<P>& r, const runtime::step_arguments& s, Observer observe = {}) {
        runtime::team one(1);
        return r.run(one, s, observe);
    }
    void read(const runtime::model_memory& m, compiler::address from, float* to, std::int64_t floats) const {
        std::memcpy(to, m.at(from), 4 * static_cast<std::size_t>(floats));
    }
    void write(runtime::model_memory& m, compiler::address to, const float* from, std::int64_t floats) const {
        std::memcpy(m.at(to), from, 4 * static_cast<std::size_t>(floats));
    }
    /// Where what lies at an address is in the host's memory.
    static float* host(const runtime::model_memory& m, compiler::address a) { return m.at(a); }
    /// Where the host can read what lies at `from` in the device's memory: here, in place.
    const float* host_view(const runtime::model_memory& m, compiler::address from, float* /*scratch*/,
                           std::int64_t /*floats*/) const {
        return m.at(from);
    }
    static constexpr bool shares_memory = true;   ///< with the host: views need no copy
    event record() const { return {}; }

private:
    std::unique_ptr<runtime::team> threads_;   ///< who know where they are, while models move

    static int useful(int threads) {
        runtime::check_float_arithmetic();
        if (threads == 0) threads = base::usable_cores();
        return threads > runtime::team::most ? threads
                                    : std::min(threads, target.parts);   // the team says what is wrong with it
    }
};
static_assert(compute_device<cpu_device>);

} // namespace sinter
