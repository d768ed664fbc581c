// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/batch_view.hpp>
#include <sinter/base/span.hpp>
#include <concepts>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// A batch that was evaluated, for metrics that look at more than one output's rows. What is
/// ignored by the loss, or weighs 0, is among it.
struct evaluated_batch {
    const batch_view& batch;                  ///< inputs, targets, labels, weights
    span<const span<const float>> outputs;    ///< each of the net's, [batch, extents...]
};

/// Metrics that train and evaluate take, by value: those of this folder, or a class of the
/// caller's.
///
/// Begin
///     Each pass begins with a copy of the metric as it was given.
/// Add: one of
///     add(const float* scores, const std::int32_t* labels, int rows, int classes)   rows of class scores and
///                                                                                   class numbers
///     add(const float* scores, const std::int32_t* labels, int rows)                probabilities of class 1
///     add(const float* values, const float* targets, n)                             n numbers and what they should be
///     add(const metrics::evaluated_batch&)                                          a batch's outputs,
///                                                                                   targets, weights
///     With `int classes() const` the first takes so many classes alone, with `int least_classes() const` so many or
///     more; with `int columns() const` the third takes rows of so many numbers, and n is of rows. Scores of a
///     loss of logits (`static constexpr bool of_logits = true`) are none for one whose
///     `bool needs_probabilities() const` is true. What does not fit is an option_error before training.
///     The first three get what counts in the loss alone, of the output that named() says, row after row.
/// Value
///     `value()`, a number: of all that was added. NaN where nothing was.
/// State
///     `state(auto& s)` lists the numbers that it counts in: { s("right", right_)("count", count_); }. Needed
///     where several processes train one model: then they are added up over all. A metric whose numbers do
///     not add up says so by
///     `static constexpr bool adds_up = false`, and has `merge(const itself&)`.
/// Name
///     `static constexpr const char* name`, unless named(name, metric) gives one; `static constexpr bool
///     falls = true` where less is better.
// What can be copied is asked last: of a class that is made from any metric, clang asks it of that
// class itself.
template <class M>
concept metric = requires(const M& m) { { m.value() } -> std::convertible_to<double>; } &&
    (requires(M m, const float* y, const std::int32_t* t) { m.add(y, t, 1, 1); } ||
     requires(M m, const float* y, const std::int32_t* t) { m.add(y, t, 1); } ||
     requires(M m, const float* y, const float* t) { m.add(y, t, 1); } ||
     requires(M m, const evaluated_batch& b) { m.add(b); }) &&
    std::copyable<M>;

} // namespace sinter::metrics
