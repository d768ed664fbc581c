// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE carried
#include <boost/test/unit_test.hpp>

#include <sinter/layers/lstm.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/checkpoint/load_weights.hpp>
#include <sinter/train/predictor.hpp>

#include <vector>

#include "io/temporary_folder.hpp"

using namespace sinter;

/// A recurrent layer's state that goes from batch to batch: two halves of a sequence are the whole one.
static constexpr int B = 3, F = 4, H = 5;

constexpr recurrent_options in_pieces{.carried = true};
constexpr auto half = array<2, F> >> lstm<H, in_pieces> >> dense<1>;
constexpr auto whole = array<4, F> >> lstm<H> >> dense<1>;
template <class Net>
using trained = trainer<std::remove_const_t<Net>, mse_loss, sgd, B>;

static std::vector<float> numbers(int n, int seed) {
    std::vector<float> x;
    for (int i = 0; i < n; ++i) x.push_back(static_cast<float>((i * 37 + seed) % 19 - 9) / 8.f);
    return x;
}
/// Steps [from, from + n) of each example of x [B, 4, width].
static std::vector<float> piece(const std::vector<float>& x, int from, int n, int width) {
    std::vector<float> y;
    for (int e = 0; e < B; ++e)
        for (int i = 0; i < n * width; ++i) y.push_back(x[static_cast<std::size_t>((e * 4 + from) * width + i)]);
    return y;
}
template <class T>
static std::vector<float> step(T& t, const std::vector<float>& x, const std::vector<float>& y, int size = B) {
    t.step({.x = x.data(), .y = y.data(), .size = size});
    const auto out = t.output();
    return {out.begin(), out.end()};
}

BOOST_AUTO_TEST_CASE(pieces_of_a_sequence) {
    const auto x = numbers(B * 4 * F, 1), y = numbers(B * 4, 5);
    trained<decltype(half)> parts{sgd{.learning_rate = 0.f}};
    trained<decltype(whole)> all{sgd{.learning_rate = 0.f}};
    const auto expected = step(all, x, y);
    for (int again = 0; again < 2; ++again) {
        for (int k = 0; k < 2; ++k) {
            const auto got = step(parts, piece(x, 2 * k, 2, F), piece(y, 2 * k, 2, 1)),
                want = piece(expected, 2 * k, 2, 1);
            for (std::size_t i = 0; i < got.size(); ++i)
                BOOST_TEST(got[i] == want[i], boost::test_tools::tolerance(1e-5f));
        }
        parts.begin_sequences();
    }
}
BOOST_AUTO_TEST_CASE(prediction_begins_with_zeros) {
    const auto x = numbers(B * 4 * F, 1), y = numbers(B * 4, 5);
    trained<decltype(half)> t{sgd{.learning_rate = 0.f}};
    const auto first = step(t, piece(x, 0, 2, F), piece(y, 0, 2, 1));
    const auto input = piece(x, 0, 2, F);
    const auto p = t.predict({.x = input.data(), .size = B});
    for (std::size_t i = 0; i < first.size(); ++i) BOOST_TEST(p[i] == first[i], boost::test_tools::tolerance(1e-5f));
}
BOOST_AUTO_TEST_CASE(a_saved_run_goes_on_within_the_sequence) {
    const temporary_folder folder;
    const auto x = numbers(B * 4 * F, 1), y = numbers(B * 4, 5);
    trained<decltype(half)> a{sgd{.learning_rate = 0.1f}}, b{sgd{.learning_rate = 0.1f}};
    step(a, piece(x, 0, 2, F), piece(y, 0, 2, 1));
    save(a, folder / "run.safetensors");
    load(b, folder / "run.safetensors");
    BOOST_TEST(step(a, piece(x, 2, 2, F), piece(y, 2, 2, 1)) == step(b, piece(x, 2, 2, F), piece(y, 2, 2, 1)));
    BOOST_TEST(a.state(0).s.d[0] == B);
}
// A net of the same weights that carries nothing, as one that answers step by step, takes them.
BOOST_AUTO_TEST_CASE(where_sequences_have_come_to_is_no_weight) {
    const temporary_folder folder;
    const auto x = numbers(B * 4 * F, 1), y = numbers(B * 4, 5);
    trained<decltype(half)> a{sgd{.learning_rate = 0.1f}}, b{sgd{.learning_rate = 0.1f}};
    step(a, piece(x, 0, 2, F), piece(y, 0, 2, 1));
    save(a, folder / "run");
    save(a, folder / "weights", saved::weights);
    BOOST_TEST(safetensors::read(folder / "run").tensors.contains("lstm/carried"));
    BOOST_TEST(!safetensors::read(folder / "weights").tensors.contains("lstm/carried"));

    trained<decltype(whole)> w{sgd{}};
    load(w, folder / "weights");
    const predictor p{array<2, F> >> lstm<H> >> dense<1>, weights_file(folder / "weights")};
    const auto first = p(span<const float>(x.data(), 2 * F));
    const auto expected = a.predict({.x = x.data(), .size = 1});
    BOOST_TEST(std::vector<float>(first.begin(), first.end()) == std::vector<float>(expected.begin(), expected.end()));

    const auto carried = a.plain(a.state(0));
    for (const char* file : {"weights", "run"}) {
        load_weights(b, folder / file, {});
        BOOST_TEST(b.plain(b.state(0)) == std::vector<float>(carried.size()));
        BOOST_TEST(b.plain(b.parameter(0)) == a.plain(a.parameter(0)));
    }
}
