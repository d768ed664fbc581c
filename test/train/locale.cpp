// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE locale
#include <boost/test/unit_test.hpp>
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/features/save.hpp>
#include <sinter/profile/graphviz.hpp>
#include <sinter/profile/html.hpp>
#include <sinter/profile/kernel_table.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/chart.hpp>
#include <sinter/train/export_onnx.hpp>
#include <sinter/train/report.hpp>
#include <clocale>
#include <locale>

// What is written and read is the same under a locale whose decimal sign is a comma: C's
// (setlocale) and C++'s (std::locale).
using namespace sinter;

constexpr auto net = features<8> >> dense<16> >> relu >> dropout<0.25f> >> dense<3>;

struct german : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};
/// Sets both for as long as it lives. C's is made by localedef in a folder of its own, so that none need be installed.
class commas {
public:
    explicit commas(const temporary_folder& folder) {
        const std::string make = "localedef -i de_DE -f UTF-8 '" + (folder / "de_DE.UTF-8") + "' >/dev/null 2>&1";
        if (std::system(make.c_str()) >= 0) {
            ::setenv("LOCPATH", (folder / "").c_str(), 1);
            found_ = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
        }
        old_ = std::locale::global(std::locale(std::locale::classic(), new german));
        if (found_) found_ = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;   // global() may have set C's, too
    }
    ~commas() {
        std::locale::global(old_);
        std::setlocale(LC_ALL, "C");
    }
    bool found() const { return found_; }

private:
    bool found_ = false;
    std::locale old_;
};

static std::vector<std::string> all_written(const temporary_folder& folder) {
    std::vector<std::string> texts;
    estimator model{net, softmax_cross_entropy, adam{}, {.threads = 1}};
    const auto file = [&](const char* name) { texts.push_back(read_bytes(folder / name)); };
    texts.push_back(to_svg({{"Loss", "epoch", "x", {curve{"t", {1.5, 1.25, 0.125, 1e-9, 12345678}}}}}));
    texts.push_back(to_svg({{"Small", "epoch", "x", {curve{"t", {1e-12, 2.5e-12}}}}}));
    metrics::confusion_matrix matrix(3);
    for (int i = 0; i < 7; ++i) {
        const float scores[3] = {0, 1, 0.5f};
        const std::int32_t label = i % 3;
        matrix.add(scores, &label, 1);
    }
    texts.push_back(to_svg(matrix));
    write_html(model, folder / "h.html"), file("h.html");
    write_graphviz(model, folder / "g.dot"), file("g.dot");
    export_onnx(model, folder / "o.onnx"), file("o.onnx");
    model.save(folder / "w"), file("w");
    report r;
    r.program = "p";
    r.loss_by_epoch = {1.5, 0.25};
    r.seconds = 1234.5;
    r.write(folder / "r.json"), file("r.json");
    const named_value seen{"accuracy", 0.75};
    detail::progress_state p{.title = "epoch 1", .done = 1500, .total = 6000, .seconds = 1.5, .loss = 0.125,
                     .metrics = {&seen, 1}};
    texts.push_back(detail::progress_line(p, 100));
    texts.push_back(detail::plain_progress_line(p));
    texts.push_back(profile::short_number(1234567) + profile::bytes_text(1536));
    // Reading: features made from numbers in CSV.
    const std::string csv = write_bytes(folder / "t.csv", "a,b\n1.5,2\n2.25,3\n-0.125,1\n");
    data::features f;
    f.number("a").target("b");
    f.fit(data::csv::read(csv));
    texts.push_back(data::feature_file::text(f));
    write_bytes(folder / "f", texts.back());
    texts.push_back(data::feature_file::text(data::load_features(folder / "f")));
    return texts;
}

BOOST_AUTO_TEST_CASE(a_decimal_comma_changes_nothing) {
    const temporary_folder folder;
    const std::vector<std::string> plain = all_written(folder);
    const commas here(folder);
    char text[8];
    std::snprintf(text, sizeof text, "%.1f", 1.5);
    if (here.found()) BOOST_TEST(std::string(text) == "1,5");   // or the test would prove nothing of C's functions
    else skip("no localedef or no source of de_DE: only C++'s locale is tested");
    std::ostringstream stream;
    stream << 1.5;
    BOOST_TEST(stream.str() == "1,5");
    const std::vector<std::string> with_commas = all_written(folder);
    BOOST_TEST_REQUIRE(with_commas.size() == plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i)
        BOOST_TEST((with_commas[i] == plain[i]), "text " << i << ": " << with_commas[i].substr(0, 400));
}
