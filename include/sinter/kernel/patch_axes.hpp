// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/host_device.hpp>
#include <sinter/ops/extract_patches.hpp>

namespace sinter::inline SINTER_TARGET::runtime {

/// The windows of extract_patches, for kernels of every device.
struct patch_axes {
    std::int64_t H, W, C, OH, OW, kh, kw;
    struct axis {
        std::int64_t out, stride, dilation, before;
        /// The place that tap i of window o sees; outside the image where it hangs over.
        SINTER_HOST_DEVICE std::int64_t place(std::int64_t o, std::int64_t i) const {
            return o * stride - before + i * dilation;
        }
        /// The window whose tap i sees this place, -1 if there is none.
        SINTER_HOST_DEVICE std::int64_t window(std::int64_t place, std::int64_t i) const {
            const std::int64_t at = place + before - i * dilation;
            return at >= 0 && at % stride == 0 && at / stride < out ? at / stride : -1;
        }
    } rows, columns;
    SINTER_HOST_DEVICE explicit patch_axes(const std::int64_t* e)
        : H(e[patch_extent::H]), W(e[patch_extent::W]), C(e[patch_extent::C]), OH(e[patch_extent::OH]),
          OW(e[patch_extent::OW]), kh(e[patch_extent::kh]),
          kw(e[patch_extent::kw]), rows{e[patch_extent::OH], e[patch_extent::v_stride], e[patch_extent::v_dilation],
                                        e[patch_extent::above]},
          columns{e[patch_extent::OW], e[patch_extent::h_stride], e[patch_extent::h_dilation], e[patch_extent::left]} {}

    struct range {
        std::int64_t first, end;
    };
    /// The windows along a row whose taps from i to j, in their order, lie inside the image; an
    /// empty range has its end at its first.
    range windows_with(std::int64_t i, std::int64_t j) const {
        const std::int64_t before = columns.before - i * columns.dilation,
                           last = W - 1 + columns.before - j * columns.dilation;
        const std::int64_t first = before > 0 ? (before + columns.stride - 1) / columns.stride : 0;
        const std::int64_t end = last < 0 ? 0 : last / columns.stride + 1;
        const std::int64_t most = end < OW ? end : OW;
        return {first < most ? first : 0, first < most ? most : 0};
    }
};

} // namespace sinter::runtime
