// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/emit/optimizer_code.hpp>

namespace sinter::inline SINTER_TARGET {

/// Changes nothing. Under program_options{.store_gradients = true} a step then computes gradients
/// and no more.
struct no_optimizer {
    static constexpr int slots = 0, n_scalars = 0;
    static constexpr void update(update_context&) {}
    void scalars(std::int64_t, float*) const {}
};

} // namespace sinter
