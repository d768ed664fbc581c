// SPDX-License-Identifier: BSL-1.0
// expect: names_of_fields has one name for each field
// flags: -O0
#include <sinter/base/fields.hpp>

struct passenger { float age, fare; };
template <>
inline constexpr std::array<std::string_view, 1> sinter::base::names_of_fields<passenger>{"age"};

int main() { return static_cast<int>(sinter::base::field_name<passenger, 0>.size()); }
