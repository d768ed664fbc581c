// SPDX-License-Identifier: BSL-1.0
// expect: sharded_update needs all its members
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

int main() { [[maybe_unused]] const auto parts = elastic(sharded_update(multi_worker<ring>{})); }
