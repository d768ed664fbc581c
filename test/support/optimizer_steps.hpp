// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "fixtures/pytorch_ops.hpp"
#include "support/check_op.hpp"

/// Optimizers against PyTorch's: the same first parameters, the same gradients step by step, the same parameters after.
namespace sinter::test {

struct itself {   // its gradient is whatever target it is weighted by
    static constexpr shape operands[] = {extents(7)};
    static constexpr tensor apply(tensor a) { return a; }
};

template <program_options O, class Optimizer>
void check_steps_as(const Optimizer& optimizer, const double (&want)[35]) {
    namespace golden = fixture::pytorch;
    const auto p = make_run<op_net<itself>, weighted_sum, O, 1, program_mode::training, Optimizer>();
    p->set(p->parameters[0], doubles({7}, std::vector<double>(golden::optimizer_start, golden::optimizer_start + 7)));
    for (int step = 0; step < 5; ++step) {
        const double* g = golden::optimizer_gradients + 7 * step;
        optimizer.scalars(step, p->scalars);
        p->run(1, {doubles({7}, std::vector<double>(g, g + 7))}, step);
        check_close(p->value(p->parameters[0]),
                    doubles({7}, std::vector<double>(want + 7 * step, want + 7 * step + 7)), 2e-6,
                    "after step " + std::to_string(step));
    }
}
/// Within the gradient's kernel, and over the flat memory of all gradients.
template <class Optimizer>
void check_steps(const Optimizer& optimizer, const double (&want)[35]) {
    check_steps_as<as_trained>(optimizer, want);
    check_steps_as<as_fused>(optimizer, want);
}

} // namespace sinter::test
