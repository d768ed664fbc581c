// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/compiler/program.hpp>
#include <sinter/device/model_memory.hpp>
#include <algorithm>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Strategies whose members each update a part of the weights name it: one error where no part can
/// be updated by itself.
template <compiler::update_reach Reach>
struct check_updates_in_parts {
    static_assert(Reach != compiler::update_reach::whole_tensors,
                  "sharded_update: this optimizer takes norms of whole tensors of weights or updates (as lamb and "
                  "max_norm do), so no member can update a part of a tensor");
};

/// Calls f(address, floats) for each stretch of the parameters' arena that an update of program P
/// changes when it is run for the gradients `range` alone (step_arguments::updated), as long as
/// they go. Slot k of what lies at address a is at {space::slot, k * z.trained + a.offset()}.
template <class P, class F>
void for_each_updated(const compiler::gradient_range& range, F f) {
    std::int64_t begin = 0, end = 0;
    const auto add = [&](std::int64_t first, std::int64_t last) {
        if (first >= last) return;
        if (first == end && begin < end) {
            end = last;
            return;
        }
        if (begin < end) f(compiler::address{compiler::space::parameter, begin}, end - begin);
        begin = first, end = last;
    };
    for (int k = P::v.n_parameters - 1; k >= 0; --k) {   // as they lie under gradient_policy::reduced
        const variable_info& v = P::v.parameters[k];
        if (v.bucket < 0) continue;
        const compiler::gradient_bucket& b = P::v.buckets[v.bucket];
        const std::int64_t at = v.at.offset(), floats = base::round_up(v.floats, 16);
        const compiler::address gradient =
            b.is_list()   ? b.at
            : b.every > 1 ? compiler::address{compiler::space::slot, (P::v.slots - 1) * P::v.z.trained + at}
                          : v.gradient;
        if (b.parameter >= 0) {   // a table is updated whole
            if (range.all() || range.has(gradient)) add(at, at + floats);
        } else if (range.all()) {
            add(at, at + floats);
        } else if (gradient.where() == range.from.where()) {
            const std::int64_t from = gradient.offset(), moved = at - from;
            add(std::max(from, range.from.offset()) + moved, std::min(from + floats, range.end()) + moved);
        }
    }
    if (begin < end) f(compiler::address{compiler::space::parameter, begin}, end - begin);
}

} // namespace sinter::strategy_parts
