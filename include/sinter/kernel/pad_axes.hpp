// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/host_device.hpp>
#include <sinter/ops/pad.hpp>

/// Where a margin's elements come from, and where an element was copied to: for kernels of every
/// device.
namespace sinter::inline SINTER_TARGET::runtime {

struct pad_axis {
    std::int64_t out, n, before;
    bool edge;
    /// Axis i of five, of the extents that rule<op::pad> gives.
    SINTER_HOST_DEVICE pad_axis(const std::int64_t* e, int i)
        : out(e[pad_extent::outer + i]), n(e[pad_extent::inner + i] & 0xffffffff),
          before(e[pad_extent::inner + i] >> 32), edge(e[pad_extent::mode] != 0) {}

    /// The element that is read for place c.
    SINTER_HOST_DEVICE std::int64_t from(std::int64_t c) const {
        const std::int64_t j = c - before;
        if (j < 0) return edge ? 0 : -j;
        return j < n ? j : edge ? n - 1 : 2 * (n - 1) - j;
    }
    /// Element j was copied to places to(j, 0), ..., to(j, copies(j) - 1).
    SINTER_HOST_DEVICE std::int64_t copies(std::int64_t j) const {
        if (edge) return 1 + (j == 0 ? before : 0) + (j == n - 1 ? out - before - n : 0);
        return 1 + near(j) + far(j);
    }
    SINTER_HOST_DEVICE std::int64_t to(std::int64_t j, std::int64_t k) const {
        if (edge) return (j == 0 ? 0 : before + j) + k;
        if (k == 0) return before + j;
        return k == 1 && near(j) ? before - j : before + 2 * (n - 1) - j;
    }

private:
    SINTER_HOST_DEVICE bool near(std::int64_t j) const { return j >= 1 && j <= before; }
    SINTER_HOST_DEVICE bool far(std::int64_t j) const { return j <= n - 2 && before + 2 * (n - 1) - j < out; }
};

/// The place in the operand of place `at` in the padded tensor, both counted within one example and
/// over the first `axes` axes alone.
SINTER_HOST_DEVICE std::int64_t pad_source(const std::int64_t* e, std::int64_t at, int axes = 5) {
    std::int64_t from = 0, step = 1;
    for (int i = axes - 1; i >= 0; --i) {
        const pad_axis a(e, i);
        from += a.from(at % a.out) * step;
        at /= a.out;
        step *= a.n;
    }
    return from;
}
/// Calls f(place in the padded tensor) for all that were copied from place `at`, so counted.
template <class F>
SINTER_HOST_DEVICE void each_pad_copy(const std::int64_t* e, std::int64_t at, int axes, F f) {
    std::int64_t place[5] = {}, copies = 1;
    for (int i = axes - 1; i >= 0; --i) {
        const pad_axis a(e, i);
        place[i] = at % a.n;
        at /= a.n;
        copies *= a.copies(place[i]);
    }
    for (std::int64_t k = 0; k < copies; ++k) {
        std::int64_t rest = k, to = 0, step = 1;
        for (int i = axes - 1; i >= 0; --i) {
            const pad_axis a(e, i);
            const std::int64_t own = a.copies(place[i]);
            to += a.to(place[i], rest % own) * step;
            rest /= own;
            step *= a.out;
        }
        f(to);
    }
}
SINTER_HOST_DEVICE constexpr std::int64_t padded_size(const std::int64_t* e) {
    std::int64_t size = 1;
    for (int i = 0; i < max_rank; ++i) size *= e[pad_extent::outer + i];
    return size;
}
SINTER_HOST_DEVICE constexpr std::int64_t unpadded_size(const std::int64_t* e) {
    std::int64_t size = 1;
    for (int i = 0; i < max_rank; ++i) size *= e[pad_extent::inner + i] & 0xffffffff;
    return size;
}

} // namespace sinter::runtime
