// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/matmul.hpp>

namespace sinter::inline SINTER_TARGET {

/// candidate_scores<V>: the last layer of a net of very many classes, trained with sampled_softmax
/// or nce. It owns a vector and a bias for each class, [V, E] and [V, 1]. Elsewhere it gives all
/// scores, [..., E] to [..., V]; in training it lets its input through, and the loss scores the
/// label and a few candidates alone.
template <int V>
struct candidate_scores_layer : layer<candidate_scores_layer<V>> {
    static_assert(V > 1 && V < 1 << 24, "candidate_scores: two classes or more, and less than 2^24");
    static constexpr const char* name = "candidate_scores";
    static constexpr tensor trace(tensor x) {
        const int width = x.shape().last();
        const tensor vectors = parameter(x, "class_vectors", extents(V, width), glorot_uniform(width, V));
        const tensor bias = parameter(x, "class_bias", extents(V, 1), zeros);
        if (x.g->mode() == program_mode::training) return x;   // as its loss takes it, frozen or not
        return matmul(x, vectors, transposed::no, transposed::yes) + ops::reshape(bias, extents(V));
    }
};
template <int V>
inline constexpr candidate_scores_layer<V> candidate_scores{};

} // namespace sinter
