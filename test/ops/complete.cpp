// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE complete
#include <boost/test/unit_test.hpp>
#include "support/source_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>

/// Every op's file has its test and its page, both of its name, the page tells the gradient, and
/// ops.hpp includes it. Its second derivative is tested, or its page says that there is none; and
/// some test has it against another framework's numbers.
namespace fs = std::filesystem;

const fs::path top = source_folder();

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

/// Ops whose numbers from elsewhere are not in recorded_ops.hpp or their own test: the test that
/// has them, or why none can.
struct exception {
    std::string op, test, reason;
};
const exception exceptions[] = {
    {"attention", "test/kernel/attention.cpp", ""},
    {"conv2d", "test/ops/windows_pytorch.cpp", ""},
    {"convolution", "test/ops/windows_pytorch.cpp", ""},
    {"convolution_transpose", "test/ops/windows_pytorch.cpp", ""},
    {"max_pool", "test/ops/windows_pytorch.cpp", ""},
    {"avg_pool", "test/ops/windows_pytorch.cpp", ""},
    {"lp_pool", "test/ops/windows_pytorch.cpp", ""},
    {"over_batch", "", "division by the number of examples, which others know as a number"},
    {"over_global_batch", "", "division by the number of examples, which others know as a number"},
    {"table", "", "holds what it is given"},
    {"random_uniform", "", "random numbers are compared with their distribution"},
    {"random_normal", "", "random numbers are compared with their distribution"},
    {"random_truncated_normal", "", "random numbers are compared with their distribution"},
    {"random_bernoulli", "", "random numbers are compared with their distribution"},
    {"random_categorical", "", "random numbers are compared with their distribution"},
    {"random_permutation", "", "random numbers are compared with their distribution"},
};
bool reads_fixtures(const fs::path& test) {
    for (const char* part : {"\"fixtures/", "\"support/recorded.hpp\"", "\"support/pytorch_blocks.hpp\""})
        if (has_line(test, part)) return true;
    return false;
}
bool has_numbers_from_elsewhere(const std::string& name) {
    for (const exception& e : exceptions)
        if (e.op == name) return e.reason.empty() ? reads_fixtures(top / e.test) : true;
    if (reads_fixtures(top / "test/ops" / (name + ".cpp"))) return true;
    if (!has_line(top / "test/fixtures/recorded_ops.hpp", "record " + name + "{")) return false;
    const std::string row = "&f::" + name + ",";
    return has_line(top / "test/ops/recorded_functions.cpp", row) ||
        has_line(top / "test/ops/recorded_arrays.cpp", row);
}

BOOST_AUTO_TEST_CASE(every_op_has_a_test_and_a_page) {
    const fs::path seconds = top / "test/compiler/second_derivatives_of_ops.cpp";
    int ops = 0;
    for (const auto& entry : fs::directory_iterator(top / "include/sinter/ops")) {
        if (entry.path().extension() != ".hpp") continue;
        const std::string name = entry.path().stem().string();
        ++ops;
        const fs::path test = top / "test/ops" / (name + ".cpp");
        BOOST_TEST(fs::exists(test), "ops/" << name << ".hpp has no test/ops/" << name << ".cpp");
        BOOST_TEST(has_line(top / "include/sinter/ops.hpp", "<sinter/ops/" + name + ".hpp>"),
                   "ops.hpp does not include " << name);
        const fs::path page = top / "doc/ops" / (name + ".md");
        BOOST_TEST(fs::exists(page), "ops/" << name << ".hpp has no doc/ops/" << name << ".md");
        BOOST_TEST(has_numbers_from_elsewhere(name),
                   name << " is compared with no other framework's numbers (recorded_ops.py)");
        const std::string gradient = paragraph(page, "Gradient");
        BOOST_TEST(!gradient.empty(), "doc/ops/" << name << ".md has no paragraph **Gradient.**");
        const bool refused = tells(gradient, "no_gradient") || tells(gradient, "gradient_through_loop");
        const bool tested = has_line(seconds, "{\"" + name + "\",") || has_line(test, "CASE(gradients_of_gradients)");
        BOOST_TEST((refused || tells(gradient, "** None") || tested),
                   seconds << " has no row for " << name << ", and doc/ops/" << name << ".md does not refuse it");
        BOOST_TEST(has_line(top / "doc/ops/README.md", "(" + name + ".md)"),
                   "doc/ops/README.md does not list " << name);
    }
    BOOST_TEST(ops > 30);
}
