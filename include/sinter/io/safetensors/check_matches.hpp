// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/safetensors/contents.hpp>

namespace sinter::inline SINTER_ORDINARY::safetensors {

/// A tensor that a program needs from a file.
struct expected_tensor {
    std::string name;
    dtype type = dtype::f32;
    std::vector<std::int64_t> shape;
};

/// One line for each tensor in which `file` and `expected` differ, by name; empty where they match.
/// A tensor whose type and shape both differ has both in its line.
SINTER_SELDOM std::vector<std::string> differences(const std::vector<expected_tensor>& expected, const contents& file);

/// Throws mismatch_error that lists every difference, one a line, unless `file` has exactly the
/// `expected` tensors.
SINTER_SELDOM void check_matches(const std::vector<expected_tensor>& expected, const contents& file);

#if SINTER_BODIES
SINTER_SELDOM_BODY std::vector<std::string> differences(const std::vector<expected_tensor>& expected,
                                                        const contents& file) {
    metadata_map lines;   // by name, whichever side knows it
    std::vector<std::string_view> wanted;
    for (const expected_tensor& want : expected) {
        wanted.push_back(want.name);
        const auto found = file.tensors.find(want.name);
        if (found == file.tensors.end()) {
            lines.emplace(std::string(want.name), "missing, needed " + describe(want.type, want.shape));
            continue;
        }
        const tensor_view& is = found->second;
        std::string line;
        if (is.type != want.type)
            line = "type: got " + std::string(dtype_name(is.type)) + ", needed " + std::string(dtype_name(want.type));
        if (is.shape != want.shape) {
            if (!line.empty()) line += "; ";
            line += "shape: got " + io::extents_text(is.shape) + ", needed " + io::extents_text(want.shape);
        }
        if (!line.empty()) lines.emplace(std::string(want.name), std::move(line));
    }
    std::sort(wanted.begin(), wanted.end());
    for (const auto& [name, is] : file.tensors)
        if (!std::binary_search(wanted.begin(), wanted.end(), std::string_view(name)))
            lines.emplace(std::string(name), "unexpected, got " + describe(is.type, is.shape));

    std::vector<std::string> out;
    for (const auto& [name, line] : lines) out.push_back(io::printable(name) + ": " + line);
    return out;
}

SINTER_SELDOM_BODY void check_matches(const std::vector<expected_tensor>& expected, const contents& file) {
    const std::vector<std::string> lines = differences(expected, file);
    if (lines.empty()) return;
    std::string list = "tensors do not fit the program, " + std::to_string(lines.size()) +
                       (lines.size() == 1 ? " difference:" : " differences:");
    for (const std::string& line : lines) (list += "\n  ") += line;
    throw mismatch_error(std::move(list), file.source);
}
#endif

} // namespace sinter::safetensors
