// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <cstring>
#include <sinter/kernel/cpu/vector/simd.hpp>

/// Rows of a few numbers each, or many, from one place to another. A call of memcpy takes longer
/// than a row of a few vectors.
namespace sinter::inline SINTER_TARGET::cpu {

/// n floats from each of `rows` places that lie from_step apart, to places to_step apart. Compiled
/// once, as moving data is not worth code.
template <class = void>
SINTER_ONCE inline void copy_rows(const float* from, std::int64_t from_step, float* to, std::int64_t to_step,
                                  std::int64_t n, std::int64_t rows) {
    constexpr std::int64_t worth_a_call = 16 * lanes;
    const auto each_row = [&](auto copy) SINTER_ALWAYS {
        for (; rows > 0; --rows, from += from_step, to += to_step) copy();
    };
    if (n == 1) each_row([&] { *to = *from; });
    else if (n == 2) each_row([&] { std::memcpy(to, from, 8); });
    else if (n == 4) each_row([&] { std::memcpy(to, from, 16); });
    else if (n < lanes) each_row([&] { store(to, load(from, static_cast<int>(n)), static_cast<int>(n)); });
    else if (n == lanes) each_row([&] { store(to, load(from)); });
    else if (n >= worth_a_call) each_row([&] { std::memcpy(to, from, 4 * static_cast<std::size_t>(n)); });
    else
        each_row([&] {
            for (std::int64_t j = 0; j + lanes < n; j += lanes) store(to + j, load(from + j));
            store(to + n - lanes, load(from + n - lanes));   // may meet the one before
        });
}

/// The same, added to what is there.
SINTER_INLINE void add_rows(const float* from, std::int64_t from_step, float* to, std::int64_t to_step, std::int64_t n,
                            std::int64_t rows) {
    const std::int64_t whole = n / lanes * lanes;
    const auto rest = static_cast<int>(n - whole);
    for (; rows > 0; --rows, from += from_step, to += to_step) {
        for (std::int64_t j = 0; j < whole; j += lanes) store(to + j, load(to + j) + load(from + j));
        if (rest) store(to + whole, load(to + whole, rest) + load(from + whole, rest), rest);
    }
}
/// n times the same float. By vectors, like the others, whatever the compiler makes of loops.
SINTER_INLINE void fill_floats(float* to, float x, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(to + i, splat(x));
    for (; i < n; ++i) to[i] = x;
}

} // namespace sinter::cpu
