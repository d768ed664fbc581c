// SPDX-License-Identifier: BSL-1.0
// expect: batch: the fields of a record are known at run time only; needed is a map before it that makes a struct of each
// flags: -O0
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/parse_examples.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;
constexpr port_info one_float{.s = {.rank = 1, .d = {1}}};
constexpr data::model_ports ports{{&one_float, 1}, {}};

int main() {
    auto all = data::rows(std::vector<std::string>()) | data::parse_examples({{.name = "x"}}) | data::batch(2);
    static_cast<void>(data::pipeline_for<ports>(all));
}
