// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <initializer_list>
#include <string>

/// What option_error a call throws, and whether its text says what it must.
namespace sinter_test {

template <class F>
std::string refused(F&& f) {
    try {
        f();
    } catch (const sinter::option_error& e) {
        return e.what();
    }
    return "";
}

/// Whether `text` has all of `words`; prints what it lacks.
inline bool says(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words)
        if (text.find(word) == text.npos) {
            BOOST_TEST_MESSAGE("\"" << text << "\" lacks \"" << word << '"');
            return false;
        }
    return !text.empty();
}

} // namespace sinter_test
