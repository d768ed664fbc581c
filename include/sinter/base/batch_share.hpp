// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

/// Plain data, outside of the namespaces of files that are compiled for one processor.
namespace sinter {

/// Examples of a batch: `size` from number `first` on.
struct example_range {
    int first = 0, size = 0;
    constexpr bool has(example_range r) const {   ///< all of r, which may be empty
        return r.size == 0 || (r.first >= first && r.first + r.size <= first + size);
    }
    constexpr bool operator==(const example_range&) const = default;
};

/// Which examples of the batches that several processes share one of them computes.
struct batch_share {
    enum class of_what : std::uint8_t {
        each_batch,    ///< each is cut into `of` parts, of which `own` from number `first` on are this process's
        some_batches   ///< batch b of a pass is this process's, whole, where b % of == first; no other is
    };
    int first = 0, own = 1, of = 1;
    of_what kind = of_what::each_batch;

    /// Part r of n, of `size` examples: [size * r / n, size * (r + 1) / n). None where r >= n.
    static constexpr example_range part(int size, int r, int n) {
        const auto at = [&](int i) { return static_cast<int>(std::int64_t{size} * i / n); };
        return r < n ? example_range{at(r), at(r + 1) - at(r)} : example_range{};
    }
    constexpr bool is_all() const { return first == 0 && own == of; }
    /// Of batch number `batch` of a pass, which has `size` examples.
    constexpr example_range range(std::int64_t batch, int size) const {
        if (kind == of_what::some_batches) return batch % of == first ? example_range{0, size} : example_range{};
        int n = 0;
        for (int i = first; i < first + own; ++i) n += part(size, i, of).size;
        return {part(size, first, of).first, n};
    }
    constexpr bool operator==(const batch_share&) const = default;
};

} // namespace sinter
