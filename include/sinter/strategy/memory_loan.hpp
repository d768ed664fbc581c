// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <utility>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Programs never run at once, so one may work in another's memory: for as long as this lives, `to`
/// has the states of `from`, and its parameters, activations and scratch memory where it has none
/// of its own.
template <bool Parameters, bool Activations, bool Scratch, class Memory>
class memory_loan {
public:
    memory_loan(Memory& from, Memory& to) : from_(from), to_(to) { exchange(); }
    memory_loan(const memory_loan&) = delete;
    memory_loan& operator=(const memory_loan&) = delete;
    ~memory_loan() { exchange(); }

private:
    Memory &from_, &to_;
    void exchange() {
        if (Parameters) std::swap(from_.parameters, to_.parameters);
        std::swap(from_.states, to_.states);
        if (Activations) std::swap(from_.activations, to_.activations);
        if (Scratch) std::swap(from_.scratch, to_.scratch);
    }
};

} // namespace sinter::strategy_parts
