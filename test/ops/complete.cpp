// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE complete
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <string>

/// Every op's file has its test and its page, both of its name, the page tells the gradient, and ops.hpp includes it.
namespace fs = std::filesystem;

const fs::path top = fs::absolute(__FILE__).parent_path().parent_path().parent_path();

bool has_line(const fs::path& file, const std::string& part) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.find(part) != std::string::npos) return true;
    return false;
}

BOOST_AUTO_TEST_CASE(every_op_has_a_test_and_a_page) {
    int ops = 0;
    for (const auto& entry : fs::directory_iterator(top / "include/sinter/ops")) {
        if (entry.path().extension() != ".hpp") continue;
        const std::string name = entry.path().stem().string();
        ++ops;
        BOOST_TEST(fs::exists(top / "test/ops" / (name + ".cpp")), "ops/" << name << ".hpp has no test/ops/" << name << ".cpp");
        BOOST_TEST(has_line(top / "include/sinter/ops.hpp", "<sinter/ops/" + name + ".hpp>"), "ops.hpp does not include " << name);
        const fs::path page = top / "doc/ops" / (name + ".md");
        BOOST_TEST(fs::exists(page), "ops/" << name << ".hpp has no doc/ops/" << name << ".md");
        BOOST_TEST(has_line(page, "Gradient"), "doc/ops/" << name << ".md says nothing about the gradient");
        BOOST_TEST(has_line(top / "doc/ops/README.md", "(" + name + ".md)"), "doc/ops/README.md does not list " << name);
    }
    BOOST_TEST(ops > 30);
}
