// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/source.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {
struct counted_number {
    std::uint64_t first, step;   // unsigned: beyond 2^63 numbers go on from -2^63
    std::int64_t operator()(std::int64_t i) const {
        return static_cast<std::int64_t>(first + static_cast<std::uint64_t>(i) * step);
    }
    SINTER_COLD void describe(description& d) const {
        d("first", static_cast<std::int64_t>(first))("step", static_cast<std::int64_t>(step));
    }
};
} // namespace stage_parts

/// first, first + step, first + 2 step, ... without end. As tf.data's Dataset.counter.
inline auto counter(std::int64_t first = 0, std::int64_t step = 1) {
    return from(endless,
                stage_parts::counted_number{static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(step)});
}

} // namespace sinter::data
