// SPDX-License-Identifier: BSL-1.0
// expect: record: a field is read as float, double, integers, std::string, std::string_view, arrays and vectors of
// flags: -O0
#include <sinter/data/record.hpp>

struct place {
    float x, y;
};

int main() {
    const sinter::data::record_schema schema{{.name = "x"}};
    static_cast<void>(schema.field<place>("x"));
}
