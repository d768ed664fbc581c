// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "io/temporary_folder.hpp"
#include "support/check_in_onnxruntime.hpp"
#include "support/onnx_file.hpp"
#include "support/program_run.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/io/npz.hpp>
#include <sinter/train/export_onnx.hpp>

#include <map>

/// A net's prediction program here against its ONNX file in onnxruntime.
namespace sinter::test {
using namespace compiler;

/// Numbers in [low, high), the same on every machine.
inline doubles drawn(int n, double low, double high, std::uint64_t seed) {
    random_stream r(seed);
    doubles x({n});
    for (double& e : x.v) {
        const double u = static_cast<double>(uniform(r.word()));
        e = static_cast<double>(static_cast<float>(low + (high - low) * u));
    }
    return x;
}

/// The net with all variables drawn anew (those that say variance are positive), run on a batch of 3.
template <class Net>
onnx_file agrees_with_onnxruntime(const std::string& tolerance) {
    constexpr int batch = 3;
    using asked =
        request<Net, sinter::detail::stand_in_loss, sgd, program_mode::prediction, 5, cpu_device::target, as_fused>;
    const auto run = make_run<Net, sinter::detail::stand_in_loss, as_fused, 5, program_mode::prediction>();
    const graph_view g = compiled<asked>::graph;
    std::map<std::string, std::vector<float>> plain;
    std::uint64_t seed = 1;
    for (const auto* list : {&run->parameters, &run->states})
        for (const variable_info& v : *list) {
            const std::string path = path_of(g.scopes, v);
            const bool positive = path.find("variance") != std::string::npos;
            run->set(v, drawn(v.s.size(), positive ? 0.5 : -0.6, positive ? 1.5 : 0.6, ++seed));
            plain[path] = run->value(v);
        }
    const temporary_folder folder;
    std::vector<doubles> ports;
    std::vector<std::vector<float>> floats;
    std::vector<std::vector<std::int32_t>> whole;
    std::vector<safetensors::entry> entries;
    const auto entry = [&](const char* kind, const char* name, std::size_t i, const shape& s, const void* data) {
        std::vector<std::int64_t> extents = extents_of(s);
        if (s.batched) extents.insert(extents.begin(), batch);
        const npy::dtype type = s.type == dtype::i32 ? npy::dtype::i32 : npy::dtype::f32;
        entries.push_back({*name ? name : i == 0 ? kind : kind + ('_' + std::to_string(i)), type, extents, data});
    };
    for (std::size_t i = 0; i < run->inputs.size(); ++i) {
        const shape& s = run->inputs[i];
        const int n = batch * s.size();
        const char* const name = port_names::of(g.names->inputs, static_cast<int>(i));
        if (s.type == dtype::i32) {
            ports.push_back(drawn(n, 0, run->below[i] ? run->below[i] : 7, 100 + i));
            for (double& e : ports.back().v) e = std::floor(e);
            whole.emplace_back(ports.back().v.begin(), ports.back().v.end());
            entry("input", name, i, s, whole.back().data());
        } else {
            ports.push_back(drawn(n, -1.5, 1.5, 100 + i));
            floats.emplace_back(ports.back().v.begin(), ports.back().v.end());
            entry("input", name, i, s, floats.back().data());
        }
    }
    run->run(batch, ports);
    for (std::size_t i = 0; i < run->outputs.size(); ++i) {
        floats.push_back(run->output(static_cast<int>(i), batch));
        entry("output", port_names::of(g.names->outputs, static_cast<int>(i)), i, run->outputs[i],
              floats.back().data());
    }
    npz::write(folder / "values.npz", entries);
    sinter::detail::write_onnx(g, folder / "net.onnx", {}, [&](const std::string& path) { return plain.at(path); });
    const onnx_file file(read_bytes(folder / "net.onnx"));
    check_in_onnxruntime(folder / "net.onnx", folder / "values.npz", tolerance);
    return file;
}
template <const auto& Net>
onnx_file agrees(const std::string& tolerance = "1e-5") {
    return agrees_with_onnxruntime<std::remove_cvref_t<decltype(Net)>>(tolerance);
}

} // namespace sinter::test
