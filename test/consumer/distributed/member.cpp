// SPDX-License-Identifier: BSL-1.0
#include "member.hpp"
#include <sinter/distributed.hpp>
#ifdef BOOST_ASIO_VERSION
#error "a file that compiles no connections has read Asio"
#endif

float sum_of_all(const std::vector<std::string>& addresses, int self, float mine) {
    const auto c = sinter::ring::connect(sinter::cluster::of(addresses, self), {.model = 1});
    c->all_reduce(sinter::span<float>(&mine, 1));
    return mine;
}
