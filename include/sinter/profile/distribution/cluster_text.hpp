// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/quoted_text.hpp>
#include <sinter/profile/distribution/cluster_model.hpp>
#include <charconv>
#include <iterator>
#include <span>
#include <vector>

/// A cluster model as text: keys and values, separated by white space or commas; what stands behind
/// # is a comment. It comes from files and environments: whatever is wrong there is a format_error
/// that names the key.
namespace sinter::inline SINTER_TARGET {

namespace profile {

inline constexpr std::size_t longest_cluster_text = 1 << 16;

using base::quoted_text;

struct text_entry {
    std::string_view key, value;
};

/// Cuts a text into its entries, each key once.
inline std::vector<text_entry> entries_of(std::string_view text, std::string_view where) {
    if (text.size() > longest_cluster_text)
        throw format_error("text too long", where, std::to_string(text.size()) + " bytes",
                           "at most " + std::to_string(longest_cluster_text));
    const auto separates = [](char c) { return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r'; };
    std::vector<text_entry> all;
    for (std::size_t i = 0; i < text.size();) {
        if (separates(text[i])) {
            ++i;
        } else if (text[i] == '#') {
            while (i < text.size() && text[i] != '\n') ++i;
        } else {
            const std::size_t from = i;
            while (i < text.size() && !separates(text[i]) && text[i] != '#') ++i;
            const std::string_view entry = text.substr(from, i - from);
            const std::size_t equals = entry.find('=');
            if (equals == std::string_view::npos || equals == 0 || equals + 1 == entry.size())
                throw format_error("entry without key or value", where, quoted_text(entry), "key=value");
            const text_entry e{entry.substr(0, equals), entry.substr(equals + 1)};
            for (const text_entry& other : all)
                if (other.key == e.key)
                    throw format_error("key given twice", where, quoted_text(e.key), "each key once");
            all.push_back(e);
        }
    }
    return all;
}

struct unit {
    std::string_view name;
    double factor;
};
inline constexpr unit plain_units[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};
inline constexpr unit flop_units[] = {{"", 1},        {"k", 1e3},      {"M", 1e6},      {"G", 1e9},
                                      {"T", 1e12},    {"P", 1e15},     {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9},
                                      {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};
inline constexpr unit rate_units[] = {{"", 1},           {"B/s", 1},        {"kB/s", 1e3},       {"MB/s", 1e6},
                                      {"GB/s", 1e9},     {"TB/s", 1e12},    {"kbit/s", 1e3 / 8}, {"Mbit/s", 1e6 / 8},
                                      {"Gbit/s", 1e9 / 8}, {"Tbit/s", 1e12 / 8}};
inline constexpr unit time_units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
inline constexpr unit size_units[] = {{"", 1},     {"B", 1},          {"kB", 1e3},       {"MB", 1e6},      {"GB", 1e9},
                                      {"TB", 1e12}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

/// "2.5Gbit/s": a number, and one of the units behind it; "infinite" without any.
inline double quantity(const text_entry& e, std::span<const unit> units, std::string_view where) {
    if (e.value == "infinite") return std::numeric_limits<double>::infinity();
    double x = 0;
    const char* const end = e.value.data() + e.value.size();
    const auto [rest, code] = std::from_chars(e.value.data(), end, x);
    const bool number = code == std::errc{} && x - x == 0;
    for (const unit& u : units)
        if (number && u.name == std::string_view(rest, static_cast<std::size_t>(end - rest))) return x * u.factor;
    std::string names;
    for (const unit& u : units)
        if (!u.name.empty()) names += (names.empty() ? "" : ", ") + std::string(u.name);
    throw format_error("value that is no such quantity", std::string(where) + ", " + std::string(e.key),
                       quoted_text(e.value), "a number, alone or with one of " + names);
}
inline std::int64_t whole(const text_entry& e, std::string_view where) {
    std::int64_t x = 0;
    const char* const end = e.value.data() + e.value.size();
    const auto [rest, code] = std::from_chars(e.value.data(), end, x);
    if (code == std::errc{} && rest == end && x >= 0 && x <= std::numeric_limits<int>::max()) return x;
    throw format_error("value that is no count", std::string(where) + ", " + std::string(e.key), quoted_text(e.value),
                       "a whole number from 0 to 2147483647");
}
/// The number of `value` among the names of an enumeration's first n values.
template <class Enum>
Enum one_of(const text_entry& e, std::string_view value, int n, std::string_view where) {
    std::string names;
    for (int i = 0; i < n; ++i) {
        if (name_of(Enum(i)) == value) return Enum(i);
        names += (i ? ", " : "") + std::string(name_of(Enum(i)));
    }
    throw format_error("unknown name", std::string(where) + ", " + std::string(e.key), quoted_text(value), names);
}

/// Puts one entry into a model; false: there is no such key.
inline bool put(cluster_model& c, const text_entry& e, std::string_view where) {
    struct count_key { std::string_view name; int cluster_model::*field; };
    struct number_key { std::string_view name; double cluster_model::*field; std::span<const unit> units; };
    struct switch_key { std::string_view name; bool cluster_model::*field; };
    using m = cluster_model;
    static constexpr count_key counts[] = {{"workers", &m::workers}, {"workers_per_node", &m::workers_per_node},
        {"servers", &m::servers}, {"samples", &m::samples}, {"batch", &m::batch}};
    static constexpr number_key numbers[] = {{"flops", &m::flops, flop_units},
        {"memory_bandwidth", &m::memory_bandwidth, rate_units}, {"launch_seconds", &m::launch_seconds, time_units},
        {"step_seconds", &m::step_seconds, time_units}, {"bandwidth", &m::bandwidth, rate_units},
        {"latency", &m::latency, time_units}, {"node_bandwidth", &m::node_bandwidth, rate_units},
        {"node_latency", &m::node_latency, time_units}, {"sum_bandwidth", &m::sum_bandwidth, rate_units},
        {"bucket_bytes", &m::bucket_bytes, size_units}, {"memory", &m::memory, size_units},
        {"critical_batch", &m::critical_batch, plain_units}, {"least_gain", &m::least_gain, plain_units}};
    static constexpr switch_key switches[] = {{"overlap", &m::overlap}, {"sharded_update", &m::sharded_update}};
    for (const count_key& k : counts)
        if (k.name == e.key) return c.*k.field = static_cast<int>(whole(e, where)), true;
    for (const number_key& k : numbers)
        if (k.name == e.key) return c.*k.field = quantity(e, k.units, where), true;
    for (const switch_key& k : switches)
        if (k.name == e.key) {
            if (e.value != "yes" && e.value != "no")
                throw format_error("value that is no choice", std::string(where) + ", " + std::string(e.key),
                                   quoted_text(e.value), "yes or no");
            return c.*k.field = e.value == "yes", true;
        }
    if (e.key == "seed") return c.seed = static_cast<std::uint64_t>(whole(e, where)), true;
    if (e.key == "algorithm") return c.algorithm = one_of<reduction_algorithm>(e, e.value, 4, where), true;
    if (e.key != "straggler") return false;
    const std::size_t colon = e.value.find(':');
    c.delay.kind = one_of<straggler_kind>(e, e.value.substr(0, colon), 5, where);
    const bool wants = c.delay.kind != straggler_kind::none, has = colon != std::string_view::npos;
    if (wants != has)
        throw format_error("straggler without its amount, or none with one", std::string(where) + ", straggler",
                           quoted_text(e.value), "none, or a name and a number as in lognormal:0.05");
    c.delay.amount = has ? quantity({e.key, e.value.substr(colon + 1)}, plain_units, where) : 0;
    return true;
}

inline void refuse_key(const text_entry& e, std::string_view where) {
    throw format_error("unknown key", where, quoted_text(e.key),
                       "workers, workers_per_node, servers, algorithm, flops, bandwidth, latency or another that "
                       "doc/planning.md lists");
}

} // namespace profile

inline cluster_model cluster_model::parse(std::string_view text) {
    cluster_model c;
    for (const profile::text_entry& e : profile::entries_of(text, "cluster model"))
        if (!profile::put(c, e, "cluster model")) profile::refuse_key(e, "cluster model");
    c.check();
    return c;
}

} // namespace sinter
