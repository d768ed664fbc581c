// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE paths_like
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include <sinter/base/os/paths_like.hpp>

using namespace sinter::base;

namespace {

BOOST_AUTO_TEST_CASE(patterns) {
    using texts = std::vector<std::string>;
    const temporary_folder folder;
    std::filesystem::create_directories(folder / "sub/deep");
    for (const char* name : {"b", "a", "a2", "A", ".h", "*", "sub/x", "sub/deep/x"}) write_bytes(folder / name, "");
    const auto of = [&](const std::string& pattern) {
        int fault = -1;
        texts all = os::paths_like(folder / pattern, fault);
        BOOST_TEST(fault == 0);
        for (std::string& path : all) path.erase(0, folder.path().size() + 1);
        return all;
    };
    BOOST_TEST((of("*") == texts{"*", "A", "a", "a2", "b", "sub"}));
    BOOST_TEST((of("a?") == texts{"a2"}));
    BOOST_TEST((of("[!a]") == texts{"*", "A", "b"}));
    BOOST_TEST((of("\\*") == texts{"*"}));
    BOOST_TEST((of("*/x") == texts{"sub/x"}));
    BOOST_TEST((of("*/*/x") == texts{"sub/deep/x"}));
    BOOST_TEST((of("b") == texts{"b"}));
    BOOST_TEST((of(".?") == texts{"..", ".h"}));
    BOOST_TEST(of("none*").empty());
    BOOST_TEST(of("none/*").empty());
    BOOST_TEST(of("b/*").empty());
}

} // namespace
