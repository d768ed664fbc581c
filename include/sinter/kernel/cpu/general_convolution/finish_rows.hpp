// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/result_blocks.hpp>
#include <sinter/kernel/cpu/product/finish.hpp>

namespace sinter::cpu {

/// Hands a block's results to the body row by row: so they, and what it reads, are met as they lie in memory. A row's lie at `results`
/// every `row` floats, a result's `channels` every `result`.
template <bool Backward>
void finish_rows(const result_blocks<Backward>& all, const result_block& b, const float* results, std::int64_t row, int channels,
                 std::int64_t result, const finisher& f, const call& c) {
    for (int y = b.y0; y < b.y1; ++y, results += row) {
        const std::int64_t first = all.first_result(b, y);
        f.finish({results, b.columns(), channels, static_cast<int>(result), first * channels, channels, first, 0}, c);
    }
}

} // namespace sinter::cpu
