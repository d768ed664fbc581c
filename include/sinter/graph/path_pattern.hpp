// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/variable_info.hpp>
#include <sinter/base/target_namespace.hpp>

/// Patterns for paths: how users speak of layers and of the parameters that these made.
namespace sinter::inline SINTER_TARGET::compiler {

/// Does the whole of `text` match? `*` stands for any characters, `/` among them, or none.
constexpr bool matches(const char* pattern, const char* text) {
    const char *star = nullptr, *from = nullptr;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern == *text) {
            ++pattern, ++text;
        } else if (star) {
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') ++pattern;
    return !*pattern;
}

/// Parameters whose path matches `pattern` are in `group`: a number, or frozen_group.
struct group_pattern {
    const char* pattern;
    int group;
    bool infers = false;   ///< layers that are frozen by it run as in inference, in training, too
};
using facts::frozen_group;

} // namespace sinter::compiler
