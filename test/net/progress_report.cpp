// SPDX-License-Identifier: BSL-1.0
// What a member tells its launcher: packets as documented, never a wait, and nothing to strangers' descriptors.
#define BOOST_TEST_MODULE net_progress_report
#include <boost/test/unit_test.hpp>
#include <sinter/net/progress_report.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <limits>
#include <thread>

using namespace sinter;

namespace {

struct listener {
    int fds[2];
    explicit listener(int type = SOCK_SEQPACKET) { BOOST_REQUIRE(::socketpair(AF_UNIX, type, 0, fds) == 0); }
    ~listener() { ::close(fds[0]), ::close(fds[1]); }
    std::string said() const {
        char text[2000];
        const auto n = ::recv(fds[0], text, sizeof text, MSG_DONTWAIT);
        return n < 0 ? "nothing" : std::string(text, static_cast<std::size_t>(n));
    }
    std::string descriptor() const {
        struct stat s {};
        ::fstat(fds[1], &s);
        return std::to_string(fds[1]) + ":" + std::to_string(s.st_ino);
    }
};
wire::progress_report report_to(const std::string& value) {
    return wire::progress_report(wire::environment{[value](const char* name) {
        return name == std::string("SINTER_PROGRESS_FD") ? std::optional(value) : std::nullopt;
    }});
}

} // namespace

BOOST_AUTO_TEST_CASE(packets) {
    listener l;
    auto report = report_to(l.descriptor());
    BOOST_TEST(report.wanted());
    bool told = true;
    for (int i = 0; told && i < 100; ++i) {   // a busy machine may need longer than `every` for both
        report = report_to(l.descriptor());
        report.step(10, 0.5);
        BOOST_TEST(l.said() == "step 10 loss 0.5");
        told = report.step(11, 0.25);   // too soon
        if (told) BOOST_TEST(l.said().starts_with("step 11 rate "));
    }
    BOOST_TEST(!told);
    BOOST_TEST(l.said() == "nothing");
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    report.step(20, std::numeric_limits<double>::quiet_NaN());
    const std::string second = l.said();
    BOOST_TEST(second.starts_with("step 20 rate "));
    const double rate = std::stod(second.substr(13));
    BOOST_TEST(rate > 0);
    BOOST_TEST(rate < 90);   // ten steps in a tenth of a second or more
    BOOST_TEST(second.find("loss") == std::string::npos);
    report.note("evaluates step 20");
    BOOST_TEST(l.said() == "note evaluates step 20");
    report.table("a table", "rows 3 made 4");
    BOOST_TEST(l.said() == "table a_table rows 3 made 4");
    report.rest();
    BOOST_TEST(l.said() == "rest");
    report.rest();   // still
    BOOST_TEST(l.said() == "nothing");
    report.step(30, 1, 0.1);   // no rate over the pause
    BOOST_TEST(l.said() == "step 30 loss 1");
    report.note(std::string(5000, 'x'));
    BOOST_TEST(l.said().size() == wire::progress_report::longest);
}
BOOST_AUTO_TEST_CASE(last_step_is_always_reported) {
    listener l;
    {
        auto report = report_to(l.descriptor());
        report.step(1, 0.5), report.step(2, 0.25);
        BOOST_TEST(l.said() == "step 1 loss 0.5");
        report.rest();
        BOOST_TEST(l.said() == "step 2 loss 0.25");
        BOOST_TEST(l.said() == "rest");
        report.step(3, 1);
        report.step(4, std::numeric_limits<double>::quiet_NaN());
    }
    BOOST_TEST(l.said() == "step 3 loss 1");
    BOOST_TEST(l.said() == "step 4");
    BOOST_TEST(l.said() == "nothing");
}

BOOST_AUTO_TEST_CASE(a_launcher_that_does_not_read_or_is_gone) {
    listener l;
    auto report = report_to(l.descriptor());
    for (int i = 0; i < 10000; ++i) report.note(std::string(900, 'x'));   // does not wait
    BOOST_TEST(report.wanted());
    ::close(l.fds[0]);
    report.note("x");   // no SIGPIPE
    BOOST_TEST(!report.wanted());
}

BOOST_AUTO_TEST_CASE(descriptors_of_others_are_left_alone) {
    listener l;
    const std::string fd = std::to_string(l.fds[1]);
    for (const std::string& value : {std::string(), std::string("x"), fd, fd + ":1", fd + ":",
                                    std::string("-1:1"), std::string("99999:1")}) {
        auto report = report_to(value);
        BOOST_TEST(!report.wanted());
        report.step(1, 0);
        report.note("x");
    }
    BOOST_TEST(l.said() == "nothing");
}
