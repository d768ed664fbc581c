// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE terminal
#include <boost/test/unit_test.hpp>
#include <sinter/base/os/terminal.hpp>
#include <cstdlib>
#include <fcntl.h>
#include <memory>

using namespace sinter::base;

namespace {

BOOST_AUTO_TEST_CASE(a_terminal_and_a_file) {
    const auto close = [](std::FILE* f) { std::fclose(f); };
    using file = std::unique_ptr<std::FILE, decltype(close)>;
    const file plain(std::tmpfile(), close);
    BOOST_TEST(!os::is_terminal(plain.get()));
    BOOST_TEST(os::terminal_columns(plain.get()) == 0);

    const file master(::fdopen(::posix_openpt(O_RDWR | O_NOCTTY), "r+"), close);
    if (!master) return;   // a machine without pseudo-terminals
    const int fd = ::fileno(master.get());
    BOOST_TEST_REQUIRE(::grantpt(fd) == 0);
    BOOST_TEST_REQUIRE(::unlockpt(fd) == 0);
    const file terminal(std::fopen(::ptsname(fd), "w"), close);
    BOOST_TEST_REQUIRE(bool(terminal));
    BOOST_TEST(os::is_terminal(terminal.get()));
    const winsize size{.ws_row = 24, .ws_col = 132, .ws_xpixel = 0, .ws_ypixel = 0};
    BOOST_TEST_REQUIRE(::ioctl(fd, TIOCSWINSZ, &size) == 0);
    BOOST_TEST(os::terminal_columns(terminal.get()) == 132);
}

} // namespace
