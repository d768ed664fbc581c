// SPDX-License-Identifier: BSL-1.0
// expect: idx: a field is none that an IDX file has: numbers, arrays of them, and pixels
// flags: -O0
#include <sinter/data/stages/idx.hpp>

struct sample {
    std::string name;
};

int main() {
    const auto stages = sinter::data::idx<sample>("names.idx");
    static_cast<void>(stages);
}
