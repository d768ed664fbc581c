// SPDX-License-Identifier: BSL-1.0
// expect: canonical<S>: so many shards cannot be divided among so many replicas
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/mirrored.hpp>

using namespace sinter;

int main() { [[maybe_unused]] const auto four = canonical<4>(mirrored<3>{}); }
