// SPDX-License-Identifier: BSL-1.0
// expect: a struct that is taken apart has no constructors and no private members
// flags: -O0
#include <sinter/base/fields.hpp>

struct passenger {
    explicit passenger(float a) : age(a) {}
    float age;
};

int main() { return sinter::base::field_count<passenger>; }
