// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>

namespace sinter::cpu {

/// Where conv_pooled_input_gradient over few input channels has its arranged weights, one image's dx, and the lists of the winners
/// under one column of windows.
struct gradient_lists {
    float *weights, *dx, *value;
    std::int32_t *offset, *start;
};

/// What pooled_gradient_rows and pooled_gradient_strips share: K builds lists of a column of windows and adds them to dx.
template <class K>
void run_gradient_lists(const call& c) {
    gradient_lists k;
    k.weights = c.scratch + first_part(c) * K::floats;
    k.dx = k.weights + K::weight_floats;
    k.value = k.dx + K::image_floats;
    k.offset = reinterpret_cast<std::int32_t*>(k.value + K::pool * K::list);
    k.start = k.offset + K::pool * K::list;
    const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
    if (c.part == first_part(c)) K::layout::template arrange<K::padding>(c.p[1], k.weights);
    for (std::int64_t i = begin; i < end; ++i) {
        std::fill_n(k.dx, K::image_floats, 0.f);
        for (int px = 0; px < K::columns; ++px) {
            const std::int64_t at = (i * K::rows * K::columns + px) * K::channels;
            K::build(c.p[0] + at, reinterpret_cast<const std::uint8_t*>(c.p[2]) + at, k);
            for (int dx = 0; dx < K::pool; ++dx) K::add(k, dx, px * K::pool + dx);
        }
        K::layout::emit(k.dx, i, c);
    }
}

} // namespace sinter::cpu
