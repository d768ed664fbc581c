// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE progress
#include <boost/test/unit_test.hpp>
#include <sinter/train/progress.hpp>
#include "support/captured.hpp"
#include <algorithm>
#include <vector>

using namespace sinter;
using test::captured;

static double now = 0;
static double test_clock() { return now; }

static detail::progress_state halfway() {
    static const named_value metrics[] = {{"accuracy", 0.8889}};
    detail::progress_state p;
    p.title = "epoch 2/5";
    p.done = 30000, p.total = 60000, p.seconds = 2.5, p.loss = 0.25;
    p.metrics = metrics;
    return p;
}

BOOST_AUTO_TEST_CASE(a_wide_line_has_everything) {
    BOOST_TEST(detail::progress_line(halfway(), 140) ==
               "epoch 2/5 [================>               ]  50%  30,000/60,000  12,000 examples/s  eta 0:03  "
               "loss 0.2500  accuracy 0.8889");
}

BOOST_AUTO_TEST_CASE(no_line_is_wider_than_the_terminal) {
    for (int width = 0; width < 160; ++width)
        BOOST_TEST(detail::progress_line(halfway(), width).size() <= static_cast<std::size_t>(width));
    BOOST_TEST(detail::progress_line(halfway(), 60) == "epoch 2/5  50%  eta 0:03  loss 0.2500  accuracy 0.8889");
}

BOOST_AUTO_TEST_CASE(the_end_shows_the_time_taken_and_an_unknown_total_no_share) {
    detail::progress_state p = halfway();
    p.done = 60000, p.seconds = 3725;
    BOOST_TEST(detail::progress_line(p, 140).find("[================================] 100%") != std::string::npos);
    BOOST_TEST(detail::progress_line(p, 140).find("  1:02:05  loss") != std::string::npos);
    p.total = 0;
    BOOST_TEST(detail::progress_line(p, 140) == "epoch 2/5  60,000  16 examples/s  loss 0.2500  accuracy 0.8889");
    p.loss = std::numeric_limits<double>::quiet_NaN();
    BOOST_TEST(detail::plain_progress_line(p) == "epoch 2/5: 60,000 examples, 1:02:05, 16 examples/s  accuracy 0.8889");
    // A quotient of zeros has a sign on some processors, which says nothing.
    const named_value none[] = {{"f1", -std::numeric_limits<double>::quiet_NaN()}};
    p.metrics = none;
    BOOST_TEST(detail::plain_progress_line(p).ends_with("  f1 nan"));
}

BOOST_AUTO_TEST_CASE(a_terminal_line_is_redrawn_at_most_ten_times_a_second) {
    const captured out;
    now = 100;
    progress bar(out.file, {.style = progress_style::terminal, .clock = test_clock});
    bar.begin("epoch 1/1", 1000);
    for (int i = 1; i <= 1000; ++i) {
        now = 100 + i * 0.001;   // one second in all
        bar.update(i, 1.0);
    }
    bar.finish();
    const std::string text = out.text();
    const auto drawn = std::count(text.begin(), text.end(), '\r');
    BOOST_TEST(drawn >= 9);
    BOOST_TEST(drawn <= 12);
    BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 1);
    BOOST_TEST(text.back() == '\n');
    BOOST_TEST(text.find("\r\x1b[K") == std::string::npos);   // erased behind the line, never before it
    BOOST_TEST(text.find("1,000/1,000") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_file_gets_whole_lines_now_and_then) {
    const captured out;
    now = 0;
    {
        progress lines(out.file, {.unit = "examples", .clock = test_clock});   // a file is no terminal
        BOOST_TEST(!lines.on_terminal());
        for (int pass = 1; pass <= 2; ++pass) {
            lines.begin("epoch " + std::to_string(pass) + "/2", 100);
            for (int i = 1; i <= 25; ++i) {
                now += 1;
                lines.update(4 * i, 0.5);
            }
            lines.finish(0.25);
        }
    }
    BOOST_TEST(out.text() == "epoch 1/2: 40/100 examples, 0:10, 4 examples/s  loss 0.5000\n"
                             "epoch 1/2: 80/100 examples, 0:20, 4 examples/s  loss 0.5000\n"
                             "epoch 1/2: 100/100 examples, 0:25, 4 examples/s  loss 0.2500\n"
                             "epoch 2/2: 40/100 examples, 0:10, 4 examples/s  loss 0.5000\n"
                             "epoch 2/2: 80/100 examples, 0:20, 4 examples/s  loss 0.5000\n"
                             "epoch 2/2: 100/100 examples, 0:25, 4 examples/s  loss 0.2500\n");
}

BOOST_AUTO_TEST_CASE(what_follows_the_last_example_does_not_count) {
    for (const progress_style style : {progress_style::plain, progress_style::terminal}) {
        const captured out;
        now = 50;
        progress bar(out.file, {.style = style, .bar_every = 1000, .clock = test_clock});
        for (int pass = 1; pass <= 2; ++pass) {   // the clock runs again in the next pass
            bar.begin("epoch " + std::to_string(pass), 100);
            now += 2;
            bar.update(100, 0.5);
            bar.stop_clock();
            now += 60;   // validation
            const named_value metrics[] = {{"val_loss", 0.75}};
            bar.finish(0.25, metrics);
        }
        const std::string text = out.text();
        if (style == progress_style::plain) {
            BOOST_TEST(text == "epoch 1: 100/100 examples, 0:02, 50 examples/s  loss 0.2500  val_loss 0.7500\n"
                               "epoch 2: 100/100 examples, 0:02, 50 examples/s  loss 0.2500  val_loss 0.7500\n");
        } else {
            // full, while validation runs
            BOOST_TEST(text.find("50 examples/s  0:02  loss 0.5000\x1b") != std::string::npos);
            BOOST_TEST(text.find("50 examples/s  0:02  loss 0.2500") != std::string::npos);
            BOOST_TEST(text.find("1:02") == std::string::npos);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_interrupted_bar_ends_its_line) {
    const captured out;
    {
        progress bar(out.file, {.style = progress_style::terminal, .clock = test_clock});
        bar.begin("epoch 1/1", 10);
        bar.update(1, 1.0);
    }
    BOOST_TEST(out.text().back() == '\n');
}
