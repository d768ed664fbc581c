// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE list_files
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include "support/stage_places.hpp"
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/list_files.hpp>
#include <algorithm>
#include <set>

using namespace sinter;

namespace {
using texts = std::vector<std::string>;
} // namespace

BOOST_AUTO_TEST_CASE(paths_of_patterns) {
    temporary_folder folder;
    for (const char* name : {"b1", "a1", "a2", "c", ".h", "a10"}) write_bytes(folder / name, "");
    const auto listed = [&](data::file_paths patterns) {
        std::vector<std::string> whole;
        for (const std::string& p : patterns) whole.push_back(folder / p);
        return elements_from_everywhere(data::list_files(whole, {.shuffle = false}), [&](const std::string& p) {
            BOOST_TEST(p.starts_with(folder / ""));
            return p.substr(folder.path().size() + 1);
        });
    };
    // As tf.data.Dataset.list_files has them, but for names that begin with a dot, and those that are found twice.
    BOOST_TEST((listed({"a*", "*1"}) == texts{"a1", "a10", "a2", "b1"}));
    BOOST_TEST((listed("*") == texts{"a1", "a10", "a2", "b1", "c"}));
    BOOST_TEST((listed("[ab]?") == texts{"a1", "a2", "b1"}));
    BOOST_TEST((listed({"zz*", "c"}) == texts{"c"}));
    BOOST_TEST((listed(".*h") == texts{".h"}));
    check_error<data_error>([&] { listed({"zz*", "no?"}); }, "no files match", folder / "zz*, ");
    check_error<data_error>([&] { data::list_files(folder / "no/*"); }, "no files match", "no/*");
    check_error<option_error>([] { data::list_files(std::vector<std::string>{}); }, "no files to read", "list_files");
    check_error<io_error>([&] { data::list_files(std::string("a\0b", 3)); }, "a path has a zero byte", "");
}

BOOST_AUTO_TEST_CASE(shuffled_each_pass) {
    temporary_folder folder;
    texts all;
    for (char c = 'a'; c <= 'z'; ++c) all.push_back(write_bytes(folder / std::string(1, c), ""));
    const auto order = [&](std::uint64_t seed, std::int64_t pass) {
        const auto files = data::list_files(folder / "*", {.seed = seed});
        BOOST_TEST(files.size() == 26);
        return elements_from_everywhere(files, [](const std::string& p) { return p; }, pass);
    };
    std::set<texts> orders;
    for (std::uint64_t seed = 0; seed < 3; ++seed)
        for (std::int64_t pass = 0; pass < 3; ++pass) {
            const texts o = order(seed, pass);
            BOOST_TEST((o == order(seed, pass)));
            BOOST_TEST((std::is_permutation(o.begin(), o.end(), all.begin())));
            orders.insert(o);
        }
    BOOST_TEST(orders.size() == 9u);
    BOOST_TEST((orders.find(all) == orders.end()));
}
