// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "options.hpp"
#include <sinter/data/transform/batch.hpp>
#include <sinter/io/npz.hpp>
#include <sinter/train/export_onnx.hpp>

/// What examples do to hand a trained net to others.
namespace example {

/// Beside a.onnx, a.npz: a batch, and what the net makes of it.
inline std::string values_beside(const std::string& onnx) { return onnx.substr(0, onnx.rfind(".onnx")) + ".npz"; }

inline void declare_onnx(command_line& line, options& o) {
    line.output("onnx", o.onnx, "write the net here as an ONNX file, and beside it (.npz) a batch with its answers");
}
/// What --onnx asked for. The batch is there so that another program can be held against this one:
/// test/tools/check_onnx.py does so with onnxruntime.
template <class Model>
void write_onnx(const options& given, Model& model, sinter::data::pipeline& batches) {
    if (given.onnx.empty()) return;
    namespace npy = sinter::npy;
    const auto shape_of = [](const sinter::shape& s, int batch) {
        std::vector<std::int64_t> extents = sinter::compiler::extents_of(s);
        if (s.batched) extents.insert(extents.begin(), batch);
        return extents;
    };
    const auto name = [](const char* kind, std::size_t i, const char* own) {
        return *own ? own : i == 0 ? kind : kind + ('_' + std::to_string(i));
    };
    const auto& inner = [&]() -> const auto& {
        if constexpr (requires { model.inner(); }) return model.inner();
        else return model;
    }();
    using trainer_type = std::remove_cvref_t<decltype(inner)>;
    batches.seek({});
    for (const sinter::data::batch_view& b : batches) {
        std::vector<sinter::npz::entry> entries;
        std::vector<std::vector<float>> kept;
        for (std::size_t i = 0; i < b.inputs.size(); ++i) {
            const sinter::data::input_view& x = b.inputs[i];
            const npy::dtype type = x.values ? npy::dtype::f32 : npy::dtype::i32;
            const void* const data = x.values ? static_cast<const void*>(x.values) : x.indices;
            const auto& port = trainer_type::training::v.inputs[i];
            entries.push_back({name("input", i, port.name), type, shape_of(port.s, b.size), data});
        }
        for (int i = 0; i < trainer_type::training::v.n_outputs; ++i) {
            const sinter::span<const float> y = model.predict(b, i);
            kept.emplace_back(y.begin(), y.end());
            const auto shape = shape_of(trainer_type::output_shape(i), b.size);
            const char* const own = trainer_type::training::v.output_names[i];
            entries.push_back(
                {name("output", static_cast<std::size_t>(i), own), npy::dtype::f32, shape, kept.back().data()});
        }
        sinter::export_onnx(model, given.onnx);
        sinter::npz::write(values_beside(given.onnx), entries);
        std::printf("Wrote %s and %s.\n", given.onnx.c_str(), values_beside(given.onnx).c_str());
        return;
    }
}
template <class Model>
void write_onnx(const options& given, Model& model, const sinter::data::dataset& examples) {
    auto batches = sinter::data::source(examples) | sinter::data::batch(16);
    write_onnx(given, model, batches);
}

} // namespace example
