// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_pool/conv_max_pool_channels.hpp>
#include <sinter/kernel/cpu/conv_pool/conv_max_pool_images.hpp>
#include <sinter/kernel/cpu/conv_pool/conv_max_pool_windows.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <type_traits>

namespace sinter::inline SINTER_TARGET::cpu {

/// A max-pool of P x P windows over a convolution, of which only the pooled values reach memory.
/// Bias and relu may come after the pool, in the body: they are monotone, so the result is the
/// same. Operands: x [m, H, W, CI], w packed as [KH * KW * CI][CO], winners [m, OH / P, OW / P, CO]
/// as bytes: the place dy * P + dx of the first maximum of a window; may be null. Rows and columns
/// that fill no window are dropped. Body: off in the pooled result, row = its pixel, col = channel.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct conv_max_pool_forward {
    static_assert(P >= 1 && P <= 16, "winners are bytes");
    using by_windows = conv_max_pool_windows<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
    using by_channels = conv_max_pool_channels<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
    using by_images = conv_max_pool_images<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
    using method =
        std::conditional_t<by_windows::pays, by_windows, std::conditional_t<by_images::pays, by_images, by_channels>>;
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int parts) { return method::scratch(parts); }
    static void run(const call& c) { method::run(c); }
    static void finish(const call&) {}
};

template <class Body, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P>
struct nest<op::conv, Body, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P> {
    using type = conv_max_pool_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
};

} // namespace sinter::cpu
