// SPDX-License-Identifier: BSL-1.0
// expect: cache(file): needed are elements that can be written as bytes: numbers, texts, arrays, pixels, vectors, and structs and tuples of these
// flags: -O0
#include <sinter/data/stages/cache.hpp>
#include <sinter/data/stages/source.hpp>

struct node {
    float x = 0;
    node* next = nullptr;
};
int main() {
    std::vector<node> all(3);
    return static_cast<int>((sinter::data::rows(all) | sinter::data::cache("a.cache")).size());
}
