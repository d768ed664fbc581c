// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::test {

/// Every tag closed in its order, attributes quoted, no raw < or & in text; empty when all is well, else what is not.
inline std::string what_is_malformed(std::string_view s) {
    std::vector<std::string> open;
    for (std::size_t i = 0; i < s.size(); ++i) {
        if (s[i] == '&') {
            const std::size_t end = s.find(';', i);
            const std::string_view name = s.substr(i + 1, end - i - 1);
            if (name != "amp" && name != "lt" && name != "gt" && name != "quot")
                return "a lone & at " + std::to_string(i);
        }
        if (s[i] == '>') return "a lone > at " + std::to_string(i);
        if (s[i] != '<') continue;
        if (s.substr(i, 2) == "<!") {
            i = s.find('>', i);
            continue;
        }
        const bool closing = s[i + 1] == '/';
        std::size_t j = i + 1 + closing;
        std::string name;
        while (std::isalnum(static_cast<unsigned char>(s[j]))) name += s[j++];
        if (name.empty()) return "no tag at " + std::to_string(i);
        bool quoted = false;
        for (; j < s.size() && (quoted || s[j] != '>'); ++j) {
            if (s[j] == '"') quoted = !quoted;
            if (s[j] == '<') return "a < within " + name;
        }
        if (j == s.size()) return name + " never ends";
        const bool empty = s[j - 1] == '/' || name == "meta";
        if (closing) {
            if (open.empty() || open.back() != name)
                return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
            open.pop_back();
        } else if (!empty) {
            open.push_back(name);
            // their text is not ours to parse
            if (name == "style" || name == "script") j = s.find("</" + name, j) - 1;
        }
        i = j;
    }
    return open.empty() ? "" : open.back() + " is not closed";
}
inline int times(std::string_view text, std::string_view what) {
    int n = 0;
    for (std::size_t i = text.find(what); i != std::string_view::npos; i = text.find(what, i + 1)) ++n;
    return n;
}

} // namespace sinter::test
