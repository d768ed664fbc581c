// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/pipeline_ref.hpp>
#include <sinter/train/metrics/named.hpp>
#include <cstdio>

namespace sinter::inline SINTER_ORDINARY {

/// What train() does if a loss is not finite.
enum class on_not_finite : std::uint8_t {
    fail,   ///< data_error that names the first number that is not finite
    stop,   ///< training ends, as by training_run::stop
};

/// What train() may be given: epochs, and what is shown.
struct train_options {
    int epochs = 0;                         ///< passes over the data; 0: one, or as many as max_steps takes
    std::int64_t max_steps = 0;             ///< stop once so many steps have been done in all; 0: no such limit
    data::pipeline_ref validation{};        ///< evaluated after each epoch
    std::FILE* progress = stderr;           ///< null: silence
    std::vector<metrics::named> metrics{};   ///< of the validation data: {metrics::f1{}, metrics::top_k{5}}
    on_not_finite not_finite = on_not_finite::fail;   ///< if a step's loss is that
};

} // namespace sinter
