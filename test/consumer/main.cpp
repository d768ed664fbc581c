// SPDX-License-Identifier: BSL-1.0
#include <sinter/base/error.hpp>
#include <cstdio>

int main() {
    try {
        throw sinter::option_error("too large", "--epochs", "10^9", "1000 or fewer");
    } catch (const sinter::error& e) {
        std::printf("nothing is trained: %s\n", e.what());
    }
}
