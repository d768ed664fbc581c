// SPDX-License-Identifier: BSL-1.0
// What members.cpp shows with a strategy of the tests' own, with the library's session of all synchronous strategies.
#include "support/borrowed_members.hpp"
#define SINTER_TEST_MEMBER synchronous_member
#include "train/members.cpp"
