// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/embedding_bag.hpp>

namespace sinter::inline SINTER_TARGET {

/// embedding_bag<V, E, combine::mean, Padding>: bags of indices [..., N] below V -> [..., E], the
/// sum, mean or sqrtn of the rows of the parameter table [V, E] (uniform +-0.05); an index that is
/// Padding counts for nothing. Called with (indices, weights) rows are weighed. PyTorch's
/// EmbeddingBag, TensorFlow's embedding_lookup_sparse.
template <int Vocabulary, int Width, combine How = combine::sum, int Padding = -1>
struct embedding_bag_layer : layer<embedding_bag_layer<Vocabulary, Width, How, Padding>> {
    static constexpr const char* name = "embedding_bag";
    static constexpr tensor trace(tensor x) { return trace(x, {}); }
    static constexpr tensor trace(tensor x, tensor weights) {
        const tensor table = parameter(x, "table", extents(Vocabulary, Width), {init_kind::uniform, 0.05f});
        return ops::embedding_bag(table, x, {.combine = How, .weights = weights, .padding = Padding});
    }
};
template <int Vocabulary, int Width, combine How = combine::sum, int Padding = -1>
inline constexpr embedding_bag_layer<Vocabulary, Width, How, Padding> embedding_bag{};

/// embedding_columns<E, V...>: as many inputs of indices as there are V, column k's below its V ->
/// their rows of width E side by side, [..., E] each. Each column is an input of its own, so that
/// its indices are checked against its own table. Parameters column_0/table [V, E], column_1/table,
/// ... (uniform +-0.05).
template <int Width, int... Vocabularies>
struct embedding_columns_layer : layer_tag {
    static constexpr int columns = sizeof...(Vocabularies);
    static_assert(columns >= 1 && columns <= bundle::most, "embedding_columns: one to six columns");
    static constexpr int arity = columns;
    static constexpr bool gives_one = true;

    template <class... T>
        requires(sizeof...(T) == columns && (std::is_same_v<T, tensor> && ...))
    constexpr tensor operator()(T... x) const {
        constexpr int below[] = {Vocabularies...};
        constexpr const char* names[] = {"column_0", "column_1", "column_2", "column_3", "column_4", "column_5"};
        const tensor in[] = {x...};
        tensor y;
        for (int k = 0; k < columns; ++k) {
            if (!in[k].ok()) return in[k];
            const compiler::scoped s(in[k].g, names[k]);
            const tensor rows =
                gather_rows(parameter(in[k], "table", extents(below[k], Width), {init_kind::uniform, 0.05f}), in[k]);
            y = k ? ops::concat(y, rows, -1) : rows;
        }
        return y;
    }
};
template <int Width, int... Vocabularies>
inline constexpr embedding_columns_layer<Width, Vocabularies...> embedding_columns{};

} // namespace sinter
