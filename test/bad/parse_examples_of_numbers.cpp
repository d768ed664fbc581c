// SPDX-License-Identifier: BSL-1.0
// expect: parse_examples: needed is a pipeline of std::string or std::vector<std::byte>, the bytes of tf.train.Example
// flags: -O0
#include <sinter/data/stages/parse_examples.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    const auto stages = sinter::data::range(10) | sinter::data::parse_examples({{.name = "x"}});
    static_cast<void>(stages);
}
