// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/table.hpp>

/// sinusoidal_positions(of, length, width): the table [length, width] of sines and cosines that
/// stands for places in a sequence (Vaswani et al. 2017): place t and frequency base^(-2i/width)
/// give a pair sin, cos. ONNX: Constant.
namespace sinter::inline SINTER_TARGET {

/// Which two elements of a row belong together: 2i and 2i + 1 (the paper's), or i and i + width /
/// 2.
enum class position_pairs : std::uint8_t { neighbours, halves };

namespace detail {
template <position_pairs P>
void fill_sinusoids(float* to, const shape& s, float base) {
    const int half = (s.d[1] + 1) / 2;
    for (int t = 0; t < s.d[0]; ++t)
        for (int j = 0; j < s.d[1]; ++j, ++to) {
            const int i = P == position_pairs::neighbours ? j / 2 : j % half;
            const bool cosine = P == position_pairs::neighbours ? j % 2 : j >= half;
            const double angle = t * __builtin_pow(static_cast<double>(base), -2. * i / s.d[1]);
            *to = static_cast<float>(cosine ? __builtin_cos(angle) : __builtin_sin(angle));
        }
}
} // namespace detail

namespace ops {

constexpr tensor sinusoidal_positions(tensor of, int length, int width, position_pairs p = position_pairs::neighbours,
                                      float base = 10'000) {
    return table(of, extents(length, width),
                 p == position_pairs::neighbours ? sinter::detail::fill_sinusoids<position_pairs::neighbours>
                                        : sinter::detail::fill_sinusoids<position_pairs::halves>,
                 base);
}

} // namespace ops
using ops::sinusoidal_positions;

} // namespace sinter
