// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <sinter/layers/lstm.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/predictor.hpp>
#include <vector>

// Models move: what was moved goes on, bit for bit, as one that stayed where it was.
using namespace sinter;

namespace {
// The loss's program and the prediction's have different outputs in memory of their own, and one net has a loop.
constexpr auto net = features<6> >> dense<16> >> batch_norm >> relu >> dropout<0.2f> >> dense<3>;
constexpr auto recurrent = array<4, 6> >> lstm<8> >> dense<3>;

struct batch {
    std::vector<float> x = std::vector<float>(24 * 7), y = std::vector<float>(12 * 7, 0.5f);
    batch() {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 13 % 29) / 14.f - 1.f;
    }
    data::batch_view view() const { return {.x = x.data(), .y = y.data(), .size = 7}; }
};
using floats = std::vector<float>;
template <class Span>
floats copy(const Span& s) {
    return {s.begin(), s.end()};
}

template <class Net>
auto made(Net n, int threads = 2) {   // by value, out of a function
    estimator m{n, mse, adam{.learning_rate = 0.02f}, max_batch<32>, {.threads = threads}};
    return m;
}
template <class Model>
floats course(Model& m, int steps) {
    const batch b;
    floats all;
    for (int i = 0; i < steps; ++i) all.push_back(static_cast<float>(m.inner().step(b.view())));
    const floats predicted = copy(m.predict(b.view()));
    all.insert(all.end(), predicted.begin(), predicted.end());
    all.push_back(static_cast<float>(m.inner().evaluate(b.view())));
    return all;
}

template <class Net>
void check_moves(Net n) {
    auto stays = made(n);
    const floats first = course(stays, 3), second = course(stays, 3), third = course(stays, 3);

    auto a = made(n);
    BOOST_TEST(course(a, 3) == first);
    auto b = std::move(a);   // by construction
    BOOST_TEST(course(b, 3) == second);
    auto c = made(n, 1);
    BOOST_TEST(course(c, 1).size() > 0u);
    c = std::move(b);   // over one that has trained
    BOOST_TEST(course(c, 3) == third);
    BOOST_TEST(c.threads() == 2);

    std::vector<decltype(made(n))> several;   // which moves what it has when it grows
    for (int i = 0; i < 3; ++i) several.push_back(made(n));
    std::optional<decltype(made(n))> maybe;
    maybe.emplace(std::move(several[1]));
    several.erase(several.begin() + 1);
    BOOST_TEST(course(several[1], 3) == first);
    BOOST_TEST(course(*maybe, 3) == first);
    a = made(n);   // one that was moved from is as good as new
    BOOST_TEST(course(a, 3) == first);
}

template <class Net>
void check_predictors(Net n, int numbers) {
    auto m = made(n);
    course(m, 2);
    const batch b;
    const floats right = copy(m.predict(b.view()));
    predictor p{n, max_batch<7>, m};
    BOOST_TEST(copy(p.predict(b.view())) == right);
    const auto q = std::move(p);   // and is asked as a constant
    BOOST_TEST(copy(q.predict(b.view())) == right);
    auto other = made(n);
    predictor r{n, max_batch<7>, other};
    BOOST_TEST(copy(r.predict(b.view())) != right);
    std::vector<decltype(r)> several;
    several.push_back(predictor{n, max_batch<7>, m});
    several.push_back(std::move(r));
    r = std::move(several[0]);
    BOOST_TEST(copy(r.predict(b.view())) == right);
    std::vector<float> y(right.size());
    const auto& constant = r;
    constant(span<const float>(b.x.data(), static_cast<std::size_t>(7 * numbers)), span<float>(y.data(), y.size()));
    BOOST_TEST(y == right);
}
} // namespace

BOOST_AUTO_TEST_CASE(estimators_move) {
    check_moves(net);
    check_moves(recurrent);
}

BOOST_AUTO_TEST_CASE(predictors_move) {
    check_predictors(net, 6);
    check_predictors(recurrent, 24);
}

// What predict() and output() gave stays good: it is the model's memory, which moves along.
BOOST_AUTO_TEST_CASE(outputs_move_along) {
    const batch b;
    auto m = made(net);
    m.inner().step(b.view());
    const floats trained = copy(m.inner().output());
    auto n = std::move(m);
    BOOST_TEST(copy(n.inner().output()) == trained);
    const auto predicted = n.predict(b.view());
    const floats before = copy(predicted);
    auto o = std::move(n);
    BOOST_TEST(copy(predicted) == before);
    BOOST_TEST(copy(o.inner().output()) == before);
}

namespace {
struct towards {
    constexpr tensor operator()(tensor y, tensor t) const { return mean((y - t) * (y - t), {-1}); }
};
constexpr auto two = features<6> >> named<"a">(dense<4>) >> relu >> named<"b">(dense<3>);
} // namespace
BOOST_AUTO_TEST_CASE(alternating_trainers_move) {
    const auto make = [] {
        return alternating_trainer{two, alternating{phase<"a/*">(towards{}, adam{}, 2), phase<"b/*">(towards{}, sgd{})},
                                   max_batch<32>};
    };
    const batch b;
    auto stays = make(), moves = make();
    for (int i = 0; i < 4; ++i) BOOST_TEST(stays.step(b.view()) == moves.step(b.view()));
    auto there = std::move(moves);
    for (int i = 0; i < 5; ++i) BOOST_TEST(stays.step(b.view()) == there.step(b.view()));
    auto over = make();
    over = std::move(there);
    for (int i = 0; i < 5; ++i) BOOST_TEST(stays.step(b.view()) == over.step(b.view()));
}
