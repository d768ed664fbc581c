// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE process
#include <boost/test/unit_test.hpp>
#include <sinter/base/os/demangled.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/os/process.hpp>
#include <sinter/base/os/processors.hpp>
#include <sinter/base/os/sleep.hpp>
#include <sinter/base/os/text_in_memory.hpp>
#include <filesystem>
#include <fstream>
#include <thread>
#include <typeinfo>

using namespace sinter::base;

namespace {

BOOST_AUTO_TEST_CASE(this_process_and_its_machine) {
    BOOST_TEST(std::filesystem::read_symlink("/proc/self") == std::to_string(os::process_number()));
    std::string name;
    std::getline(std::ifstream("/proc/sys/kernel/hostname"), name);
    BOOST_TEST(os::host_name() == name);
}
BOOST_AUTO_TEST_CASE(cores) {
    BOOST_TEST(os::usable_cores() >= 1);
    BOOST_TEST(os::usable_cores() <= static_cast<int>(std::thread::hardware_concurrency()));
    cpu_set_t all, one;
    BOOST_TEST_REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    BOOST_TEST_REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    BOOST_TEST(os::usable_cores() == 1);
    os::yield_core();
    ::sched_setaffinity(0, sizeof all, &all);
    BOOST_TEST(os::usable_cores() == CPU_COUNT(&all));
}
BOOST_AUTO_TEST_CASE(time_goes_forward_while_it_sleeps) {
    for (const double pause : {0., 0.002, 1.01}) {
        const double before = os::monotonic_seconds();
        os::sleep_seconds(pause);
        BOOST_TEST(os::monotonic_seconds() - before >= pause);
    }
}
template <class, int> struct some_type {};

BOOST_AUTO_TEST_CASE(names_of_types) {
    BOOST_TEST(os::demangled(typeid(unsigned long).name()) == "unsigned long");
    BOOST_TEST(os::demangled(typeid(some_type<char, 7>).name()).ends_with("some_type<char, 7>"));
    BOOST_TEST(os::demangled("not a mangled name") == "not a mangled name");
}
BOOST_AUTO_TEST_CASE(what_is_printed_is_text) {
    os::text_in_memory t;
    BOOST_TEST_REQUIRE(t.out() != nullptr);
    BOOST_TEST(t.text() == "");
    std::fprintf(t.out(), "%d and %s", 12, "more");
    BOOST_TEST(t.text() == "12 and more");
    const std::string much(100'000, 'x');
    std::fputs(much.c_str(), t.out());
    BOOST_TEST((t.text() == "12 and more" + much));
}

} // namespace
