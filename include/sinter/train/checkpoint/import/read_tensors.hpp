// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/byte_buffer.hpp>
#include <sinter/io/safetensors/contents.hpp>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

/// Named tensors from a file of any kind that is known, and the bytes that they point into.
struct tensor_file : safetensors::contents {
    std::vector<io::byte_buffer> bytes;
};

/// Reads safetensors, .npz or .npy, told apart by their first bytes. An .npy file has one tensor,
/// called as the file is without its ending. Throws io_error where the file cannot be read,
/// format_error where it is malformed, or known as a file of PyTorch, Keras, ONNX or GGUF: the
/// error then has the line of Python that converts it.
SINTER_APART SINTER_COLD tensor_file read_tensors(const std::string& path);

} // namespace sinter

#if SINTER_BODIES
#include <sinter/base/span.hpp>
#include <sinter/io/npz/read.hpp>
#include <sinter/io/safetensors/read.hpp>

namespace sinter::inline SINTER_ORDINARY {

SINTER_APART tensor_file read_tensors(const std::string& path) {
    char start[6] = {};
    io::input_file in(path);
    const std::string_view first(start, in.read_up_to(as_writable_bytes(start)));
    safetensors::detail::refuse_other_formats_at(path, false);
    tensor_file out;
    if (first.starts_with("PK")) {
        npz::file f = npz::read(path);
        out.bytes = std::move(f.bytes);
        static_cast<safetensors::contents&>(out) = std::move(f);
    } else if (first == "\x93NUMPY") {
        npy::array a = npy::read(path);
        std::string name = path.substr(path.rfind('/') + 1);
        if (name.ends_with(".npy")) name.resize(name.size() - 4);
        out.source = path;
        out.bytes.push_back(std::move(a.bytes));
        out.tensors[name] = {name, a.type, std::move(a.shape), out.bytes.back().span()};
    } else {
        safetensors::file f = safetensors::read(path);
        out.bytes.push_back(std::move(f.bytes));
        static_cast<safetensors::contents&>(out) = std::move(f);
    }
    return out;
}

} // namespace sinter
#endif
