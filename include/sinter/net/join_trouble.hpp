// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <string>

namespace sinter::inline SINTER_TARGET::wire {

/// Why a peer could not be joined, over all attempts. A reason that the peer or TLS gave says more
/// than that a connection ended, which may be all that the last attempt has seen of it: it stays
/// beside the last cause.
class join_trouble {
public:
    /// `explains`: the words are a reason, and no bare system error, closed connection or time-out.
    void note(std::string words, bool explains) {
        if (explains) reason_ = words;
        last_ = std::move(words);
    }
    bool empty() const { return last_.empty(); }
    bool explains() const { return !reason_.empty(); }
    /// The last cause, and behind it the last reason where that is another.
    std::string words() const {
        return reason_.empty() || reason_ == last_ ? last_ : last_ + "; before that: " + reason_;
    }

private:
    std::string last_, reason_;
};

} // namespace sinter::wire
