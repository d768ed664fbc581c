// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <cstdint>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Which of the saves that server 0 has named the other servers know from this worker, where each
/// push is an update by itself. They get one with a push, and know it when they all have
/// answered that push. Server 0 names no other before: else a server could get the later one
/// first, by another worker, and would leave this one out. No sockets here.
class save_broadcast {
public:
    /// The last one that they all know.
    std::int64_t known() const { return known_; }
    void know(std::int64_t save) { known_ = std::max(known_, save); }
    /// Push `number` brings them this save. `answered(n)`: whether they all have answered push n.
    template <class Answered>
    void send(std::int64_t save, std::int64_t number, Answered answered) {
        if (sending_ != 0 && answered(by_)) know(std::exchange(sending_, 0));
        if (sending_ == 0 && save > known_) sending_ = save, by_ = number;
    }

private:
    std::int64_t known_ = 0, sending_ = 0, by_ = 0;   // sending_: with push by_; 0: none
};

} // namespace sinter::parameter_servers
