// SPDX-License-Identifier: BSL-1.0
// shows training: predictions with states that are carried
#define BOOST_TEST_MODULE streaming
#include <boost/test/unit_test.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/predictor.hpp>
#include <cmath>

// A net over whole sequences is trained; another, which is given the state and hands it on, answers
// step by step with the same parameters. Both must say the same.
using namespace sinter;

constexpr int T = 12, F = 3, N = 10;
constexpr auto whole = array<T, F> >> lstm<N> >> gru<N> >> dense<2>;
constexpr auto step = inputs(array<1, F>, features<N>, features<N>, features<N>)
    >> [](tensor x, tensor h, tensor c, tensor g) {
    const recurrent_result first = lstm<N>.from(x, outputs(h, c)), second = gru<N>.from(first.y, g);
    return outputs(dense<2>(second.y), first.state[0], first.state[1], second.state[0]);
};

BOOST_AUTO_TEST_CASE(step_by_step_as_over_the_whole_sequence) {
    random_stream r(7);
    std::vector<float> x(std::size_t{4} * T * F), y(std::size_t{4} * T * 2);
    for (float& v : x) v = r.uniform() - 0.5f;
    for (float& v : y) v = r.uniform() - 0.5f;
    auto data = data::source(data::dataset(extents(T, F), x).targets(extents(T, 2), y)) | data::batch(4);
    estimator model{whole, mse, adam{.learning_rate = 1e-2f}, max_batch<4>, {.threads = 1}};
    model.train(data, {.epochs = 5, .progress = nullptr});

    predictor all{whole, model};
    predictor stream{step, model};
    for (int example = 0; example < 2; ++example) {
        const float* const sequence = x.data() + example * T * F;
        const span<const float> found = all(span<const float>(sequence, std::size_t{T} * F));
        const std::vector<float> want(found.begin(), found.end());
        std::vector<float> h(N), c(N), g(N);   // a stream begins with zeros
        for (int t = 0; t < T; ++t) {
            const data::input_view in[] = {{sequence + t * F, nullptr, F}, {h.data(), nullptr, N},
                                           {c.data(), nullptr, N}, {g.data(), nullptr, N}};
            const span<const float> now = stream.predict({.size = 1, .inputs = {in, 4}});
            BOOST_TEST_REQUIRE(now.size() == 2u);
            for (int k = 0; k < 2; ++k)
                BOOST_TEST(std::abs(now[std::size_t(k)] - want[std::size_t(t * 2 + k)]) < 1e-6, "step " << t);
            std::copy_n(stream.output(1).data(), N, h.data());
            std::copy_n(stream.output(2).data(), N, c.data());
            std::copy_n(stream.output(3).data(), N, g.data());
        }
    }
    BOOST_CHECK_THROW(stream.output(4), option_error);
    BOOST_CHECK_THROW(stream.output(-1), option_error);
    BOOST_TEST(predictor(step, model).output(0).size() == 0u);
}
