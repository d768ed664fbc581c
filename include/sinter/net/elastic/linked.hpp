// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <cstddef>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Whom to leave out so that all others reach each other: places in 0..n-1. `linked(i, j)`: whether these two do. Again
/// and again the one that misses most of the others, of several the last: of a pair with a broken cable the one after.
/// Few are missed in practice, and then nobody more is left out than must be.
template <class Linked>
SINTER_COLD std::vector<std::size_t> not_linked(std::size_t n, Linked linked) {
    std::vector<std::size_t> in(n), out;
    for (std::size_t i = 0; i < n; ++i) in[i] = i;
    for (;;) {
        std::size_t worst = 0, most = 0;
        for (const std::size_t i : in) {
            std::size_t missed = 0;
            for (const std::size_t j : in) missed += i != j && !linked(i, j);
            if (missed > 0 && missed >= most) worst = i, most = missed;
        }
        if (most == 0) return out;
        out.push_back(worst);
        in.erase(std::find(in.begin(), in.end(), worst));
    }
}

} // namespace sinter::wire
