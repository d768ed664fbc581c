// SPDX-License-Identifier: BSL-1.0
// A program that seals frames, and so needs sinter::distributed.
#include <sinter/net/seal.hpp>
#include <boost/asio/io_context.hpp>

int main() {
    boost::asio::io_context context;
    sinter::wire::seal s({.secret = true});
    s.begin(0);
    return s.finish() == sinter::wire::seal::tag{} || context.stopped();
}
