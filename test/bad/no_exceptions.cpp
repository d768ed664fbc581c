// SPDX-License-Identifier: BSL-1.0
// flags: -O2 -fno-exceptions
// expect: Sinter reports errors by exceptions: compile without -fno-exceptions
#include <sinter/training.hpp>

int main() {}
