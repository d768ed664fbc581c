// SPDX-License-Identifier: BSL-1.0
// expect: >> takes layers, and what stands before it is none
// expect: members of a class must become constants or template arguments
#include <sinter/sinter.hpp>

using namespace sinter;

struct scale : plain_layer<scale> {
    float factor = 2.f;
    static constexpr tensor trace(tensor x) { return x; }
};

int main() { auto block = scale{} >> dense<2>; }
