// SPDX-License-Identifier: BSL-1.0
// flags: -O2 -ffast-math
// expect: Sinter needs exact float arithmetic: compile without -Ofast, -ffast-math and their parts
#include <sinter/estimator/estimator.hpp>

int main() {}
