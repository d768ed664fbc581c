// SPDX-License-Identifier: BSL-1.0
// expect: filter: needed is a function that takes a const element& of this pipeline and gives a bool
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

struct sample { float age; };

int main() {
    data::rows(std::vector<sample>(8)) | data::filter([](const sample& s) { return std::vector{s.age}; });
}
