// SPDX-License-Identifier: BSL-1.0
// expect: snapshot: needed are elements that can be written as bytes: numbers, texts, arrays, pixels, vectors, and structs and tuples of these
// flags: -O0
#include <sinter/data/stages/snapshot.hpp>
#include <sinter/data/stages/source.hpp>

int main() { auto all = sinter::data::rows(std::vector<std::string_view>(3)) | sinter::data::snapshot("folder"); }
