// SPDX-License-Identifier: BSL-1.0
// expect: csv::rows: the text that a field of std::string_view shows ends with its record; needed is std::string
// flags: -O0
#include <sinter/data/source/csv/rows.hpp>

struct passenger {
    float age;
    std::string_view workclass;
};

int main() {
    const auto rows = sinter::data::csv::rows<passenger>("adult.csv");
    static_cast<void>(rows);
}
