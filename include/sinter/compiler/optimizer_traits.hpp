// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/parameter_path.hpp>
#include <sinter/graph/leaves.hpp>

/// What a program asks of an optimizer beside its update. One that stands around another names it
/// `inner`, and answers for it unless it says something itself.
namespace sinter::inline SINTER_TARGET::compiler {

/// How many kinds of update there are.
template <class O>
constexpr int groups_of() {
    if constexpr (requires { O::groups; }) return O::groups;
    else if constexpr (requires { typename O::inner; }) return groups_of<typename O::inner>();
    else return 1;
}
/// Does this program train the parameters of a group? (Losses that alternate each have their own.)
template <class O>
constexpr bool trains_group(int group) {
    if constexpr (requires { O::trains(group); }) return O::trains(group);
    else return true;
}
/// Are parameters put into groups by their paths?
template <class O>
constexpr bool has_patterns() {
    if constexpr (requires { O::patterns; }) return true;
    else if constexpr (requires { typename O::inner; }) return has_patterns<typename O::inner>();
    else return false;
}
/// The patterns that do so: an array of group_pattern with one more behind the last.
template <class O>
constexpr auto& patterns_of() {
    if constexpr (requires { O::patterns; }) return O::patterns;
    else return patterns_of<typename O::inner>();
}
/// The same for a trace, if layers may be frozen by them; else none.
template <class O>
constexpr view<const group_pattern> freezing_patterns() {
    if constexpr (has_patterns<O>()) {
        constexpr auto& all = patterns_of<O>();
        constexpr int n = static_cast<int>(sizeof(all) / sizeof(group_pattern)) - 1;   // one more behind the last
        for (int k = 0; k < n; ++k)
            if (all[k].infers) return {all, n};
    }
    return {};
}
/// Steps from one update to the next.
template <class O>
constexpr int batches_of() {
    if constexpr (requires { O::batches; }) return O::batches;
    else return 1;
}
/// Where there are several: the scalar that is 0 in the first of them, else -1.
template <class O>
constexpr int scalar_of_rounds() {
    if constexpr (batches_of<O>() > 1) return O::n_scalars - 1;
    else return -1;   // a predictor has no optimizer at all
}
/// The slot that holds an average of the parameter, or -1.
template <class O>
constexpr int average_slot_of() {
    if constexpr (requires { O::average_slot; }) return O::average_slot;
    else if constexpr (requires { typename O::inner; }) return average_slot_of<typename O::inner>();
    else return -1;
}
/// Is slot k a copy of the parameter's values, or an average of them, which begins as the parameter
/// does and begins anew where that is written? Beside the average, those of which an optimizer says
/// so by a `copies_parameter(k)` of its own.
template <class O>
constexpr bool copies_parameter(int group, int k) {
    if constexpr (requires { O::average_slot; })
        if (k == O::average_slot) return true;
    if constexpr (requires { O::copies_parameter(group, k); }) {
        return O::copies_parameter(group, k);
    } else {
        if constexpr (requires { O::copies_parameter(k); })
            if (O::copies_parameter(k)) return true;
        if constexpr (requires { typename O::inner; })
            return k < O::inner::slots && copies_parameter<typename O::inner>(group, k);
        else return false;
    }
}
/// Does any slot of a group?
template <class O>
constexpr bool copies_parameters() {
    for (int g = 0; g < groups_of<O>(); ++g)
        for (int k = 0; k < O::slots; ++k)
            if (copies_parameter<O>(g, k)) return true;
    return false;
}
/// What slot k is filled with before the first step.
template <class O>
constexpr float first_of_slot(const O& o, int group, int k) {
    if constexpr (requires { o.first_of_slot(group, k); }) return o.first_of_slot(group, k);
    else if constexpr (requires { o.first_of_slot(k); }) return k < O::slots ? o.first_of_slot(k) : 0.f;
    else if constexpr (requires { typename O::inner; }) return first_of_slot(o.optimizer, group, k);
    else return 0.f;
}
/// Does any slot begin with something else than zeros?
template <class O>
constexpr bool has_first_of_slot() {
    if constexpr (requires { O::groups; }) return true;
    else if constexpr (requires(const O& o) { o.first_of_slot(0); }) return true;
    else if constexpr (requires(const O& o) { o.first_of_slot(0, 0); }) return true;
    else if constexpr (requires { typename O::inner; }) return has_first_of_slot<typename O::inner>();
    else return false;
}

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET::detail {
template <class O>
constexpr void match_patterns(graph& g) {
    constexpr int n =
        static_cast<int>(sizeof(O::patterns) / sizeof(O::patterns[0])) - 1;   // one more, for there may be none
    bool used[std::size_t{n + 1}] = {};
    for (int i = 0; i < g.parameters.n; ++i) {
        variable& v = g.parameters[i];
        const path_text path(g, v);
        bool chosen = v.group == frozen_group;   // it said so itself
        for (int k = 0; k < n; ++k) {
            if (!matches(O::patterns[k].pattern, path.c)) continue;
            used[k] = true;
            if (!chosen) v.group = O::patterns[k].group;
            chosen = true;
        }
        if constexpr (requires { O::every_parameter_matches; })
            if (!chosen && g.err.what == fault_kind::none) {
                g.scope = v.scope;
                g.fail(fault_kind::trained_in_no_phase, op::parameter, g.n[v.id].s, g.n[v.id].s);
            }
    }
    for (int k = 0; k < n; ++k)
        if (!used[k] && !(k < 64 && g.matched_by_layers >> k & 1u)) fail_unmatched(g, O::patterns[k].pattern);
}
} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

/// Puts each parameter into its group: that of the first pattern which its path matches, or 0.
template <class O>
constexpr void choose_groups(graph& g) {
    if constexpr (requires { O::patterns; }) detail::match_patterns<O>(g);
    else if constexpr (requires { typename O::inner; }) choose_groups<typename O::inner>(g);
}

} // namespace sinter::compiler
