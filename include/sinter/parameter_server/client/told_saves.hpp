// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <cstdint>
#include <utility>

namespace sinter::inline SINTER_TARGET::sharded {

/// Which of the saves that server 0 has named the other servers know from this worker, where each
/// push is an update by itself. They hear of one with a push, and know it when they all have
/// answered that push. Server 0 names no other before: else a server could hear of the later one
/// first, by another worker, and would leave this one out. No sockets here.
class told_saves {
public:
    /// The last one that they all know.
    std::int64_t known() const { return known_; }
    void know(std::int64_t save) { known_ = std::max(known_, save); }
    /// Push `number` tells them of this save. `answered(n)`: whether they all have answered push n.
    template <class Answered>
    void tell(std::int64_t save, std::int64_t number, Answered answered) {
        if (telling_ != 0 && answered(by_)) know(std::exchange(telling_, 0));
        if (telling_ == 0 && save > known_) telling_ = save, by_ = number;
    }

private:
    std::int64_t known_ = 0, telling_ = 0, by_ = 0;   // telling_: with push by_; 0: none
};

} // namespace sinter::sharded
