// SPDX-License-Identifier: BSL-1.0
// The main function of every test, compiled once. BOOST_TEST_MODULE would make the same one, but only in a file that
// parses Boost.Test itself, and the tests take it precompiled.
#include <boost/test/unit_test.hpp>

static bool cases_register_themselves() { return true; }

int main(int argc, char* argv[]) {
    return boost::unit_test::unit_test_main(&cases_register_themselves, argc, argv);
}
