// SPDX-License-Identifier: BSL-1.0
// Built with _GLIBCXX_DEBUG, which changes what a vector is.
#include <sinter/net/cluster.hpp>
#include <cstdio>

int main() {
    const int n = sinter::cluster::of({"one:1", "two:2", "three:3"}, 1).size();
    std::printf("%d members\n", n);
    return n == 3 ? 0 : 1;
}
