// SPDX-License-Identifier: BSL-1.0
// expect: unique: needed is a function that takes an element of this pipeline and gives what it is told by: numbers, texts, arrays, vectors, or a struct of these
// flags: -O0
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/unique.hpp>

int main() {
    std::vector<const char*> names{"a", "b"};   // whether these are equal is not whether their texts are
    return static_cast<int>((sinter::data::rows(names) | sinter::data::unique()).size());
}
