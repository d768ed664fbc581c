// SPDX-License-Identifier: BSL-1.0
// shows files: a decimal comma of the locale changes no file, page or message
#define BOOST_TEST_MODULE locale
#include <boost/test/unit_test.hpp>
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/features/save.hpp>
#include <sinter/data/scaling/save.hpp>
#include <sinter/data/transform/split.hpp>
#include <sinter/profile/graphviz.hpp>
#include <sinter/profile/html.hpp>
#include <sinter/profile/kernel_table.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/chart.hpp>
#include <sinter/train/export_onnx.hpp>
#include <sinter/train/hooks/csv_log.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/log_steps.hpp>
#include <sinter/train/hooks/stop_at.hpp>
#include <sinter/train/report.hpp>
#include <algorithm>
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
    const std::vector<double> times{1.5, 2.25, 1e-9};
    const data::scaling s = data::scaling::fit(times, 1);
    data::save(s, folder / "s"), file("s");
    texts.push_back(data::scaling_file::text(data::load_scaling(folder / "s")));
    // hooks, and what errors say
    auto set = data::dataset(extents(8), std::vector<float>(32, 0.5f)).labels({0, 1, 2, 1}) | data::batch(2);
    std::FILE* const steps = std::tmpfile();
    model.train(set, {.epochs = 2, .progress = nullptr}, csv_log(folder / "log.csv"),
                log_steps({.every_steps = 1, .out = steps}));
    std::rewind(steps);
    char line[200];
    while (std::fgets(line, sizeof line, steps))   // the seconds that it took differ
        texts.push_back(std::string(line).substr(0, std::string(line).find(" (")));
    std::fclose(steps);
    std::string log = read_bytes(folder / "log.csv");
    texts.push_back(log.substr(0, log.find('\n')));
    texts.push_back(std::to_string(std::count(log.begin(), log.end(), ',')));
    const auto error_of = [&](auto f) {
        try {
            f();
        } catch (const error& e) {
            texts.push_back(e.what());
        }
    };
    error_of([] { estimator{net, softmax_cross_entropy, adam{.beta1 = 1.5f}}; });
    error_of([&] { trainer(net, softmax_cross_entropy, sgd{.learning_rate = -0.125f}).step(*set.next()); });
    error_of([] { (void)data::bucketized("a", {2.5, 1.5}); });
    error_of([] { (void)data::split_places(4, std::vector<double>{0.5, 0.25}); });
    error_of([] { stop_at({.seconds = -0.5}); });
    error_of([] { early_stop({.min_delta = -1.5}); });
    error_of([] {
        const float p = 1.5f, t = 1;
        metrics::auc().add(&p, &t, 1);
    });
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
