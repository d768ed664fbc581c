// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/batch_view.hpp>
#include <sinter/base/description.hpp>
#include <sinter/train/training_run.hpp>

namespace sinter::inline SINTER_ORDINARY {

class hook_state;   // train/hooks/hook_state.hpp

namespace training_parts {

/// The calls that have the run as their only argument.
enum class hook_call : std::uint8_t {
    resume,
    begin,
    chief_changed,
    epoch_begin,
    pass_stopped,
    pass_end,
    epoch_end,
    end,
    serve,
    check_run
};
inline constexpr int calls_of_a_run = static_cast<int>(hook_call::check_run) + 1;

/// One hook's calls; null where it has none.
struct hook_calls {
    void* hook = nullptr;
    const char* name = nullptr;   ///< that its state is saved under
    void (*at[calls_of_a_run])(void*, training_run&) = {};
    bool may_measure = false;   ///< at a pass's end, what it does not tell of in check_run()
    void (*before_step)(void*, training_run&, const batch_view&) = nullptr;
    void (*after_step)(void*, training_run&, const batch_view&) = nullptr;
    void (*checkpoint_saved)(void*, training_run&, const std::string&) = nullptr;
    void (*state)(void*, hook_state&) = nullptr;
    void (*describe)(void*, description&) = nullptr;   ///< of one that members share: what it is called, and settings
};

} // namespace training_parts

} // namespace sinter
