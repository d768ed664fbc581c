// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <functional>
#include <sinter/ops/sum.hpp>

#include "support/program_run.hpp"

/// Compares a program with a reference in double precision: its outputs, its loss, and every parameter's gradient with
/// central differences of the reference.
namespace sinter::test {

struct net_reference {
    /// Outputs from the parameters (in the order of their declaration) and the inputs.
    std::function<std::vector<doubles>(const std::vector<doubles>& parameters,
                                       const std::vector<doubles>& inputs)> outputs;
    /// The mean loss from outputs and targets.
    std::function<double(const std::vector<doubles>& outputs, const std::vector<doubles>& targets)> loss;
};
struct net_data {
    std::vector<doubles> parameters, inputs, targets;   ///< inputs and targets for the largest batch
};
struct tolerance {
    double value = 1e-5, gradient = 2e-5;   ///< times the largest element
    double step = 1e-5;                     ///< of the central differences
};

inline std::vector<int> extents_with(const shape& s, int batch) {
    std::vector<int> d(s.d, s.d + s.rank);
    if (s.batched) d.insert(d.begin(), batch);
    return d;
}

/// `[5, 3]`, and `[batch, 5, 3]` where there is one.
inline std::string text_of(const shape& s) {
    std::string t = s.batched ? "[batch" : "[";
    for (int i = 0; i < s.rank; ++i) t += (t.size() > 1 ? ", " : "") + std::to_string(s.d[i]);
    return t + (s.form == layout::weights ? "] packed" : "]");
}
inline std::string text_of(const std::vector<shape>& list) {
    std::string t;
    for (const shape& s : list) t += (t.empty() ? "" : ", ") + text_of(s);
    return t;
}

inline void check_close(const std::vector<float>& got, const doubles& want, double limit, const std::string& what) {
    BOOST_REQUIRE_EQUAL(got.size(), want.v.size());
    double largest = 0, worst = 0;
    std::size_t at = 0;
    for (double x : want.v) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double e = std::abs(static_cast<double>(got[i]) - want.v[i]);
        if (!(e <= worst)) worst = std::isnan(e) ? INFINITY : e, at = i;
    }
    BOOST_TEST(worst <= limit * std::max(largest, 1e-2), what << ": element " << at << " of " << got.size() << " is "
                                                              << got[at] << ", not " << want.v[at]);
}

inline doubles gradient_of_reference(const net_reference& r, net_data d, std::size_t p, double h) {
    doubles g(d.parameters[p].d);
    for (int i = 0; i < g.size(); ++i) {
        double side[2];
        const double x = d.parameters[p][i];
        for (int k = 0; k < 2; ++k) {
            d.parameters[p][i] = x + (k ? h : -h);
            side[k] = r.loss(r.outputs(d.parameters, d.inputs), d.targets);
        }
        d.parameters[p][i] = x;
        g[i] = (side[1] - side[0]) / (2 * h);
    }
    return g;
}

/// The first `batch` examples of everything that has a batch axis.
inline net_data part_of(const program_run& p, const net_data& all, int batch) {
    net_data d = all;
    for (std::size_t i = 0; i < d.inputs.size(); ++i)
        if (p.inputs[i].batched) d.inputs[i] = all.inputs[i].first(batch);
    for (std::size_t i = 0; i < d.targets.size(); ++i)
        if (p.targets[i].batched) d.targets[i] = all.targets[i].first(batch);
    return d;
}

/// Runs p, one program of some net, for `batch` examples and compares everything with the reference's results.
inline void check_run(program_run& p, const net_data& d, int batch, const std::vector<doubles>& y, double loss,
                      const std::vector<doubles>& gradients, const tolerance& t) {
    for (std::size_t i = 0; i < p.parameters.size(); ++i) p.set(p.parameters[i], d.parameters[i]);
    std::vector<doubles> ports = d.inputs;
    ports.insert(ports.end(), d.targets.begin(), d.targets.end());
    p.run(batch, ports);
    for (std::size_t i = 0; i < y.size(); ++i) {
        BOOST_TEST((extents_with(p.outputs[i], batch) == y[i].d), "output " << i << " is " << text_of(p.outputs[i]));
        check_close(p.output(static_cast<int>(i), batch), y[i], t.value, "output " + std::to_string(i));
    }
    check_close({p.loss}, doubles({1}, loss), t.value, "loss");
    for (std::size_t i = 0; i < p.parameters.size(); ++i)
        check_close(p.gradient(static_cast<int>(i)), gradients[i], t.gradient, "gradient of " + p.paths[i]);
    BOOST_TEST(p.padding_is_zero());
}

/// Parameters, inputs and targets for p, drawn at random.
inline net_data draw_for(const program_run& p, std::uint64_t seed = 3) {
    random_numbers random(seed);
    net_data d;
    for (const variable_info& v : p.parameters) d.parameters.push_back(random.fill(extents_with(v.s, 0), -1, 1));
    for (std::size_t i = 0; i < p.inputs.size() + p.targets.size(); ++i) {
        const bool input = i < p.inputs.size();
        const shape& s = input ? p.inputs[i] : p.targets[i - p.inputs.size()];
        doubles x = random.fill(extents_with(s, p.max_batch), -1, 1);
        if (s.type == dtype::i32)
            for (double& k : x.v) k = random.below(p.below[i]);
        (input ? d.inputs : d.targets).push_back(x);
    }
    return d;
}

/// A loss for any number of outputs: each element of each times its target, summed; the mean over the batch.
struct weigh_outputs {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(bundle y, bundle w) const {
        tensor all;
        for (int i = 0; i < y.n; ++i) {
            const shape flat = extents(y[i].shape().size());
            const tensor one = ops::sum(ops::reshape(y[i], flat) * ops::reshape(w[i], flat), {-1});
            all = i ? all + one : one;
        }
        return all;
    }
    static double reference(const std::vector<doubles>& y, const std::vector<doubles>& w) {
        double s = 0;
        for (std::size_t i = 0; i < y.size(); ++i)
            for (int k = 0; k < y[i].size(); ++k) s += y[i][k] * w[i][k] / y[i].d[0];
        return s;
    }
};

/// A way to compile a net.
struct named_program {
    const char* name;
    std::unique_ptr<program_run> (*make)(int threads);
};
/// Which programs something is compiled to: all three, or only the fused one where only extents
/// differ from another case.
enum class programs { all, fused_only };

template <class Net, class Loss, int Max, programs Which>
std::vector<named_program> programs_of() {
    std::vector<named_program> all{{"fused", make_run<Net, Loss, as_fused, Max>}};
    if constexpr (Which == programs::all) {
        all.push_back({"unfused", make_run<Net, Loss, as_unfused, Max>});
        all.push_back({"updated in place", make_run<Net, Loss, as_trained, Max>});
    }
    return all;
}

/// Each program, for full and partial batches, against the reference. `draw` makes parameters,
/// inputs and targets for the first of them. A failure tells the extents of all operands, for many
/// are not written in the test but drawn.
inline void check_all(const std::vector<named_program>& programs,
                      const std::function<net_data(const program_run&)>& draw,
                      const net_reference& r, const tolerance& t) {
    std::vector<std::unique_ptr<program_run>> runs;
    for (const named_program& p : programs) runs.push_back(p.make(1));
    const program_run& one = *runs.front();
    const net_data all = draw(one);
    std::vector<shape> own;
    for (const variable_info& v : one.parameters) own.push_back(v.s);
    const std::string what = "inputs " + text_of(one.inputs) + ", parameters " + text_of(own);
    const int most = one.max_batch;
    std::vector<int> batches{most};
    for (int b : {1, 3, most - 1})
        if (b > 0 && b < most && b != batches.back()) batches.push_back(b);
    for (int batch : batches) {
        const net_data d = part_of(one, all, batch);
        const auto y = r.outputs(d.parameters, d.inputs);
        const double loss = r.loss(y, d.targets);
        std::vector<doubles> gradients;
        for (std::size_t i = 0; i < d.parameters.size(); ++i)
            gradients.push_back(gradient_of_reference(r, d, i, t.step));
        for (std::size_t i = 0; i < runs.size(); ++i)
            BOOST_TEST_CONTEXT(what << ", batch " << batch << ", " << programs[i].name)
                check_run(*runs[i], d, batch, y, loss, gradients, t);
    }
}

/// The three ways to compile a training step of a net, each against what its outputs should be, for full and partial
/// batches. Another seed where the loss of what this one draws cancels, to less than float32 knows of its terms.
template <programs Which = programs::all, int Max = 5, class Net, class Outputs>
void check_net(Net, Outputs outputs, const tolerance& t = {}, std::uint64_t seed = 3) {
    check_all(programs_of<Net, weigh_outputs, Max, Which>(), [seed](const program_run& p) { return draw_for(p, seed); },
              {outputs, weigh_outputs::reference}, t);
}

} // namespace sinter::test
