// SPDX-License-Identifier: BSL-1.0
// expect: a struct that is taken apart has no base classes
// flags: -O0
#include <sinter/base/fields.hpp>

struct person { float age; };
struct passenger : person { int ticket; };

int main() {
    passenger p{};
    sinter::base::for_each_field(p, [](auto, auto&) {});
}
