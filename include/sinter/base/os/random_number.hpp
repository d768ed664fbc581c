// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#if __has_include(<sys/random.h>)
#include <sys/random.h>
#endif
#include <unistd.h>
#include <cerrno>
#endif

namespace sinter::base::inline os {

/// 64 bits of the operating system's own randomness, which no other process has: for names that must not repeat.
/// Throws an error where the system has none to give. (std::random_device needs <random>, a fifth of what an empty
/// program takes to compile.)
SINTER_SELDOM SINTER_COLD std::uint64_t random_number();

#if SINTER_BODIES
SINTER_SELDOM_BODY std::uint64_t random_number() {
    std::uint64_t n = 0;
    if (::getentropy(&n, sizeof n) != 0)
        throw error("the operating system gave no random number", "getentropy", std::to_string(errno), "8 bytes");
    return n;
}
#endif

}   // namespace sinter::base::inline os
