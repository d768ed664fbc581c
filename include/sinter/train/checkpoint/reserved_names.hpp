// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/array.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/graph/scope_entry.hpp>
#include <sinter/graph/variable_info.hpp>
#include <string_view>

/// Names of tensors that files keep for themselves, so that no variable may have them.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Does a tensor of this name belong to a run and its hooks (train/checkpoint/run_checkpoint.hpp)?
constexpr bool is_of_a_run(std::string_view name) { return name.starts_with("run/") || name.starts_with("hooks/"); }

/// Does a tensor of this name in a file of save()'s serve resuming alone? No variable of a model
/// may have such a name.
constexpr bool is_for_resuming(std::string_view name) {
    return name == "step" || name.starts_with("optimizer/") || is_of_a_run(name);
}

/// The beginning of a path, known while compiling.
struct path_start {
    char c[12] = {};
    int n = 0;
    constexpr void add(const char* part) {
        if (n && n < 11) c[n++] = '/';
        while (*part && n < 11) c[n++] = *part++;
    }
    constexpr void add_scope(base::view<const facts::scope_entry> scopes, int s) {
        if (s <= 0) return;
        add_scope(scopes, scopes[s].parent);
        add(scopes[s].name);
        if (scopes[s].number && n < 11) c[n++] = '_';   // optimizer_1 is another name, whatever follows
    }
    constexpr std::string_view text() const { return {c, static_cast<std::size_t>(n)}; }
};

/// Whether none of these variables has such a name.
constexpr bool names_are_free(base::view<const variable_info> variables, base::view<const facts::scope_entry> scopes) {
    for (int i = 0; i < variables.n; ++i) {
        path_start path;
        path.add_scope(scopes, variables[i].scope);
        path.add(variables[i].name);
        if (is_for_resuming(path.text())) return false;
    }
    return true;
}

} // namespace sinter::training_parts
namespace sinter::inline SINTER_TARGET {

/// No variable of the trainer's has a name that files keep: `step`, or one under `optimizer/`, `run/` or `hooks/`.
#ifndef __CUDACC__   // nvcc writes what is in braces wrongly: below
template <class Trainer>
constexpr bool names_are_free() {
    constexpr auto& v = Trainer::training::v;
    return training_parts::names_are_free({v.parameters, v.n_parameters}, Trainer::training::scopes) &&
           training_parts::names_are_free({v.states, v.n_states}, Trainer::training::scopes);
}
#endif
} // namespace sinter

#ifdef __CUDACC__
namespace sinter::inline SINTER_TARGET {
template <class Trainer>
constexpr bool names_are_free() {
    using variables = base::view<const variable_info>;
    using program = typename Trainer::training;
    const variables parameters{program::v.parameters, program::v.n_parameters}, states{program::v.states,
                                                                                       program::v.n_states};
    return training_parts::names_are_free(parameters, program::scopes) &&
           training_parts::names_are_free(states, program::scopes);
}
} // namespace sinter
#endif
