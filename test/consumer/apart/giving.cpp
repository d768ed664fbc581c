// SPDX-License-Identifier: BSL-1.0
// Gives a cluster to a file that has the functions in its headers, or has none, where this one is the other way.
#include <sinter/net/cluster.hpp>

int size_of(const sinter::cluster&);

int main() { return size_of(sinter::cluster()); }
