// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/input.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/program/program.hpp>

#include "support/check_net.hpp"

/// A loss on given predictions. The net is its input plus a parameter of zeros, whose gradient is thus the sum of the
/// predictions' gradients over the batch: of one example, the gradient itself.
namespace sinter::test {

template <int... D>
struct offset_layer {
    constexpr tensor operator()(tensor x) const { return x + parameter(x, "offset", extents(D...), zeros); }
};

struct loss_and_gradient {
    double loss = 0;
    doubles gradient;   ///< of each prediction, [batch, ...]
};
constexpr int most_examples = 6;

/// Runs Loss on the first 1, 2, ... examples and compares with `reference(predictions, targets)`.
template <program_options O, class Loss, int... D, class Reference>
void check_loss_as(const doubles& predictions, const doubles& targets, Reference reference, double limit = 2e-6) {
    const auto p = make_run<decltype(array<D...> >> offset_layer<D...>{}), Loss, O, most_examples>();
    for (int batch = 1; batch <= predictions.d[0]; ++batch) {
        const doubles y = predictions.first(batch), t = targets.first(batch);
        const loss_and_gradient want = reference(y, t);
        doubles sum({D...});
        for (int i = 0; i < y.size(); ++i) sum[i % sum.size()] += want.gradient[i];
        p->set(p->parameters[0], doubles({D...}));
        p->run(batch, {y, t});
        check_close({p->loss}, doubles({1}, want.loss), limit, "loss of " + std::to_string(batch));
        check_close(p->gradient(0), sum, limit, "gradient of " + std::to_string(batch));
    }
}
template <class Loss, int... D, class Reference>
void check_loss(const doubles& predictions, const doubles& targets, Reference reference) {
    check_loss_as<as_fused, Loss, D...>(predictions, targets, reference);
    check_loss_as<as_unfused, Loss, D...>(predictions, targets, reference);
}

} // namespace sinter::test
