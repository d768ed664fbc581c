// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE clicks
#include <boost/test/unit_test.hpp>
#include "../../examples/common/clicks.hpp"
#include <algorithm>
#include <filesystem>
#include <set>

#include "io/temporary_folder.hpp"

// The example's impressions: the Open Bandit Dataset's files, as they are laid out and headed, else made-up ones.
namespace {

/// Rows of a campaign as the dataset has them: other columns stand between those that are read.
std::string table(int rows, const char* letter) {
    std::string text = ",timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1,"
                       "user_feature_2,user_feature_3,user-item_affinity_0\n";
    for (int i = 0; i < rows; ++i) {
        const std::string n = std::to_string(i), u = std::string(letter) + n;
        text += n + ",2019-11-24 00:00:01," + std::to_string(i % 3) + ',' + std::to_string(1 + i % 2) + ',' +
                std::to_string(i % 4 == 0) + ",0.0125,a" + u + ",b" + u + ",c" + u + ",d" + u + ",0.0\n";
    }
    return text;
}
example::clicks found(const std::string& folder, std::string& said) {
    std::FILE* out = std::tmpfile();
    example::clicks c = example::find_clicks(folder, 1, out);
    std::rewind(out);
    for (int k; (k = std::fgetc(out)) != EOF;) said += static_cast<char>(k);
    std::fclose(out);
    return c;
}

} // namespace

BOOST_AUTO_TEST_CASE(files_are_found_here_or_in_a_data_folder) {
    const temporary_folder folder;
    for (const char* campaign : {"men", "women"}) {
        std::filesystem::create_directories(folder / (std::string("data/openbandit/random/") + campaign).c_str());
        write_bytes(folder / ("data/openbandit/random/" + std::string(campaign) + '/' + campaign + ".csv").c_str(),
                    table(*campaign == 'm' ? 9 : 8, campaign));
    }
    for (const char* place : {"data", "data/openbandit/random"}) {
        std::string said;
        const example::clicks c = found(folder / place, said);
        BOOST_TEST(said == "");
        BOOST_TEST(c.name == "Open Bandit Dataset");
        BOOST_TEST(c.clicked.size() == 16u);   // as many of each campaign as the smaller one has, in turns
        BOOST_TEST(c.keys.size() == 16u * 6 * 2);
        BOOST_TEST(std::count(c.clicked.begin(), c.clicked.end(), 1) == 4);
        BOOST_TEST((c.clicked[0] == 1 && c.clicked[1] == 1 && c.clicked[2] == 0));
        const auto key = [&](std::size_t row, std::size_t fact) {
            return std::pair{c.keys[12 * row + 2 * fact], c.keys[12 * row + 2 * fact + 1]};
        };
        BOOST_TEST((key(0, 3) != key(1, 3)));   // item 0 of either campaign is another one
        BOOST_TEST((key(0, 3) == key(6, 3)));   // and is the same three rows later
        BOOST_TEST((key(0, 4) == key(1, 4)));   // position 1
        std::set<std::pair<int, int>> users;
        for (std::size_t row = 0; row < 16; ++row) users.insert(key(row, 0));
        BOOST_TEST(users.size() == 16u);
        const sinter::data::dataset train = c.part(false), test = c.part(true);
        BOOST_TEST(train.size() == 12);
        BOOST_TEST(test.size() == 4);
        BOOST_TEST(test.labels()[0] == c.clicked[12]);
    }
}
BOOST_AUTO_TEST_CASE(without_files_they_are_made_up) {
    const temporary_folder folder;
    std::string said;
    const example::clicks c = found(folder / "nothing", said);
    BOOST_TEST(said.find("using clicks that this program makes up") != said.npos);
    BOOST_TEST(c.clicked.size() == 200'000u);
    const auto n = std::count(c.clicked.begin(), c.clicked.end(), 1);
    BOOST_TEST((n > 10'000 && n < 40'000), n);
    const std::vector<std::int32_t> first(c.keys.begin(), c.keys.begin() + 600);
    BOOST_TEST((example::made_up_clicks(50, 1).keys == first));
}
