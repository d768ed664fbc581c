// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Where variables are looked up: the process's environment, or a table of a test's own.
struct environment {
    /// The value of a variable; nullopt where it is not set.
    std::function<std::optional<std::string>(const char* name)> lookup = [](const char* name) {
        const char* value = std::getenv(name);
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
    /// Where a line is written about variables that are ignored; stderr: it is a message (base/message.hpp); none:
    /// nowhere.
    std::FILE* notes = stderr;

    /// An empty value counts as not set, as Kubernetes and shells leave them.
    std::optional<std::string> operator()(const char* name) const {
        auto value = lookup(name);
        return value && !value->empty() ? value : std::nullopt;
    }
};

} // namespace sinter::inline SINTER_ORDINARY::wire
