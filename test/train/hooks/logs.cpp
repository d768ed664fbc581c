// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE logs
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/csv_log.hpp>
#include <sinter/train/hooks/log_steps.hpp>
#include <algorithm>
#include <csignal>
#include <sstream>
#include <sys/resource.h>

// What csv_log and log_steps write.
using namespace sinter;

constexpr auto net = features<1> >> dense<1>;
static auto four() {
    return data::dataset(extents(1), {1, 2, 3, 4}).targets(extents(1), {1, 2, 3, 4}) | data::batch(2);
}
static auto model_of() { return estimator{net, mse, sgd{.learning_rate = 0.01f}, {.threads = 1}}; }
static std::string text_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}
static std::vector<std::string> fields_of(const std::string& line, char separator) {
    std::stringstream in(line + separator);
    std::vector<std::string> all;
    for (std::string f; std::getline(in, f, separator);) all.push_back(f);
    return all;
}

BOOST_AUTO_TEST_CASE(a_table_with_a_line_for_each_epoch) {
    const temporary_folder folder;
    const std::string file = folder / "log.csv";
    auto m = model_of();
    auto data = four(), held_out = four();
    struct {
        void pass_end(training_run& r) { r.result.metrics.push_back({"a;\"b\"", 0.5, false, {}}); }
    } odd;
    const auto h =
        m.train(data, {.epochs = 2, .validation = &held_out, .progress = nullptr, .metrics = {metrics::mae{}}}, odd,
                csv_log(file, {.separator = ';'}));
    std::stringstream lines(text_of(file));
    std::string line;
    std::getline(lines, line);
    BOOST_TEST(line == "epoch;step;examples;seconds;loss;accuracy;val_loss;val_accuracy;val_mae;\"a;\"\"b\"\"\"");
    for (const epoch_result& r : h) {
        std::getline(lines, line);
        const auto f = fields_of(line, ';');
        BOOST_TEST_REQUIRE(f.size() == 10u);
        BOOST_TEST(f[0] == std::to_string(r.epoch));
        BOOST_TEST(f[1] == std::to_string(2 * r.epoch));
        BOOST_TEST(f[2] == "4");
        BOOST_TEST(std::stod(f[4]) == r.loss, boost::test_tools::tolerance(1e-8));
        BOOST_TEST(f[5].empty());   // numbers have no accuracy
        BOOST_TEST(std::stod(f[6]) == r.validation_loss, boost::test_tools::tolerance(1e-8));
        BOOST_TEST(f[7].empty());
        BOOST_TEST(std::stod(f[8]) == r.value("val_mae"), boost::test_tools::tolerance(1e-8));
        BOOST_TEST(f[9] == "0.5");
    }
    BOOST_TEST(!std::getline(lines, line));
}
BOOST_AUTO_TEST_CASE(a_second_run_begins_anew_or_appends) {
    const temporary_folder folder;
    const std::string file = folder / "log.csv";
    auto m = model_of();
    auto data = four();
    const auto lines = [&] {
        const std::string text = text_of(file);
        return std::count(text.begin(), text.end(), '\n');
    };
    m.train(data, {.epochs = 3, .progress = nullptr}, csv_log(file));
    BOOST_TEST(lines() == 4);
    m.train(data, {.epochs = 2, .progress = nullptr}, csv_log(file, {.append = true}));
    BOOST_TEST(lines() == 6);
    m.train(data, {.epochs = 1, .progress = nullptr}, csv_log(file));
    BOOST_TEST(lines() == 2);
    check_error<io_error>([&] { m.train(data, {.progress = nullptr}, csv_log(file + "/log.csv")); }, "", file);
}
BOOST_AUTO_TEST_CASE(a_full_disk_leaves_whole_lines) {   // here a limit of a file's size
    const temporary_folder folder;
    const std::string file = folder / "log.csv";
    auto m = model_of();
    auto data = four();
    m.train(data, {.epochs = 1, .progress = nullptr}, csv_log(file));
    const std::string first = text_of(file);
    rlimit old{}, now{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    now = old;
    now.rlim_cur = first.size() + 10;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &now);
    BOOST_CHECK_THROW(m.train(data, {.progress = nullptr}, csv_log(file, {.append = true})), io_error);
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    BOOST_TEST(text_of(file) == first);
    m.train(data, {.progress = nullptr}, csv_log(file, {.append = true}));
    const std::string both = text_of(file);
    BOOST_TEST(both.starts_with(first));
    BOOST_TEST(std::count(both.begin(), both.end(), '\n') == 3);
}
BOOST_AUTO_TEST_CASE(a_line_every_so_many_steps_or_seconds) {
    const temporary_folder folder;
    const std::string file = folder / "steps.txt";
    static double now;
    const auto written = [&](log_steps_options o, float& last) {
        now = 0;
        auto m = model_of();
        auto data = four();
        struct {
            float& last;
            void after_step(training_run& r, const data::batch_view&) { last = r.loss; }
        } keeps{last};
        std::FILE* const out = std::fopen(file.c_str(), "w");
        o.out = out;
        o.clock = [] { return now += 0.5; };
        m.train(data, {.epochs = 3, .progress = nullptr}, keeps, log_steps(o));
        std::fclose(out);
        return text_of(file);
    };
    float last = 0;
    const std::string steps = written({.every_steps = 3}, last);
    BOOST_TEST(steps.starts_with("step 3: loss "));
    char end[64];
    std::snprintf(end, sizeof end, "step 6: loss %.4f (0.5000 s)\n", static_cast<double>(last));
    BOOST_TEST(steps.ends_with(end));
    BOOST_TEST(std::count(steps.begin(), steps.end(), '\n') == 2);
    // the clock is asked twice at the start, once a step, once a line
    const std::string seconds = written({.every_seconds = 2}, last);
    BOOST_TEST(seconds.starts_with("step 3: loss "));
    BOOST_TEST(seconds.find("\nstep 6: loss ") != std::string::npos);
    BOOST_TEST(std::count(seconds.begin(), seconds.end(), '\n') == 2);
    check_error<option_error>([] { log_steps({}); }, "when it is time", "log_steps", "neither");
}
