// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/train/trainer_state.hpp>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

enum class saved { whole, weights };   ///< all that resuming needs, or only what prediction needs

} // namespace sinter
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// A table of 64-bit keys (train/checkpoint/hashed_tables.hpp).
constexpr bool is_hashed_table(const variable_info& v) { return v.remote && v.s.d[0] == 0; }
constexpr bool has_hashed_tables(const trainer_facts& facts) {
    for (int i = 0; i < facts.parameters.n; ++i)
        if (is_hashed_table(facts.parameters[i])) return true;
    return false;
}

/// A tensor of a file, and whose it is.
struct saved_variable {
    std::string name;
    const variable_info* v;
    int slot;   ///< -1: the variable itself
};
/// All that save() writes of parameters, states and slots, but for tables of 64-bit keys.
SINTER_SELDOM SINTER_COLD std::vector<saved_variable> saved_variables(const trainer_facts& facts, saved what);
/// What slot `k` of the parameter at this path is called.
SINTER_SELDOM SINTER_COLD std::string slot_name(const std::string& path, int k);
/// The tensor of the steps that each loss has done, where losses alternate.
inline constexpr const char* phase_steps_name = "optimizer/steps";

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/to_text.hpp>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_SELDOM_BODY std::string slot_name(const std::string& path, int k) {
    return to_text({"optimizer/", k, "/", path});
}
SINTER_SELDOM_BODY std::vector<saved_variable> saved_variables(const trainer_facts& facts, saved what) {
    std::vector<saved_variable> all;
    const auto add = [&](const variable_info& v, int slot) {
        if (is_hashed_table(v)) return;
        const std::string path = facts.path(v);
        all.push_back({slot < 0 ? path : slot_name(path, slot), &v, slot});
    };
    facts.each([&](const variable_info& v) { add(v, -1); });
    if (what == saved::whole)
        for (int s = 0; s < facts.slots; ++s)
            for (const variable_info& v : facts.parameters)
                if (s < facts.slots_of(v)) add(v, s);
    return all;
}

} // namespace sinter::training_parts
#endif
