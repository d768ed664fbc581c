// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/kernel/cpu/conv_pool/pooled_filter_lists.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// pooled_filter_lists where the gradient is so large that a copy of it for each part, which every
/// image of the part goes through, would not stay in the caches: parts are some output channels of
/// all images instead, and these are read again by each part. Their padded copies are made
/// beforehand.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct pooled_filter_shares {
    using lists = pooled_filter_lists<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
    using sums = typename lists::sums;
    using image = typename lists::image;
    static constexpr int groups = CO / lanes;   ///< of channels
    static constexpr bool pays =
        CO % lanes == 0 && groups >= 8 && sums::floats >= 1 << 19 && sums::floats > image::floats;

    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(const std::int64_t*, int, std::int64_t images) {
        return sums::floats + 2 * lists::list_floats + images * lists::image_floats;
    }
    static float* copies(const call& c) { return c.scratch + sums::floats + 2 * lists::list_floats; }

    static void prepare(const call& c) {
        for (std::int64_t i = share(c.m, c.part, c.parts); i < share(c.m, c.part + 1, c.parts); ++i)
            image::copy(c.p[conv_weight_gradient_operand::x] + i * (H * W * CI), copies(c) + i * lists::image_floats,
                        true);
    }
    static void run(const call& c) {
        const int begin = static_cast<int>(share(groups, c.part, c.parts)) * lanes;
        const int end = static_cast<int>(share(groups, c.part + 1, c.parts)) * lanes;
        std::fill_n(c.scratch + begin * sums::filter, (end - begin) * sums::filter, 0.f);
        typename lists::lists l(c.scratch + sums::floats);   // those of a part's channels are its own
        for (std::int64_t i = 0; i < c.m; ++i)
            lists::add(c.scratch, copies(c) + i * lists::image_floats, c, i, begin, end, l);
        for (int o = begin; o < end; o += lanes)
            for (int t = 0; t < KH * sums::vectors; ++t) sums::emit(c.scratch, 1, o, t, c);
    }
    static void finish(const call&) {}
};

} // namespace sinter::cpu
