// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/broadcast.hpp>
#include <sinter/graph/op.hpp>

/// The code of a kernel's elementwise body: instructions of 64 bits, which become template
/// arguments. Each writes the register that bears its own number. An elementwise op is its own
/// opcode; the other opcodes are below.
namespace sinter::inline SINTER_TARGET::compiler {

enum class opcode : std::uint8_t {   // below 256, where the ops' numbers begin
    load = 1,        ///< from operand `arg`, mapped by `map`
    literal,         ///< call::k[arg]
    accumulator,     ///< the raw result of a root op's kernel
    store,           ///< register a to operand `arg`
    column_sum,      ///< register a into sum number b, which in the end goes to operand `arg`
    row_sum, row_max,///< over the columns of register a; the result is there in the next phase
    spill, reload    ///< register a to, and from, row buffer number b: values that outlive their phase
};

struct instruction {
    std::uint16_t code = 0;
    std::uint8_t a = 0, b = 0;
    std::uint8_t map = 0;      ///< loads: row_map in bits 0-1, bit 2: varies along the columns, bit 3: int32;
                               ///< random numbers of rows: row_map; stores, bit 4: by non-temporal stores
    std::uint16_t arg = 0;
    std::uint8_t phase = 0;    ///< which pass over the row does this
    std::uint8_t row = 0;      ///< 1: once a row instead of once an element

    static constexpr std::uint8_t along_columns = 4, integers = 8, non_temporal = 16;

    constexpr std::uint64_t pack() const {
        return std::uint64_t{code} | std::uint64_t{a} << 16 | std::uint64_t{b} << 24 | std::uint64_t{map} << 32 |
               std::uint64_t{arg} << 40 | std::uint64_t{phase} << 56 | std::uint64_t{row} << 63;
    }
    static constexpr instruction unpack(std::uint64_t w) {
        auto byte = [w](int shift) { return static_cast<std::uint8_t>(w >> shift & 255u); };
        return {static_cast<std::uint16_t>(w & 0xffffu), byte(16), byte(24), byte(32),
                static_cast<std::uint16_t>(w >> 40 & 0xffffu), static_cast<std::uint8_t>(byte(56) & 127u),
                static_cast<std::uint8_t>(w >> 63)};
    }
    constexpr std::uint8_t c() const { return map; }   ///< the third operand of an op that has three
    constexpr bool is(opcode i) const { return code == static_cast<std::uint16_t>(i); }
    constexpr bool is(op_id k) const { return code == static_cast<std::uint16_t>(k); }
    constexpr row_map rows() const { return static_cast<row_map>(map & 3u); }
    constexpr bool columns() const { return map & along_columns; }
    constexpr bool whole() const { return map & integers; }
    constexpr bool is_non_temporal() const { return map & non_temporal; }
};

inline constexpr int most_instructions = 250;   ///< of one body: an instruction's number must fit into a byte

/// Places in call::e that bodies use; those before belong to the kernel itself.
namespace extent {
inline constexpr int columns = 10;        ///< of the space that the body walks over
inline constexpr int buffer_stride = 11;  ///< floats of one row buffer
inline constexpr int first_q = 12;        ///< divisors of mapped rows, numbered by a load's b
inline constexpr int count = 16;
} // namespace extent

} // namespace sinter::compiler
