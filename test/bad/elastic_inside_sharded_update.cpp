// SPDX-License-Identifier: BSL-1.0
// expect: sharded_update(elastic(...)): elastic goes around it
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

int main() { [[maybe_unused]] const auto parts = sharded_update(elastic(multi_worker<ring>{})); }
