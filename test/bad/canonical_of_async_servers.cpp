// SPDX-License-Identifier: BSL-1.0
// expect: results that are always the same need sync<0> or stale<0>
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

int main() { [[maybe_unused]] const auto four = canonical<4>(parameter_server<async>{}); }
