// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <sinter/collective/element.hpp>
#include <type_traits>

/// Elements of two members become one.
namespace sinter::inline SINTER_ORDINARY::collective {
namespace detail {

template <class T>
constexpr T combined(reduction how, T a, T b) {
    if (how == reduction::max) return a > b || a != a ? a : b;
    if (how == reduction::min) return a < b || a != a ? a : b;
    if constexpr (std::is_integral_v<T>) {
        using bits = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<bits>(static_cast<bits>(a) + static_cast<bits>(b)));
    } else {
        return a + b;
    }
}

// Vectors that may lie anywhere: a plain loop would be vectorised at -O3 alone.
template <class T>
struct unaligned_vector {
    using sums = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
    typedef sums type __attribute__((vector_size(32), aligned(1), may_alias));
};

/// to[i] = a[i] with b[i]; `to` may be a or b.
template <class T>
void combine(reduction how, T* to, const T* a, const T* b, std::int64_t n) {
    std::int64_t i = 0;
    if (how == reduction::sum) {
        using vector = typename unaligned_vector<T>::type;
        constexpr std::int64_t lanes = 32 / static_cast<std::int64_t>(sizeof(T));
        for (; i + 2 * lanes <= n; i += 2 * lanes) {
            const auto at = [&](auto* p, std::int64_t k) {
                return reinterpret_cast<vector*>(const_cast<T*>(p + i)) + k;
            };
            const vector low = *at(a, 0) + *at(b, 0), high = *at(a, 1) + *at(b, 1);
            *at(to, 0) = low, *at(to, 1) = high;
        }
    }
    for (; i < n; ++i) to[i] = combined(how, a[i], b[i]);
}

}   // namespace detail

/// Calls f with a pointer of the elements' type, null.
template <class F>
decltype(auto) with_type(element e, F f) {
    switch (e) {
        case element::f32: return f(static_cast<float*>(nullptr));
        case element::f64: return f(static_cast<double*>(nullptr));
        case element::i32: return f(static_cast<std::int32_t*>(nullptr));
        case element::i64: return f(static_cast<std::int64_t*>(nullptr));
        case element::u8: break;
    }
    return f(static_cast<std::uint8_t*>(nullptr));
}

/// to[i] = a[i] with b[i], n elements of this type; `to` may be a or b. Where both are NaN the
/// first one's bits are kept, so that members which combine in the same order have the same bits.
inline void combine(element e, reduction how, void* to, const void* a, const void* b, std::int64_t n) {
    with_type(e, [&]<class T>(T*) {
        detail::combine(how, static_cast<T*>(to), static_cast<const T*>(a), static_cast<const T*>(b), n);
    });
}

/// Element [at, at + n) of `sources`, combined in the order of all_reduce_tree, in `to`, which may
/// be the same place in one of them. At most tree_block elements.
inline constexpr std::int64_t tree_block = 1024;

namespace detail {
template <class T>
const T* combine_tree(reduction how, T* to, void* const* sources, int count, std::int64_t at, std::int64_t n) {
    if (count == 1) return static_cast<const T*>(sources[0]) + at;
    const int left = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1)));
    T other[tree_block];
    T mine[tree_block];
    const T* const a = combine_tree(how, mine, sources, left, at, n);
    const T* const b = combine_tree(how, other, sources + left, count - left, at, n);
    combine(how, to, a, b, n);
    return to;
}
}   // namespace detail

/// Elements [first, end) of `count` sources, combined in the order of all_reduce_tree, in the same
/// place of `to`, which may be one of them.
inline void combine_tree(element e, reduction how, void* to, void* const* sources, int count, std::int64_t first,
                         std::int64_t end) {
    with_type(e, [&]<class T>(T*) {
        for (std::int64_t at = first; at < end; at += tree_block) {
            const std::int64_t n = std::min(tree_block, end - at);
            T* const here = static_cast<T*>(to) + at;
            const T* const sum = detail::combine_tree(how, here, sources, count, at, n);
            if (sum != here) std::memmove(here, sum, static_cast<std::size_t>(n) * sizeof(T));
        }
    });
}

}   // namespace sinter::inline SINTER_ORDINARY::collective
