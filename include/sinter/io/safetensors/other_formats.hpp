// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/utf8.hpp>
#include <sinter/io/printable.hpp>

/// Files of other programs, known by their first bytes, and how to make of them what can be read
/// here.
namespace sinter::inline SINTER_ORDINARY::safetensors {

/// As much of a file's beginning as refuse_other_formats() looks at.
inline constexpr std::size_t telling_bytes = 512;

/// Throws format_error where a file that begins with `start` is one of PyTorch (torch.save), Keras,
/// HDF5, ONNX or GGUF: what it is, and the line of Python that converts it. Also where it is one of
/// TensorFlow or TensorFlow Lite, a web page, or Git LFS' stand-in for a file: what to fetch instead.
/// `arrays_too`: also where it is one of NumPy's, which load_weights() reads.
/// What is no format that is known here, but text, has a place where it says how long its header is, too: eight
/// letters, which are more than any.
SINTER_SELDOM SINTER_COLD bool is_text(std::string_view start);
SINTER_SELDOM SINTER_COLD void refuse_other_formats(std::string_view start, const std::string& path, bool arrays_too);

#if SINTER_BODIES
SINTER_SELDOM_BODY bool is_text(std::string_view start) {
    if (start.size() < 8) return false;
    if (start.starts_with("\xff\xfe")) return start[3] == 0;   // UTF-16
    if (start.starts_with("\xfe\xff")) return start[2] == 0;
    while (!start.empty()) {
        const std::size_t n = base::utf8_length(start);
        if (n == 0) return start.size() < 4 && static_cast<unsigned char>(start[0]) >= 0xc2;   // cut within a character
        if (const auto c = static_cast<unsigned char>(start[0]); c < 0x20 && !(c >= '\t' && c <= '\r') && c != 0x1b)
            return false;
        start.remove_prefix(n);
    }
    return true;
}

SINTER_SELDOM_BODY void refuse_other_formats(std::string_view start, const std::string& path, bool arrays_too) {
    const bool text = is_text(start);
    if (start.size() > 8 && start[8] == '{' && !text)
        return;   // safetensors: eight bytes of length, whatever they are, then JSON
    const std::string file = io::printable(path, 4096);
    const auto refuse = [&](std::string_view what, std::string_view line) {
        throw format_error("not a safetensors file", path, what, line);
    };
    const auto has = [&](std::string_view part) { return start.find(part) != std::string_view::npos; };
    const bool zip = start.starts_with("PK\x03\x04"), npz = zip && has(".npy");
    if ((zip && !npz && has("data.pkl")) || (start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5))
        refuse(
            "a file of PyTorch's torch.save()",
            to_text(
                {"a safetensors file: python3 -c \"import torch; from safetensors.torch import save_file; "
                 "save_file({k: v.contiguous().clone() for k, v in torch.load(",
                 file,
                 ", map_location='cpu').items()}, "
                 "'converted.safetensors')\" where it holds a state_dict; then load_weights with "
                 ".from = framework::pytorch"}));
    if ((zip && !npz && (has("metadata.json") || has("config.json"))) || start.starts_with("\x89HDF\r\n\x1a\n"))
        refuse(
            zip ? "a model of Keras (.keras)" : "an HDF5 file (.h5), as Keras writes them",
            to_text(
                {"an .npz file: python3 -c \"import keras, numpy; m = keras.models.load_model(", file,
                 "); numpy.savez('converted.npz', **{w.path: w.numpy() for w in m.weights})\"; then load_weights with "
                 ".from = framework::keras"}));
    if (start.starts_with("GGUF"))
        refuse("a GGUF file",
               to_text({"an .npz file: python3 -c \"import numpy, gguf; numpy.savez('converted.npz', **{t.name: "
                       "gguf.dequantize(t.data, t.tensor_type) for t in gguf.GGUFReader(", file,
                       ").tensors})\"; then load_weights"}));
    if (start.size() > 8 && start.substr(4, 4) == "TFL3")
        refuse("a TensorFlow Lite file (.tflite)",
               "the Keras model that it was made from, whose weights become an .npz file; then load_weights");
    if (start.starts_with("\x08\x01\x12"))
        refuse("TensorFlow's saved_model.pb, which has no weights",
               to_text({"an .npz file: python3 -c \"import tensorflow, numpy; m = tensorflow.saved_model.load(FOLDER); "
                       "numpy.savez('converted.npz', **{v.name: v.numpy() for v in m.variables})\", where FOLDER is "
                       "the one that ", file, " is in; then load_weights"}));
    if (start.starts_with("version https://git-lfs"))
        refuse("what Git LFS leaves in place of a file", "the file itself: git lfs pull");
    if (start.starts_with("<!DOCTYPE") || start.starts_with("<!doctype") || start.starts_with("<html"))
        refuse("a web page", "the file that was to be downloaded");
    if (path.ends_with(".onnx") ||
        (start.size() > 3 && start[0] == '\x08' && start[1] > 1 && start[1] < 32 && start[2] == '\x12'))
        refuse("an ONNX file",
               to_text(
                   {"an .npz file of its weights: python3 -c \"import onnx, numpy; from onnx import numpy_helper as h; "
                    "numpy.savez('converted.npz', **{t.name: h.to_array(t) for t in onnx.load(",
                    file, ").graph.initializer})\"; then load_weights"}));
    if (text && has("\"weight_map\""))
        refuse("the index of a model's files, a text", "the .safetensors files that it names");
    if (text)
        refuse(to_text({"a text that begins with ", io::printable(start.substr(0, start.find_first_of("\r\n")), 40)}),
               "a safetensors file, as save() writes it");
    if (arrays_too && (npz || start.starts_with("\x93NUMPY")))
        refuse(npz ? "an archive of NumPy's (.npz)" : "an array of NumPy's (.npy)",
               "a safetensors file; load_weights (<sinter/train/checkpoint/load_weights.hpp>) reads NumPy's");
}
#endif

} // namespace sinter::safetensors
