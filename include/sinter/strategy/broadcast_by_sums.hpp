// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// The chief's bytes, on all members that make this call together, where they have sums alone: as
/// numbers that are summed, of 6 bytes each, which doubles hold exactly. `reduce`: over all.
SINTER_SELDOM SINTER_COLD void broadcast_by_sums(span<std::byte> x, bool chief,
                                                 base::function_ref<void(span<double>)> reduce);

} // namespace sinter::session_parts

#if SINTER_BODIES
#include <algorithm>
#include <cstdint>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::session_parts {

SINTER_SELDOM_BODY void broadcast_by_sums(span<std::byte> x, bool chief,
                                          base::function_ref<void(span<double>)> reduce) {
    constexpr std::size_t piece = 6, most = 1 << 14;
    std::vector<double> numbers;
    for (std::size_t from = 0; from < x.size(); from += piece * most) {
        const auto some = x.subspan(from, std::min(piece * most, x.size() - from));
        numbers.assign((some.size() + piece - 1) / piece, 0.);
        if (chief)
            for (std::size_t i = some.size(); i-- > 0;)
                numbers[i / piece] = numbers[i / piece] * 256 + std::to_integer<int>(some[i]);
        reduce(span<double>(numbers.data(), numbers.size()));
        for (std::size_t i = 0; i < some.size(); ++i) {
            const auto bits = static_cast<std::uint64_t>(numbers[i / piece]);
            some[i] = static_cast<std::byte>(bits >> 8 * (i % piece) & 0xff);
        }
    }
}

} // namespace sinter::session_parts
#endif
