// SPDX-License-Identifier: BSL-1.0
// expect: from_dataset: a field is none that a column of a dataset can be: float, std::int32_t, arrays of them, and
// flags: -O0
#include <sinter/data/stages/from_dataset.hpp>

struct sample {
    double x;
};

int main() {
    const auto stages = sinter::data::from_dataset<sample>(sinter::data::dataset());
    static_cast<void>(stages);
}
