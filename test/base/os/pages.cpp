// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE pages
#include <boost/test/unit_test.hpp>
#include <sinter/base/os/pages.hpp>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <unistd.h>

using namespace sinter::base;

namespace {

/// Bytes of this process that are in memory, as the system tells.
long resident_bytes() {
    long all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}
BOOST_AUTO_TEST_CASE(given_back_they_are_zeros_and_take_no_memory) {
    constexpr std::size_t bytes = std::size_t{1} << 26;
    constexpr std::align_val_t alignment{std::size_t{1} << 21};
    auto* const at = static_cast<char*>(::operator new(bytes, alignment));
    os::prefer_huge_pages(at, bytes);
    std::memset(at, 'x', bytes);
    const long with = resident_bytes();
    const bool gone = os::give_back_pages(at, bytes / 2);
    const long without = resident_bytes();
#ifdef __linux__
    BOOST_TEST(gone);
#endif
    bool zeros = true, others = true;
    for (std::size_t i = 0; i < bytes / 2; ++i) zeros = zeros && at[i] == 0;
    for (std::size_t i = bytes / 2; i < bytes; ++i) others = others && at[i] == 'x';
    BOOST_TEST(zeros == gone);
    BOOST_TEST(others);
    if (gone) BOOST_TEST(with - without > static_cast<long>(bytes / 4));
    at[5] = 'y';   // and can be used as before
    BOOST_TEST(at[5] == 'y');
    ::operator delete(at, alignment);
}

} // namespace
