// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/address.hpp>
#include <sinter/graph/shape.hpp>

namespace sinter::inline SINTER_ORDINARY::facts {
inline constexpr int frozen_group = -1;   ///< not trained: no gradient, no slots
} // namespace sinter::facts
namespace sinter::inline SINTER_ORDINARY {

/// The kinds of initializers.
enum class init_kind : std::uint8_t { constant, uniform, normal, truncated_normal, orthogonal, identity };

/// How a parameter starts: `constant` a; `uniform` in middle +- a; `normal` with standard deviation
/// a around middle; the others as graph/initializer.hpp says, times a.
struct initializer {
    init_kind kind = init_kind::constant;
    float a = 0;
    float middle = 0;
};

/// A parameter or state as it is known at run time.
struct variable_info {
    const char* name = "";
    int scope = 0;
    shape s;
    initializer init;
    facts::address at;
    std::int64_t floats = 0;   ///< in memory, with padding
    facts::address gradient;          ///< none: it is never stored
    int group = 0;             ///< of the optimizer's groups of parameters; frozen_group: it is not trained
    bool early = false;        ///< the training program may have updated it, or its slots, before the loss is known
    int bucket = -1;           ///< that its gradient is in; -1: in none
    bool of_examples = false;  ///< a state that each example of a batch has one of: its first axis is the largest batch
    /// A table elsewhere (passes/remote_tables.hpp): `s` and `floats` are those of the whole table
    /// (of a hashed one 0), `at` and `gradient` of the compact copy, which has fewer rows.
    bool remote = false;
};

} // namespace sinter
