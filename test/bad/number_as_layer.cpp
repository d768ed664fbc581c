// SPDX-License-Identifier: BSL-1.0
// expect: >> takes layers, and this is none
#include <sinter/sinter.hpp>

using namespace sinter;

int main() { estimator model{features<2> >> 3 >> dense<2>, mse, sgd{}}; }
