// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/array.hpp>
#include <cstdint>

/// Addresses before there is memory: an arena and an offset in units of 64 bytes.
namespace sinter::inline SINTER_TARGET::compiler {

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

/// First fit over a list of holes, sorted by place. Activations come and go through it while the
/// plan walks the groups.
class hole_list {
public:
    constexpr std::int64_t take(std::int64_t size) {
        int* p = &first_;
        for (; *p >= 0; p = &h_[*p].next) {
            hole& x = h_[*p];
            if (x.size < size) continue;
            const std::int64_t at = x.at;
            x.at += size;
            x.size -= size;
            if (!x.size) *p = x.next;
            return at;
        }
        p = &first_;   // none is large enough: grow at the top, from the last hole if it touches it
        while (*p >= 0 && h_[*p].next >= 0) p = &h_[*p].next;
        std::int64_t at = top_;
        if (*p >= 0 && h_[*p].at + h_[*p].size == top_) {
            at = h_[*p].at;
            *p = -1;
        }
        top_ = at + size;
        return at;
    }
    constexpr void give(std::int64_t at, std::int64_t size) {
        int before = -1, after = first_;
        while (after >= 0 && h_[after].at < at) before = after, after = h_[after].next;
        if (before >= 0 && h_[before].at + h_[before].size == at) {
            h_[before].size += size;
        } else {
            const int id = h_.push({at, size, after});
            (before < 0 ? first_ : h_[before].next) = id;
            before = id;
        }
        hole& b = h_[before];
        if (after >= 0 && b.at + b.size == h_[after].at) {
            b.size += h_[after].size;
            b.next = h_[after].next;
        }
    }
    constexpr std::int64_t top() const { return top_; }

private:
    struct hole {
        std::int64_t at, size;
        int next;
    };
    growing<hole> h_;
    int first_ = -1;
    std::int64_t top_ = 0;
};

} // namespace sinter::compiler
