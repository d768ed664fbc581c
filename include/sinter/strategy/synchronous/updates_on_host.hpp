// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/optimizer_traits.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/device/cpu/update_kernels.hpp>
#include <sinter/strategy/synchronous/update_in_parts.hpp>
#include <sinter/strategy/synchronous/replica_set.hpp>
#include <cstring>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Members that update on the host name it, of a training program P: one error where the host cannot do what the
/// optimizer does.
template <class P>
struct check_updates_on_host {
    using code = update_of<typename P::request::optimizer>;
    static_assert(code::fits,
                  "the optimizer's update does not fit into one kernel: it must be elementwise and shorter");
    static_assert(compiler::batches_of<typename P::request::optimizer>() == 1,
                  "sharded_update: on a device with memory of its own, accumulate<N> gathers gradients in the device's "
                  "slots, but the host has the optimizer's memory: leave out one of the two");
    static_assert(P::v.n_lists == 0,
                  "sharded_update: on a device with memory of its own, the host updates, but tables (embedding) are "
                  "updated by rows on the device: take the strategy without sharded_update for nets with tables");
    static constexpr bool sums_over_tensors() {
        for (const compiler::group_update& g : code::groups)
            if (g.levels) return true;
        return false;
    }
    static_assert(!sums_over_tensors(), "sharded_update: on a device with memory of its own the host updates parts of "
                                        "tensors, and this optimizer takes norms of whole ones (as clip_by_norm does): "
                                        "clip_by_global_norm is one that it can");
    static constexpr bool draws() {
        for (const compiler::group_update& g : code::groups)
            for (int i = 0; i < g.last.code.n; ++i)
                if (compiler::instruction::unpack(g.last.code[i]).is(op::random_uniform)) return true;
        return false;
    }
    static_assert(!draws(), "sharded_update: on a device with memory of its own the host updates, and this optimizer "
                            "draws random numbers by an element's place in the device's program");
};

/// Updates of this member's parts of the weights by the host (ZeRO-Offload, Ren et al. 2021, arXiv 2101.06840), where a
/// device has memory of its own: the host has the sums of gradients and the optimizer's memory; weights are read from
/// the device, and written to it. The bits are those of a processor's updates.
template <class Programs>
class updates_on_host {
    using set = replica_set<Programs>;
    using space = compiler::space;
    template <int I>
    using training = typename set::template training<I>;

public:
    SINTER_COLD explicit updates_on_host(int threads) : team_(threads), weights_(set::P0::v.floats(space::parameter)) {}

    /// `slots`: the host's, as the program has them. `members`: null where there is nobody else. `sent`: a ticket for
    /// each bucket.
    template <int I>
    void update(set& replicas, const step_values& v, const kept_parts& kept, float* slots,
                collective::communicator* members, std::vector<collective::ticket>& sent) {
        using P = training<I>;
        [[maybe_unused]] constexpr check_updates_in_parts<P::v.reach> in_parts{};
        [[maybe_unused]] constexpr check_updates_on_host<P> sound{};
        const float* const gradients = replicas.template place<I>(0, {space::gradient, 0});
        const float squares = square_sum<P>(gradients);
        for (int k = 0; k < P::v.n_buckets; ++k)
            each_part<P>(k, kept, [&](const compiler::gradient_range& own) {
                for_each_updated<P>(own, [&](compiler::address a, std::int64_t n) {
                    replicas.first().read(a, weights_.data() + a.offset(), n);
                });
            });
        team_.run([&](int thread) {
            for (int k = 0; k < P::v.n_buckets; ++k)
                each_part<P>(k, kept, [&](const compiler::gradient_range& own) {
                    const std::int64_t lines = own.floats / 16, first = own.from.offset();
                    update<P>(k, first + lines * thread / team_.size() * 16,
                              first + lines * (thread + 1) / team_.size() * 16, gradients, slots, v.scalars, squares);
                });
        });
        if (members)
            gather_parts<P>([&](compiler::address a) { return weights_.data() + a.offset(); }, *members, v.step, sent);
        for (int k = 0; k < P::v.n_buckets; ++k)
            for_each_updated<P>({P::v.buckets[k].at, P::v.buckets[k].floats}, [&](compiler::address a, std::int64_t n) {
                for (auto& u : replicas) u.write(a, weights_.data() + a.offset(), n);
            });
    }

private:
    runtime::team team_;
    runtime::arena weights_;   ///< for the time of an update

    template <class P>
    using kernels = runtime::update_kernels<
        compiler::update_program<typename P::request::optimizer, cpu_device::target, std::uint64_t{0}>>;

    /// f(gradients) of each part of bucket k that this member updates.
    template <class P, class F>
    static void each_part(int k, const kept_parts& kept, F f) {
        const compiler::gradient_bucket& b = P::v.buckets[k];
        if (!of_program::in_parts<P>(k)) return f(compiler::gradient_range{b.at, b.floats});
        for (int i = 0; i < kept.count(); ++i) {
            const collective::part_range own = kept.part(b.floats, i);
            if (own.first < own.end)
                f(compiler::gradient_range{{b.at.where(), b.at.offset() + own.first}, own.end - own.first});
        }
    }
    /// By the gradients [first, end) of bucket k.
    template <class P>
    void update(int k, std::int64_t first, std::int64_t end, const float* gradients, float* slots,
                const float* scalars, float squares) {
        for (int i = 0; i < P::v.n_parameters; ++i) {
            const variable_info& v = P::v.parameters[i];
            if (v.bucket != k) continue;
            const std::int64_t at = v.gradient.offset(), from = std::max(at, first),
                               to = std::min(at + base::round_up(v.floats, 16), end);
            if (from >= to) continue;
            const std::int64_t here = v.at.offset() + from - at;
            kernels<P>::update(v.group, {weights_.data() + here, gradients + from, slots ? slots + here : nullptr,
                                         P::v.z.trained, scalars, &squares}, to - from);
        }
    }
    /// Of all gradients, tensor by tensor, where the optimizer takes their norm.
    template <class P>
    static float square_sum(const float* gradients) {
        if constexpr (update_of<typename P::request::optimizer>::make().needs_norm()) {
            alignas(64) float each[std::size_t{16 * P::v.n_parameters}] = {};
            for (int i = 0; i < P::v.n_parameters; ++i)
                if (const variable_info& v = P::v.parameters[i]; v.bucket >= 0)
                    each[16 * i] = kernels<P>::squares(gradients + v.gradient.offset(), base::round_up(v.floats, 16));
            return kernels<P>::total(each, P::v.n_parameters);
        } else {
            return 0;
        }
    }
};
} // namespace sinter::strategy_parts
