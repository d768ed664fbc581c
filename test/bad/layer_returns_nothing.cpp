// SPDX-License-Identifier: BSL-1.0
// expect: a layer gives a tensor, or a bundle by outputs(a, b): this function gives something else, or nothing
#include <sinter/sinter.hpp>

using namespace sinter;

int main() { estimator model{features<2> >> [](tensor x) { relu(x); } >> dense<2>, mse, sgd{}}; }
