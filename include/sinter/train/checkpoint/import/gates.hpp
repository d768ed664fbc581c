// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/train/checkpoint/import/convert.hpp>
#include <sinter/train/checkpoint/import/name_map.hpp>
#include <sinter/train/checkpoint/import/read_tensors.hpp>
#include <set>
#include <string>

/// Recurrent layers' weights, which other frameworks keep side by side, as one tensor for each gate
/// (layers/lstm.hpp, gru.hpp). This happens before names are looked up, so a name map sees
/// `rnn.kernel_i` and so on:
///
///     PyTorch  X.weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0    X.kernel_i, X.recurrent_kernel_i, X.bias_i ...
///              X.weight_ih_l1                                          X_1.kernel_i ...
///              X.weight_ih_l0_reverse, beside X.weight_ih_l0           X.backward.kernel_i ..., X.forward.kernel_i ...
///     Keras    X/lstm_cell/kernel, recurrent_kernel, bias              X/kernel_i ...
///              X/forward_lstm/lstm_cell/kernel                         X/forward/kernel_i ...
///
/// PyTorch's two biases are added up where only their sum counts.
namespace sinter::inline SINTER_ORDINARY::training_parts {

class gate_splitter {
public:
    SINTER_APART SINTER_COLD gate_splitter(tensor_file& f, framework from);
    /// Was it made here? Then it lies as ours do.
    bool made(const std::string& name) const { return made_.contains(name); }

private:
    tensor_file& f_;
    std::set<std::string> made_;
    using names = std::vector<std::string>;

    SINTER_APART SINTER_COLD static const names& gates_of(std::int64_t n, bool torch);
    /// Takes a tensor out of the file; without one, nothing.
    SINTER_APART SINTER_COLD arranged take(const std::string& name);
    SINTER_APART SINTER_COLD void put(const std::string& name, std::vector<std::int64_t> shape,
                                      const std::vector<float>& x);
    /// Columns of gate g of [rows, gates * units].
    SINTER_APART SINTER_COLD static std::vector<float> columns(const std::vector<float>& x, std::int64_t rows,
                                                               std::int64_t width, std::size_t g, std::int64_t units);
    /// `kernel` [F, G * N], `recurrent` [N, G * N], biases [G * N] or nothing, both of the
    /// framework's `gates`.
    SINTER_APART SINTER_COLD void split(const std::string& layer, const names& gates, std::int64_t units,
                                        const arranged& kernel, const arranged& recurrent,
                                        const std::vector<float>& bias, const std::vector<float>& recurrent_bias);
    /// What does not have the extents of a recurrent layer stays as it is, and is told of as an
    /// unexpected tensor.
    SINTER_APART SINTER_COLD void pytorch(const std::string& name, const std::string& layer, const std::string& which);
    /// `rnn.` and the layer's number: `rnn.`, `rnn_1.`; a layer that is the whole model is called
    /// `rnn`.
    SINTER_APART SINTER_COLD static std::string prefix(std::string layer, const std::string& number);
    SINTER_APART SINTER_COLD void keras(const std::string& cell);
};

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <cstring>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART gate_splitter::gate_splitter(tensor_file& f, framework from) : f_(f) {
    std::vector<std::string> found;
    const std::string_view mark = from == framework::pytorch ? "weight_hh_l" : "_cell/recurrent_kernel";
    for (const auto& [name, t] : f.tensors)
        if (from != framework::sinter && t.shape.size() == 2 && is_floating(t.type) && name.find(mark) != name.npos)
            found.push_back(name);
    for (const std::string& name : found) {
        if (from == framework::pytorch)
            pytorch(name, name.substr(0, name.find(mark)), name.substr(name.find(mark) + mark.size()));
        else keras(name.substr(0, name.rfind('/')));
    }
}
SINTER_APART const gate_splitter::names& gate_splitter::gates_of(std::int64_t n, bool torch) {
    static const names lstm{"_i", "_f", "_c", "_o"}, gru{"_z", "_r", "_h"}, torch_gru{"_r", "_z", "_h"}, one{""},
        none;
    return n == 4 ? lstm : n == 3 ? (torch ? torch_gru : gru) : n == 1 ? one : none;
}
SINTER_APART arranged gate_splitter::take(const std::string& name) {
    const auto at = f_.tensors.find(name);
    if (at == f_.tensors.end() || !is_floating(at->second.type)) return {};
    arranged a{at->second.shape, floats_of(at->second)};
    f_.tensors.erase(at);
    return a;
}
SINTER_APART void gate_splitter::put(const std::string& name, std::vector<std::int64_t> shape,
                                     const std::vector<float>& x) {
    io::byte_buffer b(x.size() * sizeof(float), f_.source);
    std::memcpy(b.span().data(), x.data(), x.size() * sizeof(float));
    f_.bytes.push_back(std::move(b));
    f_.tensors[name] = {name, safetensors::dtype::f32, std::move(shape), f_.bytes.back().span()};
    made_.insert(name);
}
SINTER_APART std::vector<float> gate_splitter::columns(const std::vector<float>& x, std::int64_t rows,
                                                       std::int64_t width, std::size_t g, std::int64_t units) {
    std::vector<float> y;
    for (std::int64_t r = 0; r < rows; ++r) {
        const auto from = x.begin() + r * width + static_cast<std::int64_t>(g) * units;
        y.insert(y.end(), from, from + units);
    }
    return y;
}
SINTER_APART void gate_splitter::split(const std::string& layer, const names& gates, std::int64_t units,
                                       const arranged& kernel, const arranged& recurrent,
                                       const std::vector<float>& bias, const std::vector<float>& recurrent_bias) {
    const std::int64_t width = static_cast<std::int64_t>(gates.size()) * units;
    for (std::size_t g = 0; g < gates.size(); ++g) {
        const bool apart = gates[g] == "_h" && !recurrent_bias.empty();   // a reset gate stands between the two
        put(layer + "kernel" + gates[g], {kernel.shape[0], units},
            columns(kernel.x, kernel.shape[0], width, g, units));
        put(layer + "recurrent_kernel" + gates[g], {units, units}, columns(recurrent.x, units, width, g, units));
        if (bias.empty()) continue;
        std::vector<float> b = columns(bias, 1, width, g, units);
        if (!recurrent_bias.empty()) {
            const std::vector<float> r = columns(recurrent_bias, 1, width, g, units);
            if (apart) put(layer + "recurrent_bias" + gates[g], {units}, r);
            for (std::size_t i = 0; i < b.size() && !apart; ++i) b[i] += r[i];
        }
        put(layer + "bias" + gates[g], {units}, b);
    }
}
SINTER_APART void gate_splitter::pytorch(const std::string& name, const std::string& layer, const std::string& which) {
    const std::vector<std::int64_t> s = f_.tensors.at(name).shape;
    const names& gates = gates_of(s[1] ? s[0] / s[1] : 0, true);
    const auto input = f_.tensors.find(layer + "weight_ih_l" + which);
    if (gates.empty() || s[0] != static_cast<std::int64_t>(gates.size()) * s[1]) return;
    if (input == f_.tensors.end() || input->second.shape.size() != 2 || input->second.shape[0] != s[0]) return;
    const bool back = which.ends_with("_reverse");
    const std::string number = which.substr(0, which.find('_'));
    const bool both = back || f_.tensors.contains(layer + "weight_hh_l" + number + "_reverse") ||
                      f_.tensors.contains(prefix(layer, number) + "backward.recurrent_kernel" + gates[0]);
    const arranged kernel = permuted(take(layer + "weight_ih_l" + which), {1, 0}),
                   recurrent = permuted(take(name), {1, 0});
    const arranged b = take(layer + "bias_ih_l" + which), r = take(layer + "bias_hh_l" + which);
    const bool fit = static_cast<std::int64_t>(b.x.size()) == s[0] && b.x.size() == r.x.size();
    split(prefix(layer, number) + (both ? back ? "backward." : "forward." : ""), gates, s[1], kernel, recurrent,
          fit ? b.x : std::vector<float>{}, fit ? r.x : std::vector<float>{});
}
SINTER_APART std::string gate_splitter::prefix(std::string layer, const std::string& number) {
    if (layer.empty()) layer = "rnn.";
    if (number != "0") layer.insert(layer.size() - 1, "_" + number);
    return layer;
}
SINTER_APART void gate_splitter::keras(const std::string& cell) {
    const std::vector<std::int64_t> s = f_.tensors.at(cell + "/recurrent_kernel").shape;
    const names& gates = gates_of(s[0] ? s[1] / s[0] : 0, false);
    const auto input = f_.tensors.find(cell + "/kernel");
    if (gates.empty() || s[1] != static_cast<std::int64_t>(gates.size()) * s[0]) return;
    if (input == f_.tensors.end() || input->second.shape.size() != 2 || input->second.shape[1] != s[1]) return;
    std::string layer = cell.substr(0, cell.rfind('/') + 1);
    for (const char* way : {"forward", "backward"})   // bidirectional/forward_lstm/
        if (const std::size_t at = layer.find(std::string(way) + '_'); at != layer.npos)
            layer = layer.substr(0, at) + way + '/';
    const arranged kernel = take(cell + "/kernel"), recurrent = take(cell + "/recurrent_kernel"),
                   b = take(cell + "/bias");
    std::vector<float> bias = b.x, second;
    if (b.shape.size() == 2 && b.shape[0] == 2) {   // a GRU that resets after the product: [2, 3 N]
        second.assign(b.x.begin() + static_cast<std::ptrdiff_t>(b.x.size() / 2), b.x.end());
        bias.resize(b.x.size() / 2);
    }
    if (static_cast<std::int64_t>(bias.size()) != s[1]) bias.clear(), second.clear();
    split(layer, gates, s[0], kernel, recurrent, bias, second);
}

} // namespace sinter::training_parts
#endif
