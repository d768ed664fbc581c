// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/epilogue.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Memory that is read soon. A loop over vectors of channels prefetches it, some lines for each
/// vector: all at once they would hold it up. By itself no processor foresees what is read vector
/// by vector, each from pixels far apart.
class prefetch_lines {
public:
    void clear() { count_ = 0; }
    /// From `at` on, `each` floats for each vector.
    void add(const float* at, std::int64_t each) {
        if (count_ < most) ranges_[count_++] = {at, each};
    }
    /// The arrays that a body reads, too, from `off` on.
    void add_body(const epilogue& f, std::int64_t off, std::int64_t each, const call& c) {
        if (!f.list) return;
        tile_lines first;
        f.list({nullptr, 1, 1, 0, off, 0, 0, 0}, c, first);
        for (int i = 0; i < first.count; ++i) add(first.line[i], each);
    }
    SINTER_INLINE void prefetch(int vector) const {
        for (const range* r = ranges_; r < ranges_ + count_;
             ++r)   // not unrolled: lines prefetched right behind each other come later
            for (std::int64_t i = 0; i < r->each; i += floats_a_line) __builtin_prefetch(r->at + vector * r->each + i);
    }
    static constexpr std::int64_t ahead = 1 << 12;   ///< floats: what is prefetched comes in time

private:
    static constexpr int most = 8;
    struct range {
        const float* at;
        std::int64_t each;
    };
    range ranges_[most];
    int count_ = 0;
};

} // namespace sinter::cpu
