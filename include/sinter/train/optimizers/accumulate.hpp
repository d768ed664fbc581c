// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/neg.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>

namespace sinter::inline SINTER_TARGET {

/// Updates in every Batches-th step only, by that many steps' gradients together: their batches act
/// like one large batch of all their examples, whatever their sizes, weights and ignored labels
/// (but for batch_norm, whose statistics are each batch's own). `accumulate<4>(adam{})`, around all
/// other optimizers. A schedule counts updates. Gradients are summed in a slot, so that a saved run
/// goes on between two updates. The slot begins a round as -0, to which no sum of rows comes back:
/// rows of a table that did not occur in the round are known by it, and rest.
template <int Batches, class Optimizer>
struct accumulated {
    static_assert(Batches > 0, "accumulate: at least one batch");
    Optimizer optimizer{};

    using inner = Optimizer;
    static constexpr int batches = Batches, slots = Optimizer::slots + (Batches > 1),
                         n_scalars = Optimizer::n_scalars + (Batches > 1);
    static constexpr void update(update_context& u) {
        if constexpr (Batches > 1) u.average_gradient();
        Optimizer::update(u);
        if constexpr (Batches > 1) u.set_slot(Optimizer::slots, -u.constant_of(0.f));
    }
    float first_of_slot(int group, int k) const {
        return Batches > 1 && k == Optimizer::slots ? -0.f : sinter::compiler::first_of_slot(optimizer, group, k);
    }
    void scalars(std::int64_t step, float* out) const {
        optimizer.scalars(step / Batches, out);
        if (Batches > 1) out[Optimizer::n_scalars] = step % Batches ? 1.f : 0.f;   // the gathered weight begins anew
    }
};
template <int Batches, class Optimizer>
constexpr accumulated<Batches, Optimizer> accumulate(Optimizer o) {
    return {o};
}

} // namespace sinter
