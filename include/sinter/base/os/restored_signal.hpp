// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <csignal>

namespace sinter::base::inline os {

/// What becomes of a signal now becomes of it again when this ends. It is kept whole: std::signal()
/// would forget the flags of a handler, and which form it has.
class restored_signal {
public:
    explicit restored_signal(int number) : number_(number) { ::sigaction(number_, nullptr, &before_); }
    restored_signal(const restored_signal&) = delete;
    restored_signal& operator=(const restored_signal&) = delete;
    ~restored_signal() { ::sigaction(number_, &before_, nullptr); }

private:
    int number_;
    struct sigaction before_ {};
};

} // namespace sinter::base::os
