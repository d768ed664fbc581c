// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <string>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Why a peer could not be joined, over all attempts. Keeps the last explanation from the peer or TLS:
/// later attempts may only see a closed connection.
class join_failure {
public:
    /// `is_reason`: the text is a reason, and no bare system error, closed connection or time-out.
    void note(std::string cause, bool is_reason) {
        if (is_reason) reason_ = cause;
        last_ = std::move(cause);
    }
    bool empty() const { return last_.empty(); }
    bool has_reason() const { return !reason_.empty(); }
    /// The last cause, and after it the last reason where that is another.
    std::string text() const {
        return reason_.empty() || reason_ == last_ ? last_ : last_ + "; before that: " + reason_;
    }

private:
    std::string last_, reason_;
};

} // namespace sinter::wire
