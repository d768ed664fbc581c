// SPDX-License-Identifier: BSL-1.0
// expect: sequence_examples_as: needed is a pipeline of std::string or std::vector<std::byte>, the bytes of
// flags: -O0
#include <sinter/data/stages/sequence_examples_as.hpp>
#include <sinter/data/stages/source.hpp>

struct sample {
    std::vector<float> x;
};

int main() {
    const auto stages = sinter::data::range(10) | sinter::data::sequence_examples_as<sample>();
    static_cast<void>(stages);
}
