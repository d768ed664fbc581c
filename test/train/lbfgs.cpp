// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE lbfgs
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/full_batch.hpp>

#include "fixtures/lbfgs.hpp"
#include "io/temporary_folder.hpp"
#include <algorithm>
#include <span>
#include <stdexcept>

using namespace sinter;
namespace golden = fixture::lbfgs;

/// Sum of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2 (Rosenbrock 1960, in n dimensions): 0 at (1, ..., 1).
static double rosenbrock(const std::vector<float>& x, std::vector<float>& g) {
    double sum = 0;
    std::vector<double> d(x.size(), 0.);
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
        const double a = static_cast<double>(x[i]), r = static_cast<double>(x[i + 1]) - a * a;
        sum += 100 * r * r + (1 - a) * (1 - a);
        d[i] += -400 * a * r - 2 * (1 - a);
        d[i + 1] += 200 * r;
    }
    for (std::size_t i = 0; i < x.size(); ++i) g[i] = static_cast<float>(d[i]);
    return sum;
}
BOOST_AUTO_TEST_CASE(down_the_valley) {
    for (std::size_t n : {2u, 10u}) {
        std::vector<float> x(n, -1.2f);
        x.back() = 1;
        lbfgs_history h;
        const lbfgs_result r = minimize(rosenbrock, x, {.max_iterations = 300, .loss_tolerance = 0}, h);
        BOOST_TEST((r.end == lbfgs_end::small_gradient || r.end == lbfgs_end::small_gain), static_cast<int>(r.end));
        BOOST_TEST(r.loss < 1e-9);
        BOOST_TEST(r.iterations < 100);   // steepest descent takes thousands
        for (float e : x) BOOST_TEST(std::abs(e - 1) < 1e-4);
        BOOST_TEST(h.steps.size() <= 10u);
    }
}
BOOST_AUTO_TEST_CASE(a_quadratic_is_over_in_as_many_steps_as_it_has_dimensions) {
    const auto f = [](const std::vector<float>& x, std::vector<float>& g) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double weight = 1 + 9. * static_cast<double>(i), off = static_cast<double>(x[i]) - 2;
            sum += weight / 2 * off * off;
            g[i] = static_cast<float>(weight * off);
        }
        return sum;
    };
    std::vector<float> x(4, 0.f);
    lbfgs_history h;
    const lbfgs_result r = minimize(f, x, {.loss_tolerance = 0, .search = {.curvature = 1e-3}}, h);
    BOOST_TEST(r.iterations <= 6);
    for (float e : x) BOOST_TEST(std::abs(e - 2) < 1e-5);
}
BOOST_AUTO_TEST_CASE(both_wolfe_conditions_hold) {
    const auto check = [](auto value, auto slope, double first) {
        auto f = [&](double t) { return line_point{t, value(t), slope(t)}; };
        const line_point start = f(0);
        line_point p;
        BOOST_TEST(line_search(f, start, {.curvature = 0.1}).run(first, p));
        BOOST_TEST(p.value <= start.value + 1e-4 * p.step * start.slope);
        BOOST_TEST(std::abs(p.slope) <= -0.1 * start.slope);
    };
    for (double first : {1e-3, 0.1, 1., 10., 1000.}) {   // the functions of More and Thuente 1994, section 5
        const double b = 0.004;
        check([](double t) { return -t / (t * t + 2); },
              [](double t) { return (t * t - 2) / std::pow(t * t + 2, 2); }, first);
        check([&](double t) { return std::pow(t + b, 5) - 2 * std::pow(t + b, 4); },
              [&](double t) { return 5 * std::pow(t + b, 4) - 8 * std::pow(t + b, 3); }, first);
    }
    // the logarithm is not defined behind 1: what is not finite is too far
    check([](double t) { return -1.5 * t - std::log(1 - t); }, [](double t) { return -1.5 + 1 / (1 - t); }, 5.);
}

/// A net whose squared output is Rosenbrock's function of its two parameters.
constexpr auto valley = features<1> >> [](tensor x) {
    const tensor p = parameter(x, "p", extents(1), constant_of(-1.2f)), q = parameter(x, "q", extents(1), ones);
    return concat({x * (1.f - p), x * ((q - p * p) * 10.f)});
};
BOOST_AUTO_TEST_CASE(a_net_down_the_valley) {
    full_batch model{valley, mse};
    auto data = data::dataset(extents(1), {1.f, 1.f}).targets(extents(2), {0.f, 0.f, 0.f, 0.f}) | data::batch(1);
    const lbfgs_result r = model.train(data, {.loss_tolerance = 0});
    BOOST_TEST(r.loss < 1e-8);
    for (int i = 0; i < 2; ++i) BOOST_TEST(std::abs(model.inner().plain(model.inner().parameter(i))[0] - 1) < 1e-3);
}

/// What is thrown within a search, where the weights are those of a trial: the last iteration's are left.
BOOST_AUTO_TEST_CASE(what_breaks_off_leaves_the_weights_of_an_iteration) {
    int left = -1;   // passes before the data throw; below 0: they do not
    auto data = data::dataset(extents(1), {1.f}).targets(extents(2), {0.f, 0.f}) |
                data::map([&](data::example&) { if (left-- == 0) throw std::runtime_error("broken off"); }) |
                data::batch(1);
    const auto weights = [](const auto& m) {
        const auto at = [&](int i) { return m.inner().plain(m.inner().parameter(i))[0]; };
        return std::pair(at(0), at(1));
    };
    std::vector<std::pair<float, float>> iterations;
    int evaluations = 0;
    for (int n = 0; n <= 12; ++n) {
        full_batch model{valley, mse};
        evaluations = model.train(data, {.max_iterations = n}).evaluations;
        iterations.push_back(weights(model));
    }
    BOOST_TEST(evaluations > 13);   // so that some are trials that were not taken
    for (int k = 0; k < evaluations; ++k) {
        full_batch model{valley, mse};
        left = k;
        BOOST_CHECK_THROW(model.train(data, {.max_iterations = 12}), std::runtime_error);
        const auto place = std::find(iterations.begin(), iterations.end(), weights(model));
        BOOST_TEST((place != iterations.end()), "thrown in evaluation " << k);
        left = -1;
        model.train(data, {.max_iterations = static_cast<int>(iterations.end() - place) - 1});
        BOOST_TEST((weights(model) == iterations.back()));   // it goes on as if nothing had been
    }
}

constexpr auto regression = features<4> >> dense<3>;
static auto examples() {
    std::vector<float> x(golden::x, golden::x + 240);
    std::vector<std::int32_t> labels(golden::labels, golden::labels + 60);
    return data::dataset(extents(4), std::move(x)).labels(std::move(labels), 3);
}
BOOST_AUTO_TEST_CASE(logistic_regression_as_scipy) {
    full_batch model{regression, softmax_cross_entropy};
    auto data = examples() | data::batch(32);   // a pass is one batch of 32 and one of 28
    const lbfgs_result r = model.train(data, {.loss_tolerance = 0});
    BOOST_TEST(std::abs(r.loss - golden::loss) < 1e-6);
    auto whole = examples() | data::batch(60);
    const std::span<const float> y = model.inner().predict(*whole.next());
    for (int i = 0; i < 60; ++i) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) sum += std::exp(static_cast<double>(y[static_cast<std::size_t>(3 * i + k)]));
        for (int k = 0; k < 3; ++k) {
            const double p = std::exp(static_cast<double>(y[static_cast<std::size_t>(3 * i + k)])) / sum;
            BOOST_TEST(std::abs(p - golden::probabilities[3 * i + k]) < 1e-3,
                       "example " << i << ", class " << k << ": " << p);
        }
    }
}
BOOST_AUTO_TEST_CASE(with_a_penalty) {
    full_batch model{regression, softmax_cross_entropy};
    auto data = examples() | data::batch(60);
    const lbfgs_result r = model.train(data, {.loss_tolerance = 0, .l2 = 0.05});
    BOOST_TEST(std::abs(r.loss - golden::penalised_loss) < 1e-6);
    std::vector<float> p = model.inner().plain(model.inner().parameter(0));
    const std::vector<float> b = model.inner().plain(model.inner().parameter(1));
    p.insert(p.end(), b.begin(), b.end());
    for (std::size_t i = 0; i < 15; ++i)
        BOOST_TEST(std::abs(static_cast<double>(p[i]) - golden::penalised[i]) < 1e-3, "parameter " << i);
}
BOOST_AUTO_TEST_CASE(a_run_in_two_parts_is_one_run) {   // the history is all that has to be kept
    full_batch once{regression, softmax_cross_entropy}, twice{regression, softmax_cross_entropy};
    auto data = examples() | data::batch(60);
    once.train(data, {.max_iterations = 8});
    twice.train(data, {.max_iterations = 3});
    twice.train(data, {.max_iterations = 5});
    for (int i = 0; i < 2; ++i)
        BOOST_TEST(once.inner().plain(once.inner().parameter(i)) == twice.inner().plain(twice.inner().parameter(i)));
}
BOOST_AUTO_TEST_CASE(saved_and_resumed) {
    const temporary_folder folder;
    full_batch once{regression, softmax_cross_entropy}, first{regression, softmax_cross_entropy};
    auto data = examples() | data::batch(60);
    once.train(data, {.history = 4, .max_iterations = 15});
    first.save(folder / "start");   // no history yet
    first.train(data, {.history = 4, .max_iterations = 6});
    first.save(folder / "run");
    first.save(folder / "weights", saved::weights);
    full_batch next{regression, softmax_cross_entropy, trainer_options{.seed = 5}};
    next.load(folder / "run");
    BOOST_TEST((next.history().steps == first.history().steps && next.history().changes == first.history().changes));
    BOOST_TEST(next.history().steps.size() == 4u);
    next.load(folder / "weights");
    BOOST_TEST(next.history().steps.size() == 4u);
    next.train(data, {.history = 4, .max_iterations = 9});
    full_batch forgetful{regression, softmax_cross_entropy};
    forgetful.load(folder / "run");
    forgetful.history().clear();
    forgetful.train(data, {.history = 4, .max_iterations = 9});
    bool differs = false;
    for (int i = 0; i < 2; ++i) {
        const auto want = once.inner().plain(once.inner().parameter(i));
        BOOST_TEST(next.inner().plain(next.inner().parameter(i)) == want, boost::test_tools::per_element());
        differs = differs || forgetful.inner().plain(forgetful.inner().parameter(i)) != want;
    }
    BOOST_TEST(differs);
    next.load(folder / "start");
    BOOST_TEST(next.history().steps.empty());
    BOOST_CHECK_THROW(load(next.inner(), folder / "run"), mismatch_error);   // would lose the history
    save(next.inner(), folder / "inner");
    BOOST_CHECK_THROW(next.load(folder / "inner"), mismatch_error);
}
/// The rest of a pass alone, as the first loss, would mislead all of the search.
BOOST_AUTO_TEST_CASE(data_that_were_partly_read_are_read_from_their_beginning) {
    full_batch whole{regression, softmax_cross_entropy}, after{regression, softmax_cross_entropy};
    auto data = examples() | data::batch(8);
    const lbfgs_result want = whole.train(data, {.max_iterations = 2});
    data.next();
    const lbfgs_result got = after.train(data, {.max_iterations = 2});
    BOOST_TEST(got.loss == want.loss);
    BOOST_TEST(got.evaluations == want.evaluations);
}
/// Dropout is each batch's own, and the same in each pass: of 64 weights that a batch drops by halves
/// none stays as it was in all of eight batches (one in four runs would have one), and a minimum is found.
BOOST_AUTO_TEST_CASE(each_batch_draws_for_itself) {
    full_batch model{features<1> >> [](tensor x) {
        return dropout<0.5>(x * parameter(x, "w", extents(64), ones));
    }, mse};
    data::dataset set(extents(1), std::vector<float>(8, 1.f));
    set.targets(extents(64), std::vector<float>(8 * 64));
    auto data = data::source(set) | data::batch(1);
    BOOST_TEST(model.train(data).loss < 0.01);
    std::int64_t stay = 0;
    for (const float w : model.inner().plain(model.inner().parameter(0))) stay += w == 1.f;
    BOOST_TEST(stay <= 4);
}
BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
    full_batch model{regression, softmax_cross_entropy};
    auto endless = examples() | data::repeat() | data::batch(60);
    BOOST_CHECK_THROW(model.train(endless), option_error);
    auto data = examples() | data::batch(60);
    BOOST_CHECK_THROW(model.train(data, {.history = 0}), option_error);
    model.inner().set_plain(model.inner().parameter(1), std::vector<float>(3, std::nanf("")).data());
    BOOST_CHECK_THROW(model.train(data), data_error);
}
