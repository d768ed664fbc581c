// SPDX-License-Identifier: BSL-1.0
// expect: so is the state that scan() carries along
// flags: -O0
#include <sinter/pipelines.hpp>
#include <map>
using namespace sinter;

constexpr port_info inputs[] = {{.s = {.rank = 1, .d = {1}}}};
constexpr data::model_ports ports{{inputs, 1}, {}};

int main() {
    auto counted = data::range(100) | data::scan(std::map<std::int64_t, int>{}, [](auto seen, std::int64_t i) {
        const auto n = static_cast<float>(++seen[i % 7]);
        return std::pair{std::move(seen), n};
    }) | data::batch(8);
    data::pipeline_for<ports>(counted).next();
}
