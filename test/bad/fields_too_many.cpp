// SPDX-License-Identifier: BSL-1.0
// expect: a struct that is taken apart has at most 64 fields
// flags: -O0
#include <sinter/base/fields.hpp>

#define EIGHT(p) int p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7;
struct passenger { EIGHT(a) EIGHT(b) EIGHT(c) EIGHT(d) EIGHT(e) EIGHT(f) EIGHT(g) EIGHT(h) int last; };

int main() { return sinter::base::field_count<passenger>; }
