// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/decimal.hpp>
#include <sinter/train/checkpoint/variables.hpp>
#include <cstdio>
#include <string>
#include <string_view>

/// Words for shapes, numbers and types: what describe(), the Graphviz and the HTML writers share.
namespace sinter::inline SINTER_TARGET::profile {

inline std::string text_of(const shape& s) {
    std::string t = s.batched ? "[B" : "[";
    for (int i = 0; i < s.rank; ++i) t += (t.size() > 1 ? ", " : "") + std::to_string(s.d[i]);
    return t + "]";
}
/// 1234567 as "1.23 M": three digits, or all of them below a thousand.
inline std::string short_number(double x) {
    const char* const unit[] = {"", " k", " M", " G", " T"};
    int u = 0;
    while (x >= 999.5 && u < 4) x /= 1000, ++u;   // what would be rounded to a thousand is one of the next unit
    return (u && x < 999.5 ? general_text(x, 3) : fixed_text(x, 0)) + unit[u];
}
/// "3.2 MB": bytes as short_number gives them.
inline std::string bytes_text(std::int64_t n) {
    const std::string s = short_number(static_cast<double>(n));
    return s + (s.find(' ') == std::string::npos ? " B" : "B");
}
inline std::string scope_path(view<const scope_entry> scopes, int scope) {
    variable_info nameless;
    nameless.scope = scope;
    std::string path = path_of(scopes, nameless);
    if (!path.empty() && path.back() == '/') path.pop_back();
    return path;
}

/// What a layer without a name of its own is called: its type's name without namespaces, template
/// arguments and the endings that types bear here; or "lambda".
template <class L>
std::string short_type_name() {
    std::string_view s = __PRETTY_FUNCTION__;   // "... [with L = sinter::activation::relu_layer; ...]", "... [L = ...]"
    s.remove_prefix(s.find("L = ") + 4);
    s = s.substr(0, s.find_first_of("<;]"));
    if (s.find("lambda") != std::string_view::npos) return "lambda";   // clang: (lambda at FILE:LINE:COLUMN)
    if (const std::size_t at = s.rfind("::"); at != std::string_view::npos) s.remove_prefix(at + 2);
    for (const std::string_view end : {"_of", "_layer", "_op", "_loss"})
        if (s.size() > end.size() && s.substr(s.size() - end.size()) == end) s.remove_suffix(end.size());
    return s.empty() ? "lambda" : std::string(s);   // g++: main()::<lambda(tensor)>
}

} // namespace sinter::profile
