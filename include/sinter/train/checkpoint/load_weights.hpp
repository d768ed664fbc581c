// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/import/convert.hpp>
#include <sinter/train/checkpoint/import/find_variable.hpp>
#include <sinter/train/checkpoint/import/gates.hpp>
#include <sinter/train/checkpoint/import/read_tensors.hpp>
#include <sinter/train/checkpoint/reserved_names.hpp>
#include <sinter/train/checkpoint/variables.hpp>

#include <map>

/// Weights from elsewhere as initial weights. What save() wrote is for load()
/// (train/checkpoint/checkpoint.hpp).
///
///     model.load_weights("lenet.npz", {.from = framework::keras});
///     model.load_weights("lenet.safetensors",
///                        {.from = framework::pytorch,
///                         .rules = {{"conv1.*", "conv2d/*"}, {"fc1.*", "dense/*", {}, {64, 7, 7}}}});
namespace sinter::inline SINTER_TARGET {

namespace detail {

/// One tensor for one variable, converted; or what is wrong with it.
struct imported {
    std::vector<float> x;
    std::string fault;
};

inline imported import_tensor(const safetensors::tensor_view& t, const found_variable& f, bool output_first,
                              const char* leaf, const std::vector<std::int64_t>& needed) {
    const std::string is = safetensors::describe(t.type, t.shape);
    if (!is_floating(t.type)) return {{}, "type: got " + is + ", needed F32, F64, F16 or BF16"};
    arranged a{t.shape, floats_of(t)};
    const bool kernel = same_name(leaf, "kernel") && t.shape.size() >= 2;
    const name_rule none, &rule = f.rule ? *f.rule : none;
    if (!rule.axes.empty()) {
        if (!is_order_of(rule.axes, a.shape.size()))
            return {{},
                    "axes: got " + is + ", and a rule whose axes are not an order of its " +
                        std::to_string(a.shape.size())};
        a = permuted(a, rule.axes);
    } else if (kernel && output_first) {
        a = output_last(a);
    }
    const auto shape_line = [&](const std::string& wanted) {
        const std::string here = a.shape == t.shape ? "" : ", which is " + io::extents_text(a.shape) + " here";
        return "shape: got " + is + here + ", needed " + wanted;
    };
    if (a.shape != needed) return {{}, shape_line(io::extents_text(needed))};
    if (kernel && !rule.flattened.empty()) {
        if (io::checked_product(rule.flattened) != static_cast<std::uint64_t>(a.shape[0]) || a.shape.size() != 2)
            return {{}, shape_line("rows flattened from " + io::extents_text(rule.flattened))};
        a = rows_channels_last(a, rule.flattened);
    }
    return {std::move(a.x), ""};
}

} // namespace detail

/// Reads parameters and states from a safetensors, .npz or .npy file: each tensor of the file must
/// be one of the model's, by `map`, and each of the model's must be there, unless the map ignores
/// or keeps it. The optimizer's memory, the step and where carried sequences have come to are left
/// alone. Throws io_error and format_error as read_tensors() does, option_error for a rule that makes no sense, and
/// mismatch_error that lists every tensor which does not fit, with both names and extents; the
/// model is then as it was.
template <class Trainer>
void load_weights(Trainer& t, const std::string& path, const name_map& map) {
    tensor_file file = read_tensors(path);
    const detail::gate_splitter gates(file, map.from);
    struct place {
        const variable_info* v;
        const safetensors::tensor_view* from = nullptr;
        std::vector<float> x{};
    };
    std::map<std::string, place, std::less<>> places;
    for (int i = 0; i < t.parameters(); ++i) places[t.path(t.parameter(i))] = {&t.parameter(i)};
    for (int i = 0; i < t.states(); ++i) places[t.path(t.state(i))] = {&t.state(i)};

    std::vector<std::string> lines;
    for (const auto& [name, tensor] : file.tensors) {
        if (detail::matches_any(map.ignore, name)) continue;
        const auto exists = [&](const std::string& p) { return places.contains(p); };
        const detail::found_variable f = detail::find_variable(name, map, exists);
        const std::string both = io::printable(name) + " -> " + io::printable(f.path);
        if (!f.exists) {
            if (f.ignored || (map.from == framework::sinter && f.rule == nullptr && detail::is_for_resuming(name)))
                continue;   // a whole file of ours has more than weights
            lines.push_back(both + ": unexpected, got " + safetensors::describe(tensor.type, tensor.shape));
            continue;
        }
        place& p = places.find(f.path)->second;
        if (p.v->of_examples) continue;   // where sequences have come to is no weight: it is left alone
        if (p.from != nullptr) {
            lines.push_back(both + ": given twice, also by " + io::printable(p.from->name));
            continue;
        }
        p.from = &tensor;
        const bool output_first = detail::convention_of(map.from).kernels_output_first && !gates.made(name);
        detail::imported y = detail::import_tensor(tensor, f, output_first, p.v->name, compiler::extents_of(p.v->s));
        if (!y.fault.empty()) lines.push_back(both + ": " + y.fault);
        p.x = std::move(y.x);
    }
    for (const auto& [name, p] : places)
        if (p.from == nullptr && !p.v->of_examples && !detail::matches_any(map.keep, name))
            lines.push_back("(nothing) -> " + io::printable(name) + ": missing, needed " +
                            safetensors::describe(safetensors::dtype::f32, compiler::extents_of(p.v->s)));
    if (!lines.empty()) {
        std::string list = "tensors do not fit the program, " + std::to_string(lines.size()) +
                           (lines.size() == 1 ? " difference:" : " differences:");
        for (const std::string& line : lines) (list += "\n  ") += line;
        throw mismatch_error(std::move(list), path);
    }
    if constexpr (requires { typename Trainer::packed_values; }) {
        // all of them, before the first is put into its place
        std::vector<typename Trainer::packed_values> ready;
        for (const auto& [name, p] : places)
            if (p.from != nullptr) ready.push_back(t.packed(*p.v, p.x.data()));
        t.put(ready);
    } else {
        for (const auto& [name, p] : places)
            if (p.from != nullptr) t.set_plain(*p.v, p.x.data());
    }
}

} // namespace sinter
