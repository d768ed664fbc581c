// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstddef>
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_TARGET::compiler {

/// A string literal as a template argument: `named<"logits">(...)`, `einsum<"ij,jk->ik">(...)`. N
/// counts the final zero.
template <std::size_t N>
struct text {
    char c[N];
    constexpr text(const char (&s)[N]) {
        for (std::size_t i = 0; i < N; ++i) c[i] = s[i];
    }
};

} // namespace sinter::compiler
