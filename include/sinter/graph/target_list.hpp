// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/shape.hpp>
#include <type_traits>

namespace sinter::inline SINTER_ORDINARY {

/// What a target is.
enum class target_kind : std::uint8_t {
    class_index,      ///< one int32 an example (or one for each place that the prediction has a row of scores for)
    same_as_output,   ///< float32 of the prediction's extents
    indices,          ///< int32 of extents of its own
    numbers,          ///< float32 of extents of its own
    weight,           ///< float32, one an example: how much that counts
    weight_of_rows    ///< float32, one for each row of scores that the prediction has
};

/// What of an example counts for nothing where all that it has in a target is the ignored label, or
/// a weight of 0.
enum class hidden_part : std::uint8_t {
    none,
    output,       ///< what the loss makes of that output
    everything    ///< the whole example
};

/// One target: what the loss is given, and what a batch must hold.
struct target_spec {
    target_kind kind = target_kind::same_as_output;
    shape own{};      ///< extents for one example of `indices` and `numbers`
    int below = 0;    ///< integers are in [0, below); 0: in [0, extent of the prediction's last axis)
    int output = 0;   ///< which of the net's outputs is meant by the prediction
    int also = 0;     ///< this integer is allowed, too
    bool ignores = false;   ///< that one: places with it are not counted
    hidden_part hides =
        hidden_part::none;   ///< inputs of what it hides may hold anything (strategy/uncounted_examples.hpp)

    constexpr target_spec() = default;
    constexpr target_spec(target_kind k) : kind(k) {}
    constexpr bool operator==(const target_spec&) const = default;

    constexpr target_spec under(int n) const {   ///< integers in [0, n)
        target_spec s = *this;
        s.below = n;
        return s;
    }
    constexpr target_spec ignoring(int label) const {
        target_spec s = *this;
        s.also = label;
        s.ignores = true;
        return s;
    }
    constexpr target_spec hiding(hidden_part h) const {
        target_spec s = *this;
        s.hides = h;
        return s;
    }
    constexpr target_spec of_output(int i) const {
        target_spec s = *this;
        s.output = i;
        return s;
    }
};
/// int32 of extents D an example, in [0, Below) (0: in the range of class numbers).
template <int... D>
constexpr target_spec index_target(int below = 0) {
    target_spec s = target_kind::indices;
    s.own = extents(D...);
    s.below = below;
    return s;
}
/// float32 of extents D an example.
template <int... D>
constexpr target_spec number_target() {
    target_spec s = target_kind::numbers;
    s.own = extents(D...);
    return s;
}

/// The targets of a loss, in the order in which it takes them. A loss declares `static constexpr
/// target_list targets{...}`, or, as most have one, `static constexpr target_kind target`.
struct target_list {
    static constexpr int most = 6;   ///< as many as a net has outputs
    int n = 0;
    target_spec at[most]{};

    constexpr target_list() = default;
    template <class... T>
        requires(sizeof...(T) > 0 && (std::is_convertible_v<T, target_spec> && ...))
    constexpr target_list(T... t) : n(sizeof...(T)), at{t...} {
        static_assert(sizeof...(T) <= most, "a loss takes six targets at the most");
    }
    constexpr target_list with(target_spec t) const {
        target_list l = *this;
        l.at[l.n++] = t;   // beyond `most` this is no constant, and compilers say where
        return l;
    }
    constexpr bool operator==(const target_list&) const = default;
};

} // namespace sinter
namespace sinter::inline SINTER_ORDINARY::facts {
constexpr bool is_weight(target_kind k) {
    return k == target_kind::weight || k == target_kind::weight_of_rows;
}
} // namespace sinter::facts
