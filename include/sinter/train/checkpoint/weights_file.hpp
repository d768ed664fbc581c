// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/safetensors.hpp>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

/// The weights and states that save() wrote, whole or without what resuming needs, for a program
/// that predicts and never trains:
///
///     predictor p{net, weights_file("net.safetensors")};
///
/// A file does not say with which options its model was built: they are the last template argument
/// of predictor. Throws io_error where the file cannot be read and format_error where it is none of
/// safetensors.
class weights_file {
public:
    SINTER_APART SINTER_COLD explicit weights_file(const std::string& path);
    /// A file's bytes that lie in memory, at any address; the caller keeps them there. Errors call
    /// them "memory".
    SINTER_APART SINTER_COLD explicit weights_file(span<const std::byte> bytes);

    /// mismatch_error, with a line for every tensor that is missing, unexpected or different,
    /// unless the file has just these, beside the optimizer's memory, the number of steps and what
    /// is `not_needed`.
    SINTER_APART SINTER_COLD void check(const std::vector<safetensors::expected_tensor>& expected,
                                        const std::vector<std::string>& not_needed = {}) const;
    /// A tensor that was checked.
    SINTER_APART SINTER_COLD std::vector<float> plain(const std::string& name) const;

private:
    io::byte_buffer bytes_;   ///< of a file that was read
    safetensors::contents file_;

    void take(safetensors::file&& f) {
        bytes_ = std::move(f.bytes);
        file_ = std::move(static_cast<safetensors::contents&>(f));
    }
};

} // namespace sinter

#if SINTER_BODIES
#include <sinter/train/checkpoint/reserved_names.hpp>
#include <algorithm>
#include <cstring>

namespace sinter::inline SINTER_ORDINARY {

SINTER_APART weights_file::weights_file(const std::string& path) { take(safetensors::read(path)); }
SINTER_APART weights_file::weights_file(span<const std::byte> bytes) : file_(safetensors::parse(bytes, "memory")) {}
SINTER_APART void weights_file::check(const std::vector<safetensors::expected_tensor>& expected,
                                      const std::vector<std::string>& not_needed) const {
    safetensors::contents own{file_.source, {}, {}};
    for (const auto& [name, tensor] : file_.tensors)
        if (!training_parts::is_for_resuming(name) &&
            std::find(not_needed.begin(), not_needed.end(), name) == not_needed.end())
            own.tensors.emplace(name, tensor);
    safetensors::check_matches(expected, own);
}
SINTER_APART std::vector<float> weights_file::plain(const std::string& name) const {
    const span<const std::byte> bytes = file_.at(name).data;
    std::vector<float> x(bytes.size() / sizeof(float));
    std::memcpy(x.data(), bytes.data(), bytes.size());   // the file's bytes may lie anywhere
    return x;
}

} // namespace sinter
#endif
