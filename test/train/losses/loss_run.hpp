// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/input.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/compiler/program.hpp>

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

/// The same for a loss of any targets, whose reference `formula(predictions, targets)` is
/// differentiated by central differences.
template <program_options O, class Loss, int... D, class Formula>
void check_formula_as(const doubles& predictions, const std::vector<doubles>& targets, Formula formula,
                      double limit = 2e-6) {
    const auto p = make_run<decltype(array<D...> >> offset_layer<D...>{}), Loss, O, most_examples>();
    for (int batch = 1; batch <= predictions.d[0]; ++batch) {
        std::vector<doubles> ports{predictions.first(batch)};
        for (const doubles& t : targets) ports.push_back(t.first(batch));
        const std::vector<doubles> t(ports.begin() + 1, ports.end());
        doubles sum({D...});
        for (int i = 0; i < ports[0].size(); ++i) {
            doubles low = ports[0], high = low;
            low[i] -= 1e-5, high[i] += 1e-5;
            sum[i % sum.size()] += (formula(high, t) - formula(low, t)) / 2e-5;
        }
        p->set(p->parameters[0], doubles({D...}));
        p->run(batch, ports);
        check_close({p->loss}, doubles({1}, formula(ports[0], t)), limit, "loss of " + std::to_string(batch));
        check_close(p->gradient(0), sum, 10 * limit, "gradient of " + std::to_string(batch));
    }
}

/// A loss of the four recorded examples, [4, ...], together and its gradient by each of them.
template <program_options O, class Loss, int... D>
void check_recorded_as(const doubles& predictions, const std::vector<doubles>& targets, double loss,
                       const double* gradient, double limit = 2e-6) {
    const auto p = make_run<decltype(array<D...> >> offset_layer<D...>{}), Loss, O, most_examples>();
    std::vector<doubles> ports{predictions};
    ports.insert(ports.end(), targets.begin(), targets.end());
    doubles sum({D...});
    for (int i = 0; i < predictions.size(); ++i) sum[i % sum.size()] += gradient[i];
    p->set(p->parameters[0], doubles({D...}));
    p->run(predictions.d[0], ports);
    check_close({p->loss}, doubles({1}, loss), limit, "loss");
    check_close(p->gradient(0), sum, limit, "gradient");
}
template <int N>
doubles recorded(std::vector<int> extents, const double (&x)[N]) {
    return doubles(std::move(extents), std::vector<double>(x, x + N));
}

/// What a loss and its gradient are for one example, where central differences mean nothing: at
/// corners, at infinity, of NaN.
template <class Loss, int... D>
struct one_example {
    std::unique_ptr<program_run> p =
        make_run<decltype(array<D...> >> offset_layer<D...>{}), Loss, as_fused, most_examples>();
    std::vector<float> gradient;

    float loss(const std::vector<double>& y, const std::vector<std::vector<double>>& targets) {
        std::vector<doubles> ports{doubles({1, D...}, y)};
        for (const auto& t : targets) ports.push_back(doubles({1, static_cast<int>(t.size())}, t));
        p->set(p->parameters[0], doubles({D...}));
        p->run(1, ports);
        gradient = p->gradient(0);
        return p->loss;
    }
};

} // namespace sinter::test
