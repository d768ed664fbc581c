// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/prefetch_lines.hpp>
#include <sinter/kernel/cpu/conv_nd/result_blocks.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The sources of a depthwise convolution, of which a row of results prefetches those that the next
/// row will overlap first.
template <bool Backward>
class prefetch_sources {
public:
    prefetch_sources(const result_blocks<Backward>& all, const float* from, int channels)
        : all_(all), from_(from), row_(std::int64_t{all.x.sources()} * channels), channels_(channels) {}

    void begin_row(const result_block& b, int y) {
        const int plane = std::min(all_.z.highest(b.z), all_.z.sources() - 1), next = all_.y.highest(y) + 1;
        at_ = from_ + (all_.first_source(b, plane, next) + std::max(0, all_.x.lowest(b.x0))) * channels_;
        rows_ = all_.y.highest(y + 1) + 1 - next;
    }
    /// Of each such row what lies below the next `results` results of one phase.
    void add_to(prefetch_lines& lines, int results) {
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
