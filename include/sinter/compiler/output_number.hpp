// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/program.hpp>

namespace sinter::inline SINTER_TARGET::compiler {

/// The number of the output that program P's net calls T (expr/output.hpp): one compile error where
/// there is none. Of a net that is not sound, whose error is told elsewhere, 0.
template <class P, text T>
constexpr int output_number() {
    constexpr int number = [] {
        for (int i = 0; i < P::v.n_outputs; ++i)
            if (same_name(P::v.output_names[i], T.c)) return i;
        return -1;
    }();
    static_assert(number >= 0 || stands_in<P>,
                  "the net gives no output of this name: it says output<\"...\"> of a tensor that it gives, and other "
                  "outputs have numbers alone");
    return number < 0 ? 0 : number;
}

} // namespace sinter::compiler
