// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/function_ref.hpp>
#include <sinter/graph/graph_view.hpp>
#include <sinter/io/onnx/write.hpp>
#include <sinter/train/checkpoint/variables.hpp>
#include <sinter/train/initialize.hpp>
#include <sinter/train/trainer_state.hpp>

/// The net that predicts, as an ONNX file: for onnxruntime and whatever else reads that. Batches of
/// any size go in; extents and their order are ours, so that images have their channels last.
///
///     export_onnx(model, "net.onnx");      // an estimator or trainer, with its weights
///     export_onnx(net, "net.onnx");        // a net alone, with its first weights
namespace sinter::inline SINTER_ORDINARY {

/// What export_onnx may be given.
struct onnx_options {
    std::string name = "net";               ///< of the graph
    std::uint64_t seed = 1;                 ///< of a net's first weights
    std::vector<onnx::emitter> own{};       ///< how ops of your own are written; they go before ours
    sinter::not_finite not_finite = sinter::not_finite::refused;   ///< weights: as save() does
};

} // namespace sinter
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Writes a trainer's prediction program. The variables and scopes are its training program's, `plain` gives their
/// values. data_error: a value is not finite, and is to be refused.
SINTER_APART SINTER_COLD void
write_onnx_of_trainer(const onnx::graph& prediction, const std::string& path, const onnx_options& o,
                      base::view<const variable_info> parameters, base::view<const variable_info> states,
                      base::view<const facts::scope_entry> scopes,
                      base::function_ref<std::vector<float>(const variable_info&)> plain);

} // namespace sinter::training_parts
namespace sinter::inline SINTER_TARGET {

namespace detail {

/// What the exporter reads of a program's graph. Points into it.
SINTER_COLD inline onnx::graph onnx_graph_of(const graph_view& g) {
    onnx::graph to;
    to.n.reserve(static_cast<std::size_t>(g.n.n));
    for (const node& n : g.n)
        to.n.push_back({n.k, n.about->self.name, n.about->onnx, is_leaf(n), n.operands, n.in, n.s, n.f, n.p, n.fill,
                        n.scope, n.loop});
    for (const auto& list : {g.parameters, g.states})
        for (const variable& v : list) to.variables.push_back({v.id, v.name, v.scope});
    for (const loop& l : g.loops) to.loops.push_back({l.steps, l.count, l.condition, l.backwards});
    for (const loop_carry& c : g.carries) to.carries.push_back({c.loop, c.store, c.value, c.next});
    to.inputs = g.inputs;
    to.outputs = g.outputs;
    to.scopes = g.scopes;
    if (g.names) {
        to.input_names = {g.names->inputs, port_names::most};
        to.output_names = {g.names->outputs, port_names::most};
    }
    return to;
}
SINTER_COLD inline void write_onnx(const graph_view& g, const std::string& path, const onnx_options& o,
                       onnx::exporter::values_by_path values) {
    onnx::write(onnx_graph_of(g), path, o.name, o.own, std::move(values));
}
template <class F>
void for_each_variable(const graph_view& g, F f) {
    for (const auto& list : {g.parameters, g.states})
        for (const variable& v : list) f(variable_info{v.name, v.scope, g.n[v.id].s, v.init, {}, 0, {}});
}

} // namespace detail

/// Writes the prediction program of a trainer or estimator (`model.inner()`), whole or not at all
/// (io::atomic_write). Throws option_error that names the op and the layer where ONNX has nothing
/// of the kind, io_error where the file cannot be written, data_error that names a weight that is
/// not finite, unless these are asked for, and error where weights are averages in part
/// (basic_trainer::exchange_with_averages).
template <class Model>
void export_onnx(const Model& m, const std::string& path, const onnx_options& o = {}) {
    if constexpr (requires { m.inner(); }) {
        export_onnx(m.inner(), path, o);
    } else {
        if constexpr (requires { m.need_whole_weights(""); }) m.need_whole_weights("export_onnx");
        const base::view<const variable_info> parameters{Model::training::v.parameters, Model::parameters()},
            states{Model::training::v.states, Model::states()};
        training_parts::write_onnx_of_trainer(detail::onnx_graph_of(Model::prediction::graph), path, o, parameters,
                                              states, Model::training::scopes,
                                              [&](const variable_info& v) { return m.plain(v); });
    }
}
/// Writes a net as it begins.
template <class I, class... S>
void export_onnx(const model<I, S...>&, const std::string& path, const onnx_options& o = {}) {
    using program =
        compiler::compiled<compiler::request<model<I, S...>, detail::stand_in_loss, void, program_mode::prediction, 64,
                                             compiler::target{}, program_options{}>>;
    const compiler::graph_view g = program::graph;
    detail::write_onnx(g, path, o, [&](const std::string& wanted) {
        std::vector<float> x;
        detail::for_each_variable(g, [&](const variable_info& v) {
            if (const std::string name = path_of(g.scopes, v); name == wanted)
                x = detail::initial_values(v, name, o.seed);
        });
        return x;
    });
}

} // namespace sinter

#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/to_text.hpp>
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART void
write_onnx_of_trainer(const onnx::graph& prediction, const std::string& path, const onnx_options& o,
                      base::view<const variable_info> parameters, base::view<const variable_info> states,
                      base::view<const facts::scope_entry> scopes,
                      base::function_ref<std::vector<float>(const variable_info&)> plain) {
    onnx::write(prediction, path, o.name, o.own, [&](const std::string& wanted) {
        for (const auto& list : {parameters, states})
            for (const variable_info& v : list) {
                if (facts::path_of(scopes, v.scope, v.name) != wanted) continue;
                std::vector<float> x = plain(v);
                for (std::size_t i = 0; o.not_finite == not_finite::refused && i < x.size(); ++i)
                    if (x[i] - x[i] != 0)
                        throw data_error("a weight is not finite",
                                         to_text({"export_onnx, ", path, ", ", wanted, ", number ", i}),
                                         base::number_text(x[i]), "finite weights");
                return x;
            }
        throw option_error("training and prediction do not have the same variables", path, wanted);
    });
}

} // namespace sinter::training_parts
#endif
