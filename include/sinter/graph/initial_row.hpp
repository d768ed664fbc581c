// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <sinter/graph/initializer.hpp>

/// Initial values of one row of a table, wherever it is made: those that train/initialize.hpp gives
/// the whole table, since numbers are drawn by their place and not one after the other.
namespace sinter::inline SINTER_TARGET::detail {

/// Values number `from` to `from` + n of those that a stream gives. `word(i)`: its word i.
template <class Word>
void draw_row(const initializer& init, std::uint64_t from, int n, float* to, Word word) {
    for (int j = 0; j < n; ++j) {
        const std::uint64_t i = from + static_cast<std::uint64_t>(j);
        if (init.kind == init_kind::uniform) {
            to[j] = init.middle + init.a * (2.f * uniform(word(i)) - 1.f);
        } else if (init.kind == init_kind::normal) {
            const std::uint32_t a = word(i & ~std::uint64_t{1}), b = word(i | 1);   // in this order
            const normal_pair p = normal(a, b);
            to[j] = init.middle + init.a * (i % 2 ? p.second : p.first);
        } else {
            to[j] = init.a;
        }
    }
}

} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

/// Row `row` of a table of rows of `width` floats. `stream`: base::stream(seed, fnv1a(path)).
inline void initial_row(const initializer& init, std::uint64_t stream, std::int64_t row, int width, float* to) {
    if (init.kind == init_kind::identity) {
        for (int j = 0; j < width; ++j) to[j] = j == row ? init.a : 0.f;
        return;
    }
    std::uint64_t at = ~std::uint64_t{};
    philox_block b{};
    detail::draw_row(init, static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(width), width, to,
                     [&](std::uint64_t i) {
                         if (i / 4 != at) b = philox_at(stream, at = i / 4);
                         return b.word[i % 4];
                     });
}
/// The row of a key of a hashed table: the same whoever makes it, and when.
inline void initial_row_of_key(const initializer& init, std::uint64_t stream, std::int64_t key, int width, float* to) {
    std::uint64_t at = ~std::uint64_t{};
    philox_block b{};
    detail::draw_row(init, 0, width, to, [&](std::uint64_t i) {
        if (i / 4 != at) b = philox_at(stream, static_cast<std::uint64_t>(key), 1 + (at = i / 4));
        return b.word[i % 4];
    });
}

} // namespace sinter::compiler
