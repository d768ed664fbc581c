// SPDX-License-Identifier: BSL-1.0
// expect: each field of a struct that is taken apart has a value by default: a reference and a std::span of fixed extent have none
// flags: -O0
#include <sinter/base/fields.hpp>
#include <span>

struct passenger {
    float age;
    std::span<float, 3> fares;
};

int main() {
    float fares[3];
    passenger p{1, fares};
    sinter::base::for_each_field(p, [](auto, auto&) {});
}
