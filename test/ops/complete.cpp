// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE complete
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <string>

/// Every op's file has its test and its page, both of its name, the page tells the gradient, and ops.hpp includes it. Its second
/// derivative is tested, or its page says that there is none.
namespace fs = std::filesystem;

const fs::path top = fs::absolute(__FILE__).parent_path().parent_path().parent_path();

bool has_line(const fs::path& file, const std::string& part) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.find(part) != std::string::npos) return true;
    return false;
}

/// The text of a page's paragraph, as one line.
std::string paragraph(const fs::path& page, const std::string& head) {
    std::ifstream in(page);
    std::string all;
    for (std::string line; std::getline(in, line) && !(line.empty() && !all.empty());)
        if (!all.empty() || line.starts_with("**" + head + ".**")) all += line + ' ';
    return all;
}
bool tells(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_CASE(every_op_has_a_test_and_a_page) {
    const fs::path seconds = top / "test/program/second_derivatives_of_ops.cpp";
    int ops = 0;
    for (const auto& entry : fs::directory_iterator(top / "include/sinter/ops")) {
        if (entry.path().extension() != ".hpp") continue;
        const std::string name = entry.path().stem().string();
        ++ops;
        BOOST_TEST(fs::exists(top / "test/ops" / (name + ".cpp")), "ops/" << name << ".hpp has no test/ops/" << name << ".cpp");
        BOOST_TEST(has_line(top / "include/sinter/ops.hpp", "<sinter/ops/" + name + ".hpp>"), "ops.hpp does not include " << name);
        const fs::path page = top / "doc/ops" / (name + ".md");
        BOOST_TEST(fs::exists(page), "ops/" << name << ".hpp has no doc/ops/" << name << ".md");
        const std::string gradient = paragraph(page, "Gradient");
        BOOST_TEST(!gradient.empty(), "doc/ops/" << name << ".md has no paragraph **Gradient.**");
        const bool refused = tells(gradient, "no_gradient") || tells(gradient, "gradient_through_loop");
        BOOST_TEST((refused || tells(gradient, "** None") || has_line(seconds, "{\"" + name + "\",")),
                   seconds << " has no row for " << name << ", and doc/ops/" << name << ".md does not refuse it");
        BOOST_TEST(has_line(top / "doc/ops/README.md", "(" + name + ".md)"), "doc/ops/README.md does not list " << name);
    }
    BOOST_TEST(ops > 30);
}
