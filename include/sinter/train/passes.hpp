// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/data/pipeline.hpp>

/// Going over data, whole passes at a time.
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_COLD inline void need_an_end(const data::pipeline& data, const char* where) {
    if (data.size() == data::endless)
        throw option_error("the data never end", where, "repeat() without a number", "a pass that ends");
}
/// L-BFGS means all of the data, also where an earlier loop left off in the middle of a pass.
SINTER_COLD inline void begin_pass(data::pipeline& data) {
    if (const data::position at = data.position(); at.index != 0) data.seek({at.epoch, 0});
}
/// Calls f(batch) for each batch of what is left of a pass until it answers false. An earlier call
/// may have left the data at the very end of a pass: then the next one is meant, unless
/// `rest_may_be_empty`.
template <class F>
SINTER_COLD void one_pass(data::pipeline& data, F f, bool rest_may_be_empty = false) {
    bool any = rest_may_be_empty;
    for (int tries = 0; tries == 0 || (tries < 2 && !any); ++tries)
        for (const data::batch_view& b : data) {
            any = true;
            if (!f(b)) return;
        }
}

} // namespace sinter::training_parts
