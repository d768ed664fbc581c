// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>

namespace sinter::inline SINTER_ORDINARY::onnx {

/// Writes a net's file, whole or not at all (io::atomic_write), called `name` within. `own` go before our emitters.
/// Throws what train/export_onnx.hpp says.
SINTER_APART SINTER_COLD void write(const graph& g, const std::string& path, const std::string& name,
                                    const std::vector<emitter>& own, exporter::values_by_path values);

} // namespace sinter::onnx

#if SINTER_BODIES
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/onnx/emitters.hpp>
namespace sinter::inline SINTER_ORDINARY::onnx {

SINTER_APART void write(const graph& g, const std::string& path, const std::string& name,
                        const std::vector<emitter>& own, exporter::values_by_path values) {
    std::vector<emitter> emitters = all_emitters();
    emitters.insert(emitters.end(), own.begin(), own.end());
    exporter e(g, std::move(emitters), std::move(values), path);
    e.run();
    const std::string bytes = e.m.encode(name, path);
    io::atomic_write(path, [&](io::output_file& file) { file.write(bytes); });
}

} // namespace sinter::onnx
#endif
