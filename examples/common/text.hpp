// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/data/source/text/characters.hpp>
#include <sys/stat.h>
#include <array>
#include <cstdio>

namespace example {

/// A text for a net that learns to write. The last tenth is kept for watching.
struct corpus {
    std::string name, text;
};

/// Sentences that the program makes up, the same for one seed: sums in words, and who gives what to
/// whom.
inline std::string made_up_text(int sentences, std::uint64_t seed) {
    constexpr std::array numbers{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
                                 "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
                                 "seventeen", "eighteen"};
    constexpr std::array names{"Ada", "Carl", "Emmy", "Leonhard", "Sofia", "Alan"};
    constexpr std::array things{"book", "proof", "lamp", "ring", "field", "tree"};
    constexpr std::array kinds{"small", "old", "green", "strange"};
    sinter::random_stream random(sinter::base::stream(seed, sinter::base::fnv1a("example/text")));
    std::string text;
    for (int i = 0; i < sentences; ++i) {
        const auto any = [&](const auto& words) {
            return std::string(words[random.below(static_cast<std::uint32_t>(words.size()))]);
        };
        if (random.below(2)) {
            const std::uint32_t a = random.below(10), b = random.below(10);
            text += numbers[a] + std::string(" and ") + numbers[b] + " is " + numbers[a + b] + ".\n";
        } else {
            const std::string giver = any(names), taker = any(names), kind = any(kinds);
            text += giver + " gives " + (giver == taker ? "nobody" : taker) + " a " + kind + ' ' + any(things) + ".\n";
        }
    }
    return text;
}

/// The text in `file` if one is named; else Shakespeare's, input.txt in `folder`/tinyshakespeare,
/// if it is there; else made-up sentences, and a line on `out` that says so. Errors as
/// data::read_text.
inline corpus find_text(const std::string& file, const std::string& folder, std::uint64_t seed,
                        std::FILE* out = stderr) {
    if (!file.empty()) return {file, sinter::data::read_text(file)};
    const std::string shakespeare = folder + "/tinyshakespeare/input.txt";
    struct stat status {};
    if (!folder.empty() && ::stat(shakespeare.c_str(), &status) == 0)
        return {"tinyshakespeare", sinter::data::read_text(shakespeare)};
    std::fputs("No tinyshakespeare/input.txt in a data folder (--data DIR or SINTER_DATA) and no --text FILE: "
               "using sentences that this program makes up.\n", out);
    return {"made-up sentences", made_up_text(8'000, seed)};
}

} // namespace example
