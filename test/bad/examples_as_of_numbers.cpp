// SPDX-License-Identifier: BSL-1.0
// expect: examples_as: needed is a pipeline of std::string or std::vector<std::byte>, the bytes of tf.train.Example
// flags: -O0
#include <sinter/data/stages/examples_as.hpp>
#include <sinter/data/stages/source.hpp>

struct sample {
    float x;
};

int main() {
    const auto stages = sinter::data::range(10) | sinter::data::examples_as<sample>();
    static_cast<void>(stages);
}
