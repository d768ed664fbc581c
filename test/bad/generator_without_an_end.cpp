// SPDX-License-Identifier: BSL-1.0
// expect: generator: needed is a function of the pass's number that gives an object whose next(), or which itself, gives std::optional<T>
// flags: -O0
#include <sinter/data/stages/generator.hpp>

int main() {
    sinter::data::generator([](std::int64_t pass) { return [pass]() { return pass; }; });
}
