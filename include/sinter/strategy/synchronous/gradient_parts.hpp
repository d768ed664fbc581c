// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/compiler/buckets.hpp>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Whether this is a gradient of which each replica's memory has a part, also behind a step:
/// updates of program P add the parts up themselves (program_options::gradient_sources).
template <class P>
constexpr bool stays_in_parts(compiler::address a) {
    if (P::request::options.gradient_sources < 2) return false;
    for (int k = 0; k < P::v.n_buckets; ++k) {
        const compiler::gradient_bucket& b = P::v.buckets[k];
        const std::int64_t from = a.offset() - b.at.offset();
        if (b.parameter < 0 && a.where() == b.at.where() && from >= 0 && from < b.floats) return true;
    }
    return false;
}
[[noreturn]] SINTER_COLD inline void refuse_parts_of_gradients() {
    throw option_error("each member has the sum of a part of the gradients", "sharded_update", "a gradient to read",
                       "the strategy without sharded_update");
}

} // namespace sinter::inline SINTER_TARGET::strategy_parts
