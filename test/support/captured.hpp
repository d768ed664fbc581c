// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>

namespace sinter::test {

/// What was written into a temporary file, such as the progress of training.
struct captured {
    std::FILE* file = std::tmpfile();
    captured() { BOOST_REQUIRE(file); }
    captured(const captured&) = delete;
    ~captured() { std::fclose(file); }
    std::string text() const {
        std::fflush(file);
        std::rewind(file);
        std::string s;
        for (int c; (c = std::fgetc(file)) != EOF;) s += static_cast<char>(c);
        return s;
    }
};

} // namespace sinter::test
