// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/hooks/hook_state.hpp>
#include <sinter/train/hooks/validation.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// Evaluates a data set at each epoch's end. train() does so itself for train_options::validation,
/// whose loss and accuracy are members of the result, and whose metrics begin with "val_". Another
/// data set is watched under another prefix, which its loss and accuracy have as well:
///
///     validate unseen(test, {metrics::f1{}}, "test_");
///     model.train(data, {.validation = &held_out}, unseen);   // epoch_result::value("test_loss"), "test_f1"
struct validate : validation {
    using validation::validation;
};

} // namespace sinter
