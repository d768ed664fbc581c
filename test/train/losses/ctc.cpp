// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE ctc
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sinter/sinter.hpp>
#include <sinter/train/decode/ctc_greedy.hpp>
#include <sinter/train/losses/ctc.hpp>

#include "io/error_parts.hpp"

// From batches to what was said. The op itself is tested in ops/ctc_loss.cpp.
using namespace sinter;
constexpr int frames = 8, classes = 4, longest = 3, examples = 6;

/// Each frame shows, one-hot and for a random while, one of the labels or nothing; the classes must be found out.
constexpr auto net = array<frames, classes> >> dense<classes>;
constexpr auto loss = ctc<longest, ctc_options{.blank = -1, .frames = frames}>;

struct sequences {
    std::vector<float> x = std::vector<float>(examples * frames * classes);
    std::vector<std::int32_t> labels = std::vector<std::int32_t>(examples * longest, -1), lengths;
    sequences() {
        for (int i = 0; i < examples; ++i) {
            int at = i % 2;
            auto show = [&](int c) { x[static_cast<std::size_t>((i * frames + at++) * classes + c)] = 1; };
            for (int k = 0; k < 1 + i % longest; ++k) {
                const int label = (i + 2 * k) % 3;
                labels[static_cast<std::size_t>(i * longest + k)] = label;
                show(label);
                if (i > 2) show(3);
            }
            lengths.push_back(at);
        }
    }
    std::vector<std::int32_t> said(int i) const {
        const auto* const l = labels.data() + i * longest;
        return {l, std::find(l, l + longest, -1)};
    }
    data::dataset set() const {
        return data::dataset(extents(frames, classes), x).labels(extents(longest), labels).labels(extents(1), lengths);
    }
};
BOOST_AUTO_TEST_CASE(learns_what_is_said) {
    const sequences s;
    estimator model{net, loss, adam{.learning_rate = 0.05f}, max_batch<examples>, {.threads = 1}};
    auto p = s.set() | data::batch(examples);
    const auto history = model.train(p, {.epochs = 300, .progress = nullptr});
    BOOST_TEST(history.back().loss < 0.05);
    BOOST_TEST(history.front().loss > 1);
    p.rewind();
    const auto y = model.predict(*p.next());
    for (int i = 0; i < examples; ++i) {
        const auto said = decode::ctc_greedy(y.data() + i * frames * classes, s.lengths[static_cast<std::size_t>(i)],
                                             classes, 3);
        BOOST_TEST(said == s.said(i));
    }
}
BOOST_AUTO_TEST_CASE(labels_and_lengths_in_their_range) {
    trainer<std::remove_cvref_t<decltype(net)>, std::remove_cvref_t<decltype(loss)>, sgd,
            examples> t(sgd{}, {.threads = 1});
    sequences s;
    auto refuse = [&](const char* element, const char* got, const char* needed) {
        auto p = s.set() | data::batch(examples);
        check_error<data_error>([&] { t.step(*p.next()); }, "label out of range", element, got, needed);
    };
    s.labels[4] = classes;
    refuse("element 4", "4", "0 to 3, or -1");
    s.labels[4] = -1;
    s.lengths[2] = frames + 1;
    refuse("element 2", "9", "0 to 8");
}
BOOST_AUTO_TEST_CASE(what_cannot_be_said) {
    const float x[2 * frames * classes] = {};
    // two equal labels need three frames
    const std::int32_t labels[2 * longest] = {0, 0, -1, 1, -1, -1}, lengths[2] = {2, 1};
    const data::input_view columns[2] = {{.indices = labels, .width = longest}, {.indices = lengths, .width = 1}};
    const data::batch_view b{.x = x, .size = 2, .targets = columns};
    trainer<std::remove_cvref_t<decltype(net)>, std::remove_cvref_t<decltype(loss)>, sgd, 2> t(sgd{}, {.threads = 1});
    BOOST_TEST(t.evaluate(b) == INFINITY);
    using lenient = ctc_loss_of<longest, ctc_options{.blank = -1, .frames = frames, .leaves_out_impossible = true}>;
    trainer<std::remove_cvref_t<decltype(net)>, lenient, sgd, 2> u(sgd{}, {.threads = 1});
    BOOST_TEST(u.step(b) == std::log(4.f) / 2, boost::test_tools::tolerance(1e-5f));
    for (float w : u.plain(u.parameter(1))) BOOST_TEST(std::isfinite(w));
}
