// SPDX-License-Identifier: BSL-1.0
// shows numbers: options that change float arithmetic are refused in one message; so is another rounding mode
// flags: -O2 -ffast-math
// expect: Sinter needs exact float arithmetic: compile without -Ofast, -ffast-math and their parts
#include <sinter/estimator/estimator.hpp>

int main() {}
