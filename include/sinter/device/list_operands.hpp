// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/row_list.hpp>
#include <sinter/compiler/program.hpp>

namespace sinter::inline SINTER_TARGET::runtime {

/// Lets the updates of program P read these lists of rows, by their numbers; null: the program's
/// own, which are in `m`. `operands`: of P's launches, by P::v.args; `now`: the lists that are
/// read.
template <class P, class Memory>
void point_at_lists(const Memory& m, const row_list* lists, row_list* now, float** operands) {
    for (int k = 0; k < P::v.n_buckets; ++k) {
        const compiler::gradient_bucket& b = P::v.buckets[k];
        if (!b.is_list()) continue;
        row_list& l = now[b.list];
        l = lists ? lists[b.list] : row_list{reinterpret_cast<std::int32_t*>(m.at(b.keys)), m.at(b.at), b.row_floats};
        for (int i = P::v.segments.first_update; i < P::v.n_launches; ++i)
            for (int a = P::v.launches[i].first_arg; a < P::v.launches[i].first_arg + P::v.launches[i].args; ++a) {
                if (P::v.args[a] == b.keys) operands[a] = reinterpret_cast<float*>(l.keys);
                if (P::v.args[a] == b.at) operands[a] = l.rows;
            }
    }
}

} // namespace sinter::runtime
