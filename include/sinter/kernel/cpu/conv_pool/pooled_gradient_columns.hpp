// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Where conv_pooled_input_gradient over few input channels has its arranged weights, one image's
/// dx, and what tells the winners under one column of windows, whose gradients begin at g.
struct gradient_columns {
    float *weights, *dx, *winners;
    const float* g;
};

/// What pooled_gradient_rows and pooled_gradient_strips share: K finds a column's winners and adds
/// them to dx.
template <class K>
void run_gradient_columns(const call& c) {
    gradient_columns k;
    k.weights = c.scratch + first_part(c) * K::floats;
    k.dx = k.weights + K::weight_floats;
    k.winners = k.dx + K::image_floats;
    const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
    if (c.part == first_part(c)) K::layout::template arrange<K::padding>(c.p[conv_operand::weights], k.weights);
    for (std::int64_t i = begin; i < end; ++i) {
        std::fill_n(k.dx, K::image_floats, 0.f);
        for (int px = 0; px < K::columns; ++px) {
            const std::int64_t at = (i * K::rows * K::columns + px) * K::channels;
            k.g = c.p[conv_operand::source] + at;
            K::build(k, reinterpret_cast<const std::uint8_t*>(c.p[conv_operand::winners]) + at);
            for (int dx = 0; dx < K::pool; ++dx) K::add(k, dx, px * K::pool + dx);
        }
        K::layout::emit(k.dx, i, c);
    }
}

} // namespace sinter::cpu
