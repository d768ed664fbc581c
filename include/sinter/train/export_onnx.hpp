// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/onnx/emitters.hpp>
#include <sinter/train/checkpoint/variables.hpp>
#include <sinter/train/initialize.hpp>
#include <sinter/train/trainer_state.hpp>

/// The net that predicts, as an ONNX file: for onnxruntime and whatever else reads that. Batches of
/// any size go in; extents and their order are ours, so that images have their channels last.
///
///     export_onnx(model, "net.onnx");      // an estimator or trainer, with its weights
///     export_onnx(net, "net.onnx");        // a net alone, with its first weights
namespace sinter::inline SINTER_TARGET {

/// What export_onnx may be given.
struct onnx_options {
    std::string name = "net";               ///< of the graph
    std::uint64_t seed = 1;                 ///< of a net's first weights
    std::vector<onnx::emitter> own{};       ///< how ops of your own are written; they go before ours
    sinter::not_finite not_finite = sinter::not_finite::refused;   ///< weights: as save() does
};

namespace detail {

inline void write_onnx(const graph_view& g, const std::string& path, const onnx_options& o,
                       onnx::exporter::values_by_path values) {
    std::vector<onnx::emitter> emitters = onnx::all_emitters();
    emitters.insert(emitters.end(), o.own.begin(), o.own.end());
    onnx::exporter e(g, std::move(emitters), std::move(values), path);
    e.run();
    const std::string bytes = e.m.encode(o.name, path);
    io::atomic_write(path, [&](io::output_file& file) { file.write(bytes); });
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
        const auto values = [&](const variable_info& v) {
            std::vector<float> x = m.plain(v);
            for (std::size_t i = 0; o.not_finite == not_finite::refused && i < x.size(); ++i)
                if (x[i] - x[i] != 0)
                    throw data_error("a weight is not finite",
                                     to_text({"export_onnx, ", path, ", ", Model::path(v), ", number ", i}),
                                     base::number_text(x[i]), "finite weights");
            return x;
        };
        detail::write_onnx(Model::prediction::graph, path, o, [&](const std::string& wanted) {
            for (int i = 0; i < Model::parameters(); ++i)
                if (const variable_info& v = Model::parameter(i); Model::path(v) == wanted) return values(v);
            for (int i = 0; i < Model::states(); ++i)
                if (const variable_info& v = Model::state(i); Model::path(v) == wanted) return values(v);
            throw option_error("training and prediction do not have the same variables", path, wanted);
        });
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
