// SPDX-License-Identifier: BSL-1.0
// expect: sequence_examples_as: a list of features is read into a std::vector of its steps
// flags: -O0
#include <sinter/data/stages/sequence_examples_as.hpp>
#include <sinter/data/stages/source.hpp>

struct step {
    float x;
};
struct sample {
    std::vector<step> steps;
};

int main() {
    const auto stages = sinter::data::rows(std::vector<std::string>()) | sinter::data::sequence_examples_as<sample>();
    std::remove_const_t<decltype(stages)>::state s{};
    static_cast<void>(stages.get(s, 0));
}
