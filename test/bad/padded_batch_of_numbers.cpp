// SPDX-License-Identifier: BSL-1.0
// expect: padded_batch: needed are elements that are a std::vector, or a struct or a tuple with one
// flags: -O0
#include <sinter/data/stages/padded_batch.hpp>
#include <sinter/data/stages/source.hpp>

struct sample {
    float x = 0;
    int y = 0;
};
int main() { auto all = sinter::data::rows(std::vector<sample>(3)) | sinter::data::padded_batch(2); }
