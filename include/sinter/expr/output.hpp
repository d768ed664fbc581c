// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/graph/text.hpp>

namespace sinter::inline SINTER_TARGET {

/// `output<"score">`: the tensor is the net's output of this name, for whoever asks for results by
/// name: predict, output and metrics, files of predictions, ONNX. It is the last thing that happens
/// to the tensor:
///
///     constexpr auto one = features<4> >> dense<3> >> output<"score">;
///     constexpr auto two = features<4> >> [](tensor x) {
///         return outputs(output<"price">(dense<1>(x)), output<"kind">(dense<3>(x)));
///     };
///
/// Changes nothing else: parameters keep their paths, which `named<...>` chooses. Outputs without a
/// name are found by their number, as all are. A fault where two outputs, or an output and an
/// input, have one name, or where the net does not give the tensor.
template <compiler::text T>
struct output_layer : plain_layer<output_layer<T>> {
    static_assert(sizeof(T.c) > 1, "output: the name is empty");
    static constexpr tensor trace(tensor x) {
        x.g->named.push({x.id, T.c, x.g->scope});
        return x;
    }
};
template <compiler::text T>
inline constexpr output_layer<T> output{};

} // namespace sinter
