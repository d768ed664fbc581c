// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/base/error.hpp>
#include <sinter/base/number_text.hpp>

/// Command lines of the benchmarks: `--name value`, and `--help`. A value that cannot be used is an
/// error, never a zero.
namespace sinter::bench {

/// All of `text` as a number within [low, high]; else throws option_error.
template <class T>
T number(const std::string& option, std::string_view text, T low, T high) {
    T x{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), x);
    if (code != std::errc{} || end != text.data() + text.size() || !(x >= low && x <= high))
        throw option_error("value that cannot be used", option, std::string(text),
                           base::number_text(low) + " to " + base::number_text(high));
    return x;
}

/// "a,b" is {"a", "b"}.
inline std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        all.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return all;
}

/// Hands each option to `take(name, value)`, which returns false where it does not know it, then
/// calls run(). Returns main's exit status: 2 where an option is wrong.
template <class Take, class Run>
int with_options(int argc, char** argv, const char* help, Take take, Run run) {
    try {
        for (int i = 1; i < argc; ++i) {
            const std::string name = argv[i];
            if (name == "--help") {
                std::puts(help);
                return 0;
            }
            if (i + 1 == argc) throw option_error("option without a value", name, "nothing", "a value");
            if (!take(name, std::string(argv[++i])))
                throw option_error("unknown option", name, name, "one of those that --help lists");
        }
        return run();
    } catch (const error& e) {
        std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
        return 2;
    }
}

} // namespace sinter::bench
