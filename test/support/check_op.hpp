// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/compiler/program.hpp>

#include "support/check_net.hpp"
#include "support/shapes.hpp"

/// Checks one op on operands of any extents. A case says what to check:
///
///     struct rows {
///         static constexpr shape operands[] = {batch_of(3, 5), extents(5)};
///         static constexpr tensor apply(tensor a, tensor b) { return a + b; }
///         static doubles reference(const doubles& a, const doubles& b) { ... }
///         static constexpr double low = -1, high = 1;      // where operands are drawn from; optional
///     };
///
/// An operand without a batch is a parameter. One with a batch is an input times a parameter of its extents, so that
/// its gradient shows too (under `plain_inputs = true`, the input alone). The loss weighs each output by a fixed random
/// number.
namespace sinter::test {
using namespace compiler;

/// The same extents as weights in the kernels' own layout.
constexpr shape packed(shape s) {
    s.form = layout::weights;
    return s;
}

template <class Case>
constexpr bool plain_inputs() {
    if constexpr (requires { Case::plain_inputs; }) return Case::plain_inputs;
    else return false;
}

template <class Case>
struct op_net {
    static constexpr int n = static_cast<int>(sizeof(Case::operands) / sizeof(Case::operands[0]));
    static constexpr const char* names[4] = {"a", "b", "c", "d"};

    static constexpr tensor operand(graph& g, int i) {
        const shape s = Case::operands[i];
        shape own = s;
        own.batched = false;
        tensor x{&g, 0};   // the graph alone matters
        if (s.batched || s.type != dtype::f32) {
            x = make<op::input>(&g, s, {}, {g.inputs.n});
            g.inputs.push(x.id);
            if (s.type != dtype::f32 || plain_inputs<Case>()) return x;
        }
        const tensor p = parameter(x, names[i], own, ones);
        return s.batched ? x * p : p;
    }
    static constexpr bundle trace(graph& g) {
        tensor t[4];
        for (int i = 0; i < n; ++i) t[i] = operand(g, i);
        if constexpr (n == 1) return Case::apply(t[0]);
        else if constexpr (n == 2) return Case::apply(t[0], t[1]);
        else return Case::apply(t[0], t[1], t[2]);
    }
};

/// The sum of output times target; over a batch it becomes the mean of all elements.
struct weighted_sum {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor y, tensor w) const {
        if (y.shape().batched) return y * w;
        y = ops::reshape(y, extents(y.shape().size()));
        return ops::sum(y * ops::reshape(w, extents(w.shape().size())), {-1});
    }
};
inline double weighted_sum_reference(const std::vector<doubles>& y, const std::vector<doubles>& w, bool batched) {
    double s = 0;
    for (int i = 0; i < y[0].size(); ++i) s += y[0][i] * w[0][i];
    return batched ? s / y[0].size() : s;
}

template <class Case>
constexpr double low_of() {
    if constexpr (requires { Case::low; }) return Case::low;
    else return -1;
}
template <class Case>
constexpr double high_of() {
    if constexpr (requires { Case::high; }) return Case::high;
    else return 1;
}

/// A case without its type: what is done with it at run time is compiled once, whatever the number of cases.
struct op_case {
    view<const shape> operands;
    bool plain_inputs;
    double low, high;
    doubles (*reference)(const std::vector<doubles>&);
};
template <class Case>
doubles apply_reference(const std::vector<doubles>& x) {
    if constexpr (op_net<Case>::n == 1) return Case::reference(x[0]);
    else if constexpr (op_net<Case>::n == 2) return Case::reference(x[0], x[1]);
    else return Case::reference(x[0], x[1], x[2]);
}
template <class Case>
op_case case_of() {
    return {{Case::operands, op_net<Case>::n}, plain_inputs<Case>(), low_of<Case>(), high_of<Case>(),
            apply_reference<Case>};
}

/// What the op is given: the parameters, or inputs times parameters.
inline std::vector<doubles> operands_from(const op_case& c, const std::vector<doubles>& parameters,
                                          const std::vector<doubles>& inputs) {
    std::vector<doubles> x;
    std::size_t p = 0, i = 0;
    for (const shape& s : c.operands) {
        if (s.type != dtype::f32 || (s.batched && c.plain_inputs)) x.push_back(inputs[i++]);
        else if (s.batched) x.push_back(map(inputs[i++], parameters[p++], [](double a, double b) { return a * b; }));
        else x.push_back(parameters[p++]);
    }
    return x;
}
inline net_data draw_operands(const op_case& c, const program_run& p) {
    random_numbers random(7);
    net_data d;
    const int most = p.max_batch;
    for (const shape& s : c.operands) {
        shape own = s;
        own.batched = false;
        if (s.type != dtype::f32) {
            d.inputs.emplace_back(extents_with(s, most));
            for (double& x : d.inputs.back().v) x = random.below(static_cast<int>(c.high));
        } else if (s.batched) {
            d.inputs.push_back(random.fill(extents_with(s, most), c.low, c.high));
            if (!c.plain_inputs) d.parameters.push_back(random.fill(extents_with(own, 0), 0.5, 1.5));
        } else {
            d.parameters.push_back(random.fill(extents_with(own, 0), c.low, c.high));
        }
    }
    for (const shape& s : p.targets) d.targets.push_back(random.fill(extents_with(s, most), -1, 1));
    return d;
}
inline void check_op(const op_case& c, const std::vector<named_program>& programs, const tolerance& t) {
    bool batched = false;
    const auto draw = [&](const program_run& p) {
        batched = p.outputs[0].batched;
        return draw_operands(c, p);
    };
    const auto outputs = [&](const std::vector<doubles>& p, const std::vector<doubles>& x) {
        return std::vector{c.reference(operands_from(c, p, x))};
    };
    const auto loss = [&](const std::vector<doubles>& y, const std::vector<doubles>& w) {
        return weighted_sum_reference(y, w, batched);
    };
    check_all(programs, draw, {outputs, loss}, t);
}
template <class Case, programs Which = programs::all, int Max = 5>
void check_op(const tolerance& t = {}) {
    check_op(case_of<Case>(), programs_of<op_net<Case>, weighted_sum, Max, Which>(), t);
}

/// What an op gives for operands chosen by hand (none with a batch), and the gradients of the sum of its outputs.
struct op_result {
    std::vector<float> y;
    std::vector<std::vector<float>> gradients;
};
template <class Case, program_options O = as_fused>
op_result run_op(const std::vector<doubles>& operands) {
    const auto p = make_run<op_net<Case>, weighted_sum, O, 1>();
    for (std::size_t i = 0; i < operands.size(); ++i) p->set(p->parameters[i], operands[i]);
    std::vector<doubles> ones;
    for (const shape& s : p->targets) ones.emplace_back(extents_with(s, 1), 1.);
    p->run(1, ones);
    op_result r{p->output(0, 1), {}};
    for (int i = 0; i < static_cast<int>(operands.size()); ++i) r.gradients.push_back(p->gradient(i));
    return r;
}

} // namespace sinter::test
