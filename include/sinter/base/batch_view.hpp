// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/batch_share.hpp>
#include <sinter/base/span.hpp>
#include <cstdint>

/// What a model is handed, `sinter::data::batch_view`. Plain data: files that are compiled for
/// different processors may hand it to each other, so it is outside their namespaces.
namespace sinter {

/// One input or target of a batch, [size, row...]: `values` for floats, `indices` for whole
/// numbers; the other is null.
struct input_view {
    const float* values = nullptr;
    const std::int32_t* indices = nullptr;
    int width = 0;   ///< numbers an example
    const char* name = nullptr;   ///< which the net may ask for (input<"age">, expects<"label">); null: it has none
};

/// What a training step is handed. Every array starts at a multiple of 64 bytes and is good until
/// the next batch.
struct batch_view {
    const float* x = nullptr;               ///< the first float input, [size, extents...]; null if there is none
    const std::int32_t* labels = nullptr;   ///< [size], or several an example, [size, extents...]; null without labels
    const float* y = nullptr;               ///< targets, [size, extents...]; null without (of several: the first)
    int size = 0;                           ///< examples in this batch: at most the batch size
    span<const input_view> inputs{};        ///< every input in the order in which the set has them
    /// Labels and numbers of y an example. A pipeline always says; 0, in a batch made by hand,
    /// vouches for as many as the program wants.
    int label_width = 0, y_width = 0;
    /// How much each example counts, [size], or each of its places, [size, extents...]; null
    /// without weights.
    const float* weights = nullptr;
    int weight_width = 0;                   ///< as label_width
    /// All labels and targets in the order in which the set has them. A batch made by hand needs
    /// them only where a loss takes several of a kind: labels and y are the first ones.
    span<const input_view> targets{};
    /// Of a batch that several members share, the view may have a part alone: the whole one's size, and the number of
    /// the view's first example in it (session_base::own_examples). 0: it is the whole batch.
    int whole = 0, first = 0;
    /// compute(by, examples): this view has these examples of the same batch, too, from now on. Null where nobody can.
    void (*compute)(void* by, example_range) = nullptr;
    void* by = nullptr;
};

} // namespace sinter
