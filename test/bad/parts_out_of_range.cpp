// SPDX-License-Identifier: BSL-1.0
// flags: -DSINTER_PARTS=12
// expect: SINTER_PARTS is the number of parts that work is divided into: needed is 8, 16, 32 or 64
#include <sinter/estimator/estimator.hpp>

int main() {}
