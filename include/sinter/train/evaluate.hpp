// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/evaluation.hpp>
#include <sinter/train/trainer_views.hpp>

/// Evaluation: one pass over data with the evaluation program, and whatever metrics are asked for.
namespace sinter::inline SINTER_TARGET {

/// One pass over `data`, from its beginning, without training; they are then where they were, be they
/// those that the model is trained on, in the middle of a pass. data_error where there are none,
/// batches do not fit, or a loss is not finite because a number of the batch or a weight is not:
/// that is named, NaN in the batch before weights, and these before infinities in the batch. (What
/// overflows within the net stays infinite or NaN in the result.) With
/// metrics, each of the output that it is meant for: what the loss does not count (ignored labels,
/// weights of 0) they are not given either. option_error where one does not fit its output or the
/// loss has no target for that.
///
/// Where several processes train the model all of them make this call, with the same metrics, and
/// have the same answer: that of all examples. Members that read the same data take its batches by
/// rotation; those with data of their own take all of these. mismatch_error on every member where
/// metrics differ. What one of them throws in its part ends the call on all: the others have
/// data_error, which says whose it is.
///
/// `batches`: at most so many, 0: all of a pass. An evaluation within training ends early where the
/// run is asked to stop at once (training_run::stop_when): then `interrupted` is set, and nothing
/// was measured.
template <class Trainer>
evaluation_result evaluate(Trainer& t, data::pipeline& data, const std::vector<metrics::named>& measured = {},
                           const training_run* within = nullptr, std::int64_t batches = 0) {
    detail::model_view<Trainer> view(t);
    return training_parts::evaluate(view, data, measured, within, batches);
}

} // namespace sinter
