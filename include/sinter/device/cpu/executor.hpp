// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu/loop_iterations.hpp>
#include <sinter/device/cpu/threads.hpp>
#include <sinter/kernel/cpu/kernel_table.hpp>
#include <algorithm>

/// Runs the launches of a program on the processor. It is told of the program by pointers, not by
/// its type: a model's programs, for training, for evaluation, are walked by the same code.
namespace sinter::inline SINTER_TARGET::runtime {

/// A program's constants, and what its kernels are.
struct program_view {
    const launch* launches;
    int n_launches;
    const loop_launches* loops;
    int n_loops;
    const loop_buffer* buffers;
    const address* args;
    const std::int64_t* extents;
    const float* constants;
    const cpu::kernel_entry* kernels;
    int first_update;   ///< see program_segments
    int first_change;   ///< the launch before which the loss is looked at: see program_segments
    address loss;
};
template <class P>
inline constexpr program_view view_of_program{P::v.launches,
                                              P::v.n_launches,
                                              P::v.loops,
                                              P::v.n_loops,
                                              P::v.buffers,
                                              P::v.args,
                                              P::v.extents,
                                              P::v.constants,
                                              cpu::kernel_table<P>::entries,
                                              P::v.segments.first_update,
                                              P::v.segments.first_change,
                                              P::v.loss};

/// The threads that a program is run by: all of a team, or one.
struct worker_group {
    team* all;
    int size;
    void barrier(int thread) const {
        if (size > 1) all->barrier(thread);
    }
};

/// One step by one thread of a team, of programs whose launches in loops have at most `Operands`
/// operands; 0: without loops.
template <int Operands>
class executor {
public:
    executor(const program_view& p, float* const* operands, const host_places& places, float* scratch,
             worker_group workers, int thread, const step_arguments& s, const row_list* lists = nullptr)
        : p_(p), operands_(operands), places_(places), scratch_(scratch), workers_(workers), thread_(thread), s_(s),
          key_(s.random_key()), lists_(lists),
          plain_to_(lists || !s.updated.all() ? p.first_update : p.n_launches) {}

    /// False if it ended halfway, as was asked for, because the loss is not finite: nothing but
    /// early parameters and states is changed then.
    template <class Observer>
    __attribute__((noinline)) bool run(Observer& observe) const {
        int next = s_.launches.first;
        const int end = s_.launches.end < p_.n_launches ? s_.launches.end : p_.n_launches;
        if constexpr (Operands > 0)
            for (int l = 0; l < p_.n_loops; ++l) {
                if (p_.loops[l].first < next || p_.loops[l].first >= end) continue;
                if (!until(p_.loops[l].first, next, observe)) return false;
                iterations(p_.loops[l], observe);
                next = p_.loops[l].end;
            }
        return until(end, next, observe);
    }

private:
    const program_view& p_;
    float* const* operands_;   ///< of all launches, outside loops and in their first slice
    const host_places& places_;
    float* scratch_;
    worker_group workers_;
    int thread_;
    const step_arguments& s_;
    const std::uint64_t key_;   ///< of the random numbers
    const row_list* lists_;     ///< that updates read
    const int plain_to_;        ///< what is there to do for launches from this one on depends on lists or on a range

    /// Launches from `next` to `end`, all outside loops; false where the loss was to be looked at
    /// among them and is not finite.
    template <class Observer>
    bool until(int end, int& next, Observer& observe) const {
        if (next < p_.first_change && p_.first_change <= end && p_.first_change < p_.n_launches) {
            stretch(next, p_.first_change, observe);
            if (!loss_is_finite()) return false;
            next = p_.first_change;
        }
        stretch(next, end, observe);
        next = end;
        return true;
    }
    /// Not inlined: its loop is compiled once, which a tiny net's step is 2 % faster for.
    template <class Observer>
    __attribute__((noinline)) void stretch(int first, int end, Observer& observe) const {
        for (; first < end; ++first) one(first, observe);
    }
    /// All threads find the same, for they have all passed the barrier behind the launch that makes
    /// the loss.
    bool loss_is_finite() const {
        if (!s_.needs_finite_loss) return true;
        const float* const loss = places_.at(p_.loss);
        return !loss || __builtin_fabsf(*loss) <= 3.402823466e38f;
    }
    /// A launch outside of loops; one that leads with its next one.
    template <class Observer>
    void one(int i, Observer& observe) const {
        const launch& l = p_.launches[i];
        float* const* const operands = operands_ + l.first_arg;
        if (l.is_producer) {
            const call walk = call_of(l, operands);
            one(i + 1, operands_ + p_.launches[i + 1].first_arg, observe, 0, false, {p_.kernels[l.spec].rows, &walk});
        } else if (i >= plain_to_) {
            update(i, operands, observe);
        } else if (i == 0 || !p_.launches[i - 1].is_producer) {
            one(i, operands, observe);
        }
    }
    /// An update, or sums for one, of as many rows as a list has, or cut to the range that was
    /// asked for.
    template <class Observer>
    __attribute__((noinline)) void update(int i, float* const* operands, Observer& observe) const {
        const gradient_range& only = s_.updated;
        launch l = p_.launches[i];
        if (l.list >= 0) l.m = lists_[l.list].lines();
        if (only.all() || l.gradient.where() == space::none) return one(i, l, operands, observe);
        if (!l.by_element) {
            const bool sums = l.role != op_role::scatter_rows && l.list < 0;
            const std::int64_t at = l.gradient.offset(), end = at + (sums ? 16 * l.m : 16);
            if (l.gradient.where() != only.from.where() || at >= only.end() || end <= only.from.offset()) return;
            if (sums || only.has(l.gradient)) one(i, l, operands, observe);
            return;
        }
        if (l.gradient.where() != only.from.where()) return;
        const std::int64_t at = l.gradient.offset(), from = std::max(at, only.from.offset());
        l.m = std::min(at + l.m, only.end()) - from;
        if (l.m <= 0) return;
        float* moved[32];
        for (int k = 0; k < l.args; ++k) moved[k] = operands[k] + ((l.by_element >> k & 1u) != 0 ? from - at : 0);
        one(i, l, moved, observe);
    }
    template <class Observer>
    void one(int i, float* const* operands, Observer& observe, std::int64_t iteration = 0, bool first_iteration = false,
             fused_producer before = {}) const {
        one(i, p_.launches[i], operands, observe, iteration, first_iteration, before);
    }
    template <class Observer>
    void one(int i, const launch& l, float* const* operands, Observer& observe, std::int64_t iteration = 0,
             bool first_iteration = false, fused_producer before = {}) const {
        if (l.every > 1 && (s_.step + 1) % l.every) return;
        const cpu::kernel_entry& k = p_.kernels[l.spec];
        call c = call_of(l, operands, iteration, first_iteration);
        c.before = before;
        c.parts = workers_.size == 1 && k.only_divides ? 1 : l.parts;
        const int first = static_cast<int>(share(c.parts, thread_, workers_.size));
        const int end = static_cast<int>(share(c.parts, thread_ + 1, workers_.size));
        c.first = first;
        c.end = end;
        if (thread_ == 0) observe(i, true);
        if (k.prepare) {
            for (c.part = first; end > c.part; ++c.part) k.prepare(c);
            workers_.barrier(thread_);
        }
        for (c.part = first; end > c.part; ++c.part) k.run(c);   // nvcc takes "part <" for the class ops::part
        workers_.barrier(thread_);
        if (k.finish) {
            for (c.part = first; end > c.part; ++c.part) k.finish(c);
            workers_.barrier(thread_);
        }
        if (thread_ == 0) observe(i, false);
    }
    /// What a launch's kernel is told, but for the shares of its work.
    call call_of(const launch& l, float* const* operands, std::int64_t iteration = 0,
                 bool first_iteration = false) const {
        call c;
        c.p = operands;
        c.e = p_.extents + l.first_extent;
        c.k = p_.constants + l.first_constant;
        c.scalars = s_.scalars;
        c.scratch = scratch_;
        c.seed = key_;
        c.step = s_.step;
        c.iteration = iteration;
        c.first_iteration = first_iteration;
        c.batch = s_.batch;
        c.global_batch = s_.global_batch();
        c.loss_weights = s_.shard.loss_weights;
        c.m = l.batched ? l.m * s_.batch : l.m;
        return c;
    }
    /// All iterations of a loop. What runs over time lies slice by slice, so each iteration's
    /// operands are a slice further on.
    template <class Observer>
    void iterations(const loop_launches& l, Observer& observe) const {
        const loop_iterations n(l, places_, s_.batch);
        if (thread_ == 0) n.before(p_.buffers + l.first_buffer, l.buffers);
        if (l.buffers) workers_.barrier(thread_);
        float* operands[std::size_t{Operands}];
        std::int64_t made = 0;
        for (bool more = n.count > 0; more && made < n.count;) {
            const std::int64_t iteration = l.backwards ? n.count - 1 - made : made;
            for (int i = l.first; i < l.end; ++i) {
                const launch& x = p_.launches[i];
                if (x.skips_last && made + 1 == n.count) continue;
                for (int k = 0; k < x.args; ++k) {
                    const address a = p_.args[x.first_arg + k];
                    operands[k] = operands_[x.first_arg + k] + (a.moves ? iteration * a.slice_floats(s_.batch) : 0);
                }
                one(i, operands, observe, iteration, made == 0);
            }
            ++made;
            if (n.condition) {
                more = *n.condition != 0.f;
                workers_.barrier(thread_);   // nobody overwrites it before all have looked
            }
        }
        if (thread_ == 0) n.after(made, p_.buffers + l.first_buffer, l.buffers);
        workers_.barrier(thread_);
    }
};

} // namespace sinter::runtime
