// SPDX-License-Identifier: BSL-1.0
#include <sinter/net/cluster.hpp>

int size_of(const sinter::cluster& c) { return c.size(); }
