// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>

#include <boost/test/unit_test.hpp>

/// Whether `haystack` holds `needle`; prints both where it does not.
inline bool holds(const std::string& haystack, std::string_view needle) {
    const bool found = haystack.find(needle) != std::string::npos;
    if (!found) BOOST_TEST_MESSAGE("no '" << needle << "' in: " << haystack);
    return found;
}

/// Runs `action`, which must throw `Error`, and checks that the error's four parts hold these texts. Empty ones match
/// anything.
template <class Error, class Action>
void check_error(Action&& action, std::string_view fault, std::string_view where, std::string_view got = {},
                 std::string_view needed = {}) {
    try {
        action();
        BOOST_ERROR("no error, expected: " << fault);
    } catch (const Error& e) {
        BOOST_TEST(holds(e.fault(), fault));
        BOOST_TEST(holds(e.where(), where));
        BOOST_TEST(holds(e.got(), got));
        BOOST_TEST(holds(e.needed(), needed));
    }
}
