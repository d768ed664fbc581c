// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/host_device.hpp>
#include <sinter/ops/interpolate.hpp>

/// Where the new places along an axis lie between the old ones: for kernels of every device, and
/// for files.
namespace sinter::inline SINTER_TARGET {

/// Of a kernel's extents, or of a node's attributes.
struct interpolation_axis {
    std::int64_t from, to;
    float step, offset;
    SINTER_HOST_DEVICE explicit interpolation_axis(const std::int64_t* e)
        : interpolation_axis(e[interpolate_extent::from], e[interpolate_extent::to],
                             e[interpolate_extent::aligned] != 0) {}
    SINTER_HOST_DEVICE interpolation_axis(std::int64_t old_places, std::int64_t new_places, bool aligned)
        : from(old_places), to(new_places) {
        if (aligned) step = to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1) : 0.f, offset = 0.f;
        else step = static_cast<float>(from) / static_cast<float>(to), offset = 0.5f * step - 0.5f;
    }

    /// A new place lies between an old one and the next: so much of the next, the rest of it, is
    /// what it has.
    struct place {
        std::int64_t first, next;
        float share;
        /// How much of old place i.
        SINTER_HOST_DEVICE float of(std::int64_t i) const { return i == first ? 1.f - share : i == next ? share : 0.f; }
    };
    SINTER_HOST_DEVICE place at(std::int64_t k) const {
        float v = static_cast<float>(k) * step + offset;
        const auto last = static_cast<float>(from - 1);
        v = v < 0.f ? 0.f : v > last ? last : v;
        auto first = static_cast<std::int64_t>(v);
        if (first > 0 && first == from - 1) --first;   // of the last one's neighbours the next is itself
        return {first, first + 1 < from ? first + 1 : first, v - static_cast<float>(first)};
    }
    /// The first new place that has something of old place i, or of a later one. Places never go
    /// back.
    SINTER_HOST_DEVICE std::int64_t first_of(std::int64_t i) const {
        std::int64_t low = 0, high = to;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (at(middle).next < i) low = middle + 1;
            else high = middle;
        }
        return low;
    }
};

} // namespace sinter
