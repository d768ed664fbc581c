// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/result_blocks.hpp>
#include <sinter/kernel/cpu/product/finish.hpp>

namespace sinter::cpu {

/// Memory that is read soon. A loop over vectors of channels asks for it, some lines for each vector: all at once they would hold it up.
/// By itself no processor foresees what is read vector by vector, each from pixels far apart.
class coming_lines {
public:
    void clear() { count_ = 0; }
    /// From `at` on, `each` floats for each vector.
    void add(const float* at, std::int64_t each) {
        if (count_ < most) ranges_[count_++] = {at, each};
    }
    /// The arrays that a body reads, too, from `off` on.
    void add_body(const finisher& f, std::int64_t off, std::int64_t each, const call& c) {
        if (!f.list) return;
        tile_lines first;
        f.list({nullptr, 1, 1, 0, off, 0, 0, 0}, c, first);
        for (int i = 0; i < first.count; ++i) add(first.line[i], each);
    }
    SINTER_INLINE void ask(int vector) const {
        for (const range* r = ranges_; r < ranges_ + count_; ++r)   // not unrolled: lines asked for right behind each other come later
            for (std::int64_t i = 0; i < r->each; i += floats_a_line) __builtin_prefetch(r->at + vector * r->each + i);
    }
    static constexpr std::int64_t ahead = 1 << 12;   ///< floats: what is asked for comes in time

private:
    static constexpr int most = 8;
    struct range {
        const float* at;
        std::int64_t each;
    };
    range ranges_[most];
    int count_ = 0;
};

/// The sources of a depthwise convolution, of which a row of results asks for those that the next row will meet first.
template <bool Backward>
class coming_sources {
public:
    coming_sources(const result_blocks<Backward>& all, const float* from, int channels)
        : all_(all), from_(from), row_(std::int64_t{all.x.sources()} * channels), channels_(channels) {}

    void begin_row(const result_block& b, int y) {
        const std::int64_t plane = b.image * all_.z.sources() + std::min(all_.z.highest(b.z), all_.z.sources() - 1);
        const int next = all_.y.highest(y) + 1;
        at_ = from_ + (plane * all_.y.sources() + next) * row_ + std::int64_t{std::max(0, all_.x.lowest(b.x0))} * channels_;
        rows_ = all_.y.highest(y + 1) + 1 - next;
    }
    /// Of each such row what lies below the next `results` results of one phase.
    void add_to(coming_lines& lines, int results) {
        const std::int64_t columns = std::int64_t{results} * all_.x.step();
        for (int i = 0; i < rows_; ++i) lines.add(at_ + i * row_, columns * lanes);
        at_ += columns * channels_;
    }

private:
    const result_blocks<Backward>& all_;
    const float *const from_, *at_ = nullptr;
    const std::int64_t row_;
    const int channels_;
    int rows_ = 0;
};

} // namespace sinter::cpu
