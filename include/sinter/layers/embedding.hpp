// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/gather_rows.hpp>

namespace sinter::inline SINTER_TARGET {

/// embedding<V, E>: indices [...] below V -> [..., E], the rows of the parameter table [V, E]
/// (uniform +-0.05, as Keras). Its gradient is row-sparse: only rows that occur in the batch are
/// updated.
template <int Vocabulary, int Width>
struct embedding_layer : layer<embedding_layer<Vocabulary, Width>> {
    static constexpr const char* name = "embedding";
    static constexpr tensor trace(tensor x) {
        const tensor table = parameter(x, "table", extents(Vocabulary, Width), {init_kind::uniform, 0.05f});
        return gather_rows(table, x);
    }
};
template <int Vocabulary, int Width>
inline constexpr embedding_layer<Vocabulary, Width> embedding{};

} // namespace sinter
