// SPDX-License-Identifier: BSL-1.0
// expect: elastic(strategy): the strategy is multi_worker<...>
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/elastic.hpp>
#include <sinter/parameter_server.hpp>

using namespace sinter;

int main() { [[maybe_unused]] const auto s = elastic(parameter_server<async>{}); }
