// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/mapped_file.hpp>
#include <sinter/io/safetensors/read.hpp>
#include <memory>

namespace sinter::inline SINTER_TARGET::safetensors {

/// The contents of a file that need not fit in memory: its views are of the file itself
/// (io/mapped_file.hpp), which `contents::mapped` holds. Throws what read() throws. (A template, as in
/// contents.hpp: most programs do not call it.)
template <class = void>
SINTER_COLD contents map(const std::string& path) {
    auto file = std::make_shared<const io::mapped_file>(path);
    contents all = parse(file->bytes(), path);
    all.mapped = std::move(file);
    return all;
}

} // namespace sinter::safetensors
