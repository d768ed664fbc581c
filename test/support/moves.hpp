// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "support/check_op.hpp"

/// Ops that move elements: the reference says of each place of the result where its element comes from.
namespace sinter::test {
using namespace compiler;

using places = std::vector<int>;   ///< the batch's first, if there is one

/// y of extents d with y[at] = a[from(at)]; zero where `from` gives no place.
template <class F>
doubles moved(const std::vector<int>& d, const doubles& a, F from) {
    doubles y(d);
    for (int n = 0; n < y.size(); ++n)
        if (const places p = from(y.where(n)); p.size() == a.d.size()) y[n] = a.at(p);
    return y;
}
inline const places nowhere(9, -1);

/// Is the fault of what `f` does with a tensor of these extents that one?
template <class F>
bool refuses(const shape& s, fault_kind what, F f) {
    graph g;
    f(make<op::input>(&g, s, {}, {0}));
    return g.err.what == what;
}

} // namespace sinter::test
