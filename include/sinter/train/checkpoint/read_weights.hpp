// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/train/checkpoint/import/name_map.hpp>
#include <sinter/train/trainer_state.hpp>
#include <string>
#include <vector>

/// What load_weights() does (train/checkpoint/load_weights.hpp), for a trainer of any type.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// A variable's values in its plain form, as a file has them.
struct variable_of_file {
    const variable_info* v;
    std::vector<float> x;
};
/// What load_weights() reads, in the order of the variables' paths. Throws what it throws.
SINTER_APART SINTER_COLD std::vector<variable_of_file> read_weights(const trainer_facts& facts,
                                                                    const std::string& path, const name_map& map);
SINTER_APART SINTER_COLD void load_weights(trainer_state& t, const std::string& path, const name_map& map);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/io/extents.hpp>
#include <sinter/io/printable.hpp>
#include <sinter/train/checkpoint/import/convert.hpp>
#include <sinter/train/checkpoint/import/find_variable.hpp>
#include <sinter/train/checkpoint/import/gates.hpp>
#include <sinter/train/checkpoint/import/read_tensors.hpp>
#include <sinter/train/checkpoint/reserved_names.hpp>
#include <map>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// One tensor for one variable, converted; or what is wrong with it.
struct imported {
    std::vector<float> x;
    std::string fault;
};
SINTER_COLD inline imported import_tensor(const safetensors::tensor_view& t, const found_variable& f,
                                          bool output_first, const char* leaf,
                                          const std::vector<std::int64_t>& needed) {
    const std::string is = safetensors::describe(t.type, t.shape);
    if (!is_floating(t.type)) return {{}, "type: got " + is + ", needed F32, F64, F16 or BF16"};
    arranged a{t.shape, floats_of(t)};
    const bool kernel = std::string_view(leaf) == "kernel" && t.shape.size() >= 2;
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

SINTER_APART std::vector<variable_of_file> read_weights(const trainer_facts& facts, const std::string& path,
                                                        const name_map& map) {
    tensor_file file = read_tensors(path);
    const gate_splitter gates(file, map.from);
    struct place {
        const variable_info* v;
        const safetensors::tensor_view* from = nullptr;
        std::vector<float> x{};
    };
    std::map<std::string, place, std::less<>> places;
    facts.each([&](const variable_info& v) { places[facts.path(v)] = {&v}; });

    std::vector<std::string> lines;
    for (const auto& [name, tensor] : file.tensors) {
        if (matches_any(map.ignore, name)) continue;
        const auto exists = [&](const std::string& p) { return places.contains(p); };
        const found_variable f = find_variable(name, map, exists);
        const std::string both = io::printable(name) + " -> " + io::printable(f.path);
        if (!f.exists) {
            if (f.ignored || (map.from == framework::sinter && f.rule == nullptr && is_for_resuming(name)))
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
        const bool output_first = convention_of(map.from).kernels_output_first && !gates.made(name);
        imported y = import_tensor(tensor, f, output_first, p.v->name, facts::extents_of(p.v->s));
        if (!y.fault.empty()) lines.push_back(both + ": " + y.fault);
        p.x = std::move(y.x);
    }
    for (const auto& [name, p] : places)
        if (p.from == nullptr && !p.v->of_examples && !matches_any(map.keep, name))
            lines.push_back("(nothing) -> " + io::printable(name) + ": missing, needed " +
                            safetensors::describe(safetensors::dtype::f32, facts::extents_of(p.v->s)));
    if (!lines.empty()) {
        std::string list = "tensors do not fit the program, " + std::to_string(lines.size()) +
                           (lines.size() == 1 ? " difference:" : " differences:");
        for (const std::string& line : lines) (list += "\n  ") += line;
        throw mismatch_error(std::move(list), path);
    }
    std::vector<variable_of_file> all;
    for (auto& [name, p] : places)
        if (p.from != nullptr) all.push_back({p.v, std::move(p.x)});
    return all;
}
SINTER_APART void load_weights(trainer_state& t, const std::string& path, const name_map& map) {
    std::vector<packed_values> ready;   // all of them, before the first is put into its place
    for (const variable_of_file& w : read_weights(t.facts, path, map)) ready.push_back(t.packed(*w.v, w.x.data()));
    t.put(ready);
}

} // namespace sinter::training_parts
#endif
