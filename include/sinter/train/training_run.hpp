// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/results.hpp>

namespace sinter::inline SINTER_TARGET {

/// A call of train() as its hooks see it (train/hooks/hook.hpp). Hooks read it, add to `result`,
/// and may ask to stop. What the model is of, only model_run knows (train/loop.hpp), which derives
/// from this.
struct training_run {
    std::int64_t step = 0;              ///< steps done in all, those before a resumed run included
    int epoch = 0;                      ///< from 1; 0 before the first
    int epochs = 0;                     ///< as asked for; 0: as many as max_steps takes
    std::int64_t max_steps = 0;         ///< as asked for; 0: no limit
    std::int64_t examples_a_pass = 0;   ///< 0 where nobody knows
    bool resumed = false;               ///< goes on where a saved run was
    float loss = 0;                     ///< of the last step's batch, before its update
    int phase = 0;                      ///< which loss that was, where losses alternate
    epoch_result result{};              ///< of this epoch so far

    /// Asks to end training without an error: once all hooks have had the present call, before
    /// another step. `why` is kept of the first who asks.
    SINTER_COLD void stop(std::string_view why) {
        if (!stopping_) why_ = why;
        stopping_ = true;
    }
    bool stopping() const { return stopping_; }
    const std::string& why_stopped() const { return why_; }   ///< empty as long as nobody has asked

private:
    bool stopping_ = false;
    std::string why_;
};

} // namespace sinter
