// SPDX-License-Identifier: BSL-1.0
// expect: sharded_update(strategy): a strategy of several processes, such as multi_worker
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/strategy/sharded_update.hpp>

using namespace sinter;

int main() { [[maybe_unused]] const auto parts = sharded_update(parameter_server<async>{}); }
