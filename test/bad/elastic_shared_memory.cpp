// SPDX-License-Identifier: BSL-1.0
// expect: elastic(multi_worker<...>): members that change need ring, halving_doubling or automatic
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/collective/shared_memory.hpp>
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

int main() { [[maybe_unused]] const auto s = elastic(multi_worker<shared_memory>{}); }
