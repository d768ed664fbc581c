// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

/// Names of what goes into a net and comes out of it. A net without them has none of these.
namespace sinter::inline SINTER_TARGET::compiler {

/// Names of a net's inputs, of its outputs and of its loss's targets, by their numbers. Null, or a
/// number beyond the most: no name.
struct port_names {
    static constexpr int most = 6;   ///< as a bundle has
    const char* inputs[most] = {};
    const char* outputs[most] = {};
    const char* targets[most] = {};

    /// The name of number `i` of one of the three; empty where it has none.
    static constexpr const char* of(const char* const (&all)[most], int i) {
        return i < most && all[i] ? all[i] : "";
    }
};

/// A tensor that the net calls an output of this name (expr/output.hpp), until it is known which
/// output it is.
struct named_output {
    int id = -1;
    const char* name = "";
    int scope = 0;
    bool found = false;   ///< the net gives it
};

} // namespace sinter::compiler
