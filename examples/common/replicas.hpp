// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "command_line.hpp"
#include <sinter/sinter.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <string>

namespace example {

/// Declares --strategy.
inline void declare_strategy(command_line& line, std::string& strategy) {
    line.add("strategy", strategy, "NAME", "single, or mirrored:2 for two replicas, each with half of every batch");
}
/// f(strategy). Each number of replicas is compiled by itself: another one is another line here.
template <class F>
void under_strategy(const std::string& name, F f) {
    if (name == "single") f(sinter::single<sinter::cpu_device>{});
    else if (name == "mirrored:2") f(sinter::mirrored<2>{});
    else throw sinter::option_error("no such strategy in this program", "--strategy", sinter::io::printable(name),
                                    "single or mirrored:2");
}

} // namespace example
