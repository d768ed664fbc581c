// SPDX-License-Identifier: BSL-1.0
// expect: shuffle() needs a source in which each element can be found by its number
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

struct sample { float age; };

int main() {
    data::rows(std::vector<sample>(8)) | data::filter([](const sample& s) { return s.age > 1; }) | data::shuffle();
}
