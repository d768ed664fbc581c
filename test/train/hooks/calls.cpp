// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE hook_calls
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/stop_at.hpp>
#include <sinter/train/hooks/validate.hpp>
#include <cmath>

// Which calls hooks get, in which order, and what they may ask for.
using namespace sinter;

constexpr auto net = features<1> >> dense<1>;

static auto four() {
    return data::dataset(extents(1), {1, 2, 3, 4}).targets(extents(1), {1, 2, 3, 4}) | data::batch(2);
}
static auto model_of(float rate = 0.01f) { return estimator{net, mse, sgd{.learning_rate = rate}, {.threads = 1}}; }

/// Writes down every call.
struct recorder {
    std::string* text;
    char name;
    std::int64_t stop_at_step = 0;

    void note(const char* call, const training_run& run) {
        *text += name;
        *text += ':';
        ((*text += call) += std::to_string(run.epoch)) += ' ';
    }
    void resume(training_run& r) { note("resume", r); }
    void begin(training_run& r) { note("begin", r); }
    void epoch_begin(training_run& r) { note("epoch", r); }
    void before_step(training_run& r, const data::batch_view& b) {
        note("before", r);
        BOOST_TEST(b.size == 2);
    }
    template <class Run>   // one call may take the run as it is, another as a base
    void after_step(Run& r, const data::batch_view&) {
        note("after", r);
        BOOST_TEST(r.step == r.model.steps());
        BOOST_TEST(std::isfinite(r.loss));
        if (r.step == stop_at_step) r.stop("enough");
    }
    void pass_stopped(training_run& r) { note("stopped", r); }
    void pass_end(training_run& r) { note("pass", r); }
    void epoch_end(training_run& r) { note("end", r); }
    void end(training_run& r) { note("over", r); }
};
static std::string both(const std::string& calls) {   // of a, then of b
    std::string all;
    for (std::size_t at = 0, next; (next = calls.find(' ', at)) != std::string::npos; at = next + 1)
        for (const char* who : {"a:", "b:"}) ((all += who) += calls.substr(at, next - at)) += ' ';
    return all;
}

BOOST_AUTO_TEST_CASE(calls_come_in_order) {
    auto m = model_of();
    auto data = four();
    std::string text;
    recorder a{&text, 'a'};
    const auto h = m.train(data, {.epochs = 2, .progress = nullptr}, a, recorder{&text, 'b'});
    BOOST_TEST(h.size() == 2u);
    const std::string expected = both("resume0 begin0 epoch1 before1 after1 before1 after1 pass1 end1 "
                                      "epoch2 before2 after2 before2 after2 pass2 end2 over2 ");
    BOOST_TEST(text == expected);
}
BOOST_AUTO_TEST_CASE(a_stop_within_a_pass) {
    auto m = model_of();
    auto data = four();
    std::string text;
    recorder a{&text, 'a', 3}, b{&text, 'b'};
    const auto h = m.train(data, {.epochs = 9, .progress = nullptr}, a, b);
    BOOST_TEST(m.inner().steps() == 3);
    BOOST_TEST(h.size() == 2u);
    BOOST_TEST(h[1].examples == 2);
    const std::string end = both("epoch2 before2 after2 stopped2 pass2 end2 over2 ");
    BOOST_TEST_REQUIRE(text.size() > end.size());
    BOOST_TEST(text.substr(text.size() - end.size()) == end);
}
BOOST_AUTO_TEST_CASE(a_stop_before_the_first_step) {
    struct {
        std::string why;
        void begin(training_run& r) { r.stop("not today"); }
        void after_step(training_run&, const data::batch_view&) { BOOST_TEST(false); }
        void end(training_run& r) { why = r.why_stopped(); }
    } never;
    auto m = model_of();
    auto data = four();
    BOOST_TEST(m.train(data, {.epochs = 2, .progress = nullptr}, never).empty());
    BOOST_TEST(m.inner().steps() == 0);
    BOOST_TEST(never.why == "not today");
}
BOOST_AUTO_TEST_CASE(the_first_reason_is_kept) {
    training_run run;
    BOOST_TEST(!run.stopping());
    run.stop("one");
    run.stop("two");
    BOOST_TEST(run.stopping());
    BOOST_TEST(run.why_stopped() == "one");
}
BOOST_AUTO_TEST_CASE(functions_are_hooks) {
    auto m = model_of();
    auto data = four();
    int seen = 0;
    const auto h = m.train(data, {.epochs = 5, .progress = nullptr}, [&](const epoch_result& r) { seen += r.epoch; },
                           [](const epoch_result& r) { return r.epoch < 3; });
    BOOST_TEST(h.size() == 3u);
    BOOST_TEST(seen == 6);
}
/// What hooks put into the result at a pass's end is there at the epoch's end, in train()'s answer and by name.
BOOST_AUTO_TEST_CASE(hooks_measure) {
    struct {
        double seen = 0;
        void pass_end(training_run& r) {
            r.result.metrics.push_back({"steps", static_cast<double>(r.step), false, {}});
        }
        void epoch_end(training_run& r) { seen = r.result.value("steps"); }
    } counts;
    auto m = model_of();
    auto data = four(), held_out = four(), other = four();
    validate elsewhere(other, {}, "test_");
    const auto h = m.train(data, {.epochs = 2, .validation = &held_out, .progress = nullptr}, counts, elsewhere);
    BOOST_TEST(counts.seen == 4);
    BOOST_TEST(h[0].value("steps") == 2);
    BOOST_TEST(h[1].value("test_loss") == h[1].validation_loss);
    BOOST_TEST(h[1].value("test_loss") == m.evaluate(other).loss);
}
/// An exception leaves the model as the last step left it, and later hooks uncalled; the same model and data go on.
BOOST_AUTO_TEST_CASE(exceptions_come_out) {
    auto m = model_of(), undisturbed = model_of();
    auto data = four(), whole = four();
    std::string text;
    struct {
        void after_step(training_run& r, const data::batch_view&) {
            if (r.step == 3) throw data_error("no more", "a hook");
        }
    } throws;
    recorder last{&text, 'l'};
    check_error<data_error>([&] { m.train(data, {.epochs = 9, .progress = nullptr}, throws, last); }, "no more",
                            "a hook");
    BOOST_TEST(m.inner().steps() == 3);
    BOOST_TEST(text.ends_with("l:after1 l:pass1 l:end1 l:epoch2 l:before2 "));
    m.train(data, {.epochs = 1, .progress = nullptr});
    undisturbed.train(whole, {.epochs = 2, .progress = nullptr});
    BOOST_TEST(m.inner().plain(m.inner().parameter(0))[0] ==
               undisturbed.inner().plain(undisturbed.inner().parameter(0))[0]);
}
BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_may_end_training_quietly) {
    auto m = model_of(1e30f);
    auto data = four();
    std::string why;
    struct ending {
        std::string& why;
        void end(training_run& r) { why = r.why_stopped(); }
    };
    check_error<data_error>([&] { m.train(data, {.epochs = 5, .progress = nullptr}); }, "not finite", "step");
    auto again = model_of(1e30f);
    data.rewind();
    const auto h = again.train(data, {.epochs = 5, .progress = nullptr, .not_finite = on_not_finite::stop},
                               ending{why});
    BOOST_TEST(h.size() == 1u);
    BOOST_TEST(std::isfinite(h[0].loss));
    BOOST_TEST(why == "the loss is not finite");
    BOOST_TEST(std::isfinite(again.inner().plain(again.inner().parameter(0))[0]));
}
BOOST_AUTO_TEST_CASE(stop_at_steps_time_and_losses) {
    auto m = model_of();
    auto data = four();
    m.train(data, {.epochs = 9, .progress = nullptr}, stop_at({.step = 5}));
    BOOST_TEST(m.inner().steps() == 5);
    BOOST_TEST(m.train(data, {.epochs = 9, .progress = nullptr}, stop_at({.step = 5})).empty());
    static double now;
    now = 0;
    m.train(data, {.epochs = 9, .progress = nullptr}, stop_at({.seconds = 2.5, .clock = [] { return now += 1; }}));
    BOOST_TEST(m.inner().steps() == 8);
    const auto h = m.train(data, {.epochs = 9, .progress = nullptr}, stop_at({.loss_above = 0}));
    BOOST_TEST(h.size() == 1u);
    BOOST_TEST(h[0].examples == 2);
    check_error<option_error>([] { stop_at({.step = -1}); }, "number of steps", "stop_at", "-1");
    check_error<option_error>([] { stop_at({.seconds = NAN}); }, "seconds", "stop_at", "nan");
}
