// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

/// What an op is. There is no list of ops: each lives in a file of its own, which names it and says
/// what it does,
///
///     namespace op { inline constexpr op_name softsign{"softsign"}; }
///     template <> struct rule<op::softsign> : elementwise_rule<1, 3> { ... };
///
/// and a node of the graph remembers where its op's description lies. So a program knows the ops
/// that it is made of, and yours are like ours.
namespace sinter::inline SINTER_ORDINARY {

/// An op's number within kernels' types, made from its name; those below 256 are opcodes of
/// instructions (compiler/emit/instruction.hpp). Should two names ever give one number, the second
/// `rule` is an error.
enum class op_id : std::uint16_t {};

struct op_name {
    const char* name;
    op_id id;

    constexpr op_name(const char* text) : name(text), id{} {
        std::uint32_t h = 2166136261u;
        for (const char* c = text; *c; ++c) h = (h ^ static_cast<unsigned char>(*c)) * 16777619u;
        id = static_cast<op_id>(256u + (h ^ h >> 15) % 65280u);
    }
    constexpr operator op_id() const { return id; }
};

} // namespace sinter
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name none{"none"};
}

} // namespace sinter
