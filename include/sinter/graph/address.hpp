// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

/// Addresses before there is memory: an arena and an offset in units of 64 bytes.
namespace sinter::inline SINTER_ORDINARY::facts {

enum class space : std::uint32_t { activation, parameter, gradient, state, slot, port, table, none };

struct address {
    std::uint32_t bits = static_cast<std::uint32_t>(space::none) << 29;
    std::int32_t slice = 0;   ///< floats of one iteration of a loop, for each example where `batched`
    std::int32_t slot = 0;    ///< what lies before the first one: slices where `batched`, else floats
    bool batched = false;
    bool moves = false;       ///< in iteration t it is t slices further on

    constexpr address() = default;
    constexpr address(space s, std::int64_t floats)
        : bits(static_cast<std::uint32_t>(s) << 29 | static_cast<std::uint32_t>(floats / 16)) {}
    constexpr space where() const { return static_cast<space>(bits >> 29); }
    constexpr std::int64_t offset() const {
        return static_cast<std::int64_t>(bits & 0x1fffffffu) * 16;
    }   ///< floats; a port's number
    constexpr std::int64_t slice_floats(std::int64_t batch) const { return batched ? slice * batch : slice; }
    /// Floats from offset() to the first slice. Without a batch these are counted in floats: a view
    /// may cut what a loop left into slices of another size.
    constexpr std::int64_t first_floats(std::int64_t batch) const {
        if (batched) return std::int64_t{slot} * slice * batch;
        return is_gradient_source() ? 0 : slot;
    }
    constexpr bool is_gradient_source() const {
        return slot > 0 && slice == 0 && (where() == space::gradient || where() == space::slot);
    }
    constexpr bool operator==(const address&) const = default;
};
/// The gradient at `a` of one of several replicas, whose arenas lie anywhere.
constexpr address gradient_source(address a, int number) {
    a.slot = number + 1;
    return a;
}
constexpr bool is_gradient_source(address a) { return a.is_gradient_source(); }
constexpr int number_of_source(address a) { return a.slot - 1; }
constexpr address port_address(int number) { return {space::port, static_cast<std::int64_t>(number) * 16}; }
constexpr int port_of(address a) { return static_cast<int>(a.offset() / 16); }

} // namespace sinter::facts
