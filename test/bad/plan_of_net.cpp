// SPDX-License-Identifier: BSL-1.0
// expect: describe_distribution(model, cluster): got something without a training program
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/profile/describe_distribution.hpp>

using namespace sinter;

int main() { describe_distribution(features<4> >> dense<2>, cluster_model{}); }
