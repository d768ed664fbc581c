// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/utf8.hpp>
#include <cstdio>
#include <cstdlib>

/// Ends the fuzzer where an error's message shows bytes of the input that could drive a terminal, or
/// is not UTF-8.
inline void must_be_fit(const sinter::error& e) {
    const std::string_view what = e.what();
    bool fit = sinter::base::is_utf8(what) && !what.empty();
    for (std::size_t i = 0; i < what.size(); ++i) {
        const auto byte = static_cast<unsigned char>(what[i]);
        const bool c1 = byte == 0xc2 && i + 1 < what.size() && static_cast<unsigned char>(what[i + 1]) < 0xa0;
        fit = fit && byte >= 0x20 && byte != 0x7f && !c1;
    }
    if (fit) return;
    std::fprintf(stderr, "a message that is not fit to be shown: %s\n", e.what());
    std::abort();
}
