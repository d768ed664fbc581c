// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/data/source/csv/table.hpp>
#include <sys/stat.h>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace example {

/// Who was shown what, and whether a click came of it: six facts of an impression, each a 64-bit
/// key (the hash of its name and value), and 1 for a click. The last quarter is for testing.
struct clicks {
    static constexpr int facts = 6;
    std::string name;
    std::vector<std::int32_t> keys;     ///< [examples, facts, 2]: the low half of each first
    std::vector<std::int32_t> clicked;

    /// Hashes of 64 bits of millions of values differ, but for one chance in thousands.
    void add(const std::string& fact) {
        const std::uint64_t key = sinter::base::fnv1a(fact);
        keys.push_back(static_cast<std::int32_t>(key & 0xffffffffu));
        keys.push_back(static_cast<std::int32_t>(key >> 32));
    }
    sinter::data::dataset part(bool test) const {
        const std::size_t n = clicked.size(), cut = n - n / 4, from = test ? cut : 0, to = test ? n : cut;
        const auto range = [&](const std::vector<std::int32_t>& x, std::size_t each) {
            return std::vector<std::int32_t>(x.begin() + static_cast<std::ptrdiff_t>(from * each),
                                             x.begin() + static_cast<std::ptrdiff_t>(to * each));
        };
        return sinter::data::dataset()
            .input(sinter::extents(facts, 2), range(keys, 2 * facts))
            .labels(range(clicked, 1), 2);
    }
};

/// Impressions that the program makes up: very many users, each of a taste that only clicks show.
inline clicks made_up_clicks(int n, std::uint64_t seed) {
    clicks c{"made-up clicks", {}, {}};
    for (int i = 0; i < n; ++i) {
        sinter::random_stream r(sinter::base::stream(seed, sinter::base::fnv1a("example/clicks")),
                                static_cast<std::uint64_t>(i));
        const auto often = [&](std::uint32_t most) {   // few are seen often, most seldom
            const float u = r.uniform();
            return static_cast<std::uint32_t>(static_cast<float>(most) * u * u * u);
        };
        const std::uint32_t user = often(10'000'000), item = often(100'000), hour = r.below(24);
        const std::uint32_t taste = user * 2654435761u % 7, kind = item * 2246822519u % 7;
        c.add("user=" + std::to_string(user));
        c.add("item=" + std::to_string(item));
        c.add("taste=" + std::to_string(taste));
        c.add("kind=" + std::to_string(kind));
        c.add("hour=" + std::to_string(hour));
        c.add("taste,kind=" + std::to_string(taste) + "," + std::to_string(kind));
        c.clicked.push_back(r.uniform() < (taste == kind ? 0.4f : 0.05f));
    }
    return c;
}
/// The Open Bandit Dataset's impressions, in turns of campaigns, where a folder has them; else
/// made-up ones.
inline clicks find_clicks(const std::string& folder, std::uint64_t seed, std::FILE* out = stderr) {
    using namespace sinter::data;
    for (const std::string& place : {folder, folder + "/openbandit/random"}) {
        struct stat status {};
        if (folder.empty() || ::stat((place + "/men/men.csv").c_str(), &status) != 0) continue;
        const csv::table tables[] = {csv::read(place + "/men/men.csv"), csv::read(place + "/women/women.csv")};
        clicks c{"Open Bandit Dataset", {}, {}};
        for (std::int64_t row = 0; row < std::min(tables[0].rows(), tables[1].rows()); ++row)
            for (int t = 0; t < 2; ++t) {
                const auto value = [&](const char* column) {
                    return std::string(tables[t].at(row, tables[t].column(column)).text);
                };
                const std::string campaign = t ? "women," : "men,", item = campaign + value("item_id");
                for (const char* column : {"user_feature_0", "user_feature_1", "user_feature_2"})
                    c.add(column + ("=" + value(column)));
                c.add("item=" + item);
                c.add("position=" + value("position"));
                c.add("user,item=" + value("user_feature_3") + "," + item);
                c.clicked.push_back(value("click") == "1");
            }
        return c;
    }
    std::fputs("No openbandit in a data folder (--data DIR or SINTER_DATA): using clicks that this program makes up.\n",
               out);
    return made_up_clicks(200'000, seed);
}

} // namespace example
