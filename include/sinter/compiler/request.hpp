// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/graph.hpp>
#include <sinter/compiler/options.hpp>
#include <sinter/compiler/target.hpp>

/// What a program is asked for by.
namespace sinter::inline SINTER_TARGET::compiler {

/// How a program is asked for: everything that its compile-time work depends on.
template <class Net, class Loss, class Optimizer, program_mode Mode, int MaxBatch, target T, program_options O>
struct request {
    using net = Net;
    using loss = Loss;
    using optimizer = Optimizer;
    static constexpr program_mode mode = Mode;
    static constexpr int max_batch = MaxBatch;
    static constexpr sinter::compiler::target target = T;
    static constexpr program_options options = O;
};

} // namespace sinter::compiler
