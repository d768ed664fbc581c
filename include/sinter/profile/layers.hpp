// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/layer_walk.hpp>
#include <sinter/compiler/trace.hpp>

namespace sinter::inline SINTER_TARGET::profile {

/// The rows of a net's table; the loss, if there is one, stands last.
template <class Net, class Loss>
std::vector<layer_text> layers_of(program_mode mode) {
    layer_walk w;
    w.g.set_mode(mode);
    if constexpr (requires { w.net(Net{}); }) w.net(Net{});
    const bool known = !w.rows.empty();   // something else with a trace() is one row
    if (known && mode == program_mode::prediction) return w.rows;
    graph whole;
    trace<Net, Loss>(whole, mode);
    layer_text rest{known ? short_type_name<Loss>() : "net", "[]"};
    for (int i = w.g.n.n; i < whole.n.n; ++i) rest.flops += flops_of(whole, i);
    for (int i = w.g.parameters.n; i < whole.parameters.n; ++i)
        rest.parameters += whole.n[whole.parameters[i].id].s.size();
    w.rows.push_back(rest);
    return w.rows;
}

} // namespace sinter::profile
