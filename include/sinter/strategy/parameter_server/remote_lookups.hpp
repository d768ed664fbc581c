// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/program.hpp>
#include <sinter/base/hashed_options.hpp>

namespace sinter::inline SINTER_TARGET {

namespace strategy_parts {
/// A table of which a program holds the rows of one batch alone: compiler/passes/remote_tables.hpp.
struct remote_table {
    int parameter = -1;            ///< its number among the program's
    std::int64_t rows = 0;         ///< of the whole table; -1: as many as there are keys (hashed)
    int width = 0;                 ///< floats of a row
    int most_rows = 0;             ///< of the compact copy: no batch names more
    compiler::address at, gradient;   ///< of the compact copy; its gradient where that is stored whole
    int bucket = -1;               ///< that its gradient is in
    bool hashed = false;
    hashed_options options{};   ///< of a hashed table
};
/// Where the integers of a lookup come from.
enum class lookup_source : std::uint8_t { input, target, drawn };
/// A lookup in a remote table: an input port of the program that the session fills.
struct remote_lookup {
    int table = 0;                 ///< among the remote tables
    lookup_source source = lookup_source::input;
    int number = 0;                ///< of the input, target or drawn numbers that name the rows
    int port = 0;                  ///< the input that is to have their places in the compact copy
    int width = 1;                 ///< lookups an example
    int words = 1;                 ///< whole numbers that one lookup has there: 2 are the halves of a key
    bool batched = true;           ///< false: all examples share them
};
} // namespace strategy_parts

namespace compiler {
template <class P>
struct remote_tables_type {
    static constexpr int most = P::v.n_parameters;
    strategy_parts::remote_table at[std::size_t{most + 1}] = {};
    int n = 0;
    int of_parameter[std::size_t{most + 1}] = {};   ///< of each parameter its table's number, or -1
};
template <class P>
constexpr remote_tables_type<P> find_remote_tables() {
    remote_tables_type<P> t;
    for (int i = 0; i < P::v.n_parameters; ++i) {
        const variable_info& v = P::v.parameters[i];
        t.of_parameter[i] = -1;
        const node& n = P::graph.n[P::graph.parameters[i].id];
        const int rows = n.p[variable_attribute::remote_rows];
        if (!rows) continue;
        t.of_parameter[i] = t.n;
        strategy_parts::remote_table& r = t.at[t.n++];
        r = {i, rows, n.s.last(), n.s.d[0], v.at, v.gradient, v.bucket};
        if (!(r.hashed = rows < 0)) continue;
        const int* const o = n.p;
        r.options = {o[variable_attribute::most_rows], o[variable_attribute::admit_after],
                     o[variable_attribute::expire_after], static_cast<when_full>(o[variable_attribute::full])};
    }
    return t;
}
/// P's remote tables, in the order of its parameters.
template <class P>
inline constexpr remote_tables_type<P> remote_tables_of = find_remote_tables<P>();

template <class P>
struct remote_lookups_type {
    strategy_parts::remote_lookup at[std::size_t{P::v.n_inputs + 1}] = {};
    int n = 0;
    bool of_targets = false;
    int drawn = 0;   ///< inputs that stand for numbers that are drawn: behind the lookups' ports
};
template <class P>
constexpr remote_lookups_type<P> find_remote_lookups() {
    remote_lookups_type<P> l;
    for (int i = 0; i < P::v.n_inputs; ++i) {
        const node& n = P::graph.n[P::graph.inputs[i]];
        const int table = n.p[input_attribute::table] - 1, from = n.p[input_attribute::names_from];
        l.drawn += from < 0;
        if (table < 0) continue;
        const bool target = from >= P::v.n_inputs;
        const bool drawn = !target && P::graph.n[P::graph.inputs[from]].p[input_attribute::names_from] < 0;
        l.of_targets = l.of_targets || target;
        const int t = remote_tables_of<P>.of_parameter[table];
        using source = strategy_parts::lookup_source;
        l.at[l.n++] = {t, target ? source::target : drawn ? source::drawn : source::input,
                       target ? from - P::v.n_inputs : from, i, n.s.size(), remote_tables_of<P>.at[t].hashed ? 2 : 1,
                       n.s.batched};
    }
    for (int i = 0; i < l.n; ++i)   // drawn numbers are the last of the inputs
        if (l.at[i].source == strategy_parts::lookup_source::drawn) l.at[i].number -= P::v.n_inputs - l.drawn;
    return l;
}
/// P's lookups in remote tables, which are the last of its inputs but for drawn numbers.
template <class P>
inline constexpr remote_lookups_type<P> remote_lookups_of = find_remote_lookups<P>();
} // namespace compiler

} // namespace sinter
