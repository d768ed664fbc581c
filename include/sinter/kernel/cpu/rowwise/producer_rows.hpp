// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The fused producer of a kernel, if there is one, as far as it has come: a kernel asks for some
/// rows before it reads them. Rows are asked for in their order, and made once.
class producer_rows {
public:
    producer_rows(const call& c, std::int64_t first) : walk_(c.before), next_(first) {}

    explicit operator bool() const { return walk_.rows; }
    void make_until(std::int64_t end) {
        if (!walk_.rows || end <= next_) return;
        walk_.rows->run(next_, end, *walk_.walk);
        next_ = end;
    }
    /// The arrays that the walk reads and writes: where they begin; there is room for
    /// row_functions::most_arrays.
    int arrays(const float** to) const { return walk_.rows ? walk_.rows->arrays(*walk_.walk, to) : 0; }

private:
    fused_producer walk_;
    std::int64_t next_;
};

} // namespace sinter::cpu
