// SPDX-License-Identifier: BSL-1.0
// flags: -O2 -std=c++17
// expect: Sinter needs C++20: compile with -std=c++20 or newer
#include <sinter/training.hpp>

int main() {}
