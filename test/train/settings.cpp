// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE settings
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/single.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/predictor.hpp>
#include <span>

// What stands behind the optimizer reaches the programs, in any order, and those of a predictor.
using namespace sinter;
using namespace sinter::compiler;

constexpr auto net = features<40> >> dense<80> >> relu >> dense<3>;
using net_type = std::remove_const_t<decltype(net)>;
constexpr program_options rounded{.products = precision::bfloat16};

static std::vector<float> numbers(std::size_t n) {
    std::vector<float> x(n);
    random_stream r(5);
    for (float& v : x) v = r.uniform() - 0.5f;
    return x;
}
static const std::vector<float> x = numbers(8 * 40);
static const std::int32_t labels[8] = {0, 2, 1, 1, 0, 2, 2, 1};
static const data::batch_view batch{.x = x.data(), .labels = labels, .size = 8};

template <class T>
static std::vector<float> trained(T& model) {
    for (int i = 0; i < 3; ++i) model.step(batch);
    const std::span<const float> y = model.predict({.x = x.data(), .size = 8});
    return {y.begin(), y.end()};
}

static_assert(setting<batch_limit<4>> && setting<program_policy<rounded>> && setting<single<cpu_device>>);
static_assert(setting<trainer_options> && !setting<int> && !setting<adam>);

BOOST_AUTO_TEST_CASE(all_kinds_in_any_order) {
    estimator plain{net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}};
    estimator a{net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, max_batch<8>, built_with<rounded>,
                single<cpu_device>{}, {.threads = 1}};
    estimator b{net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, single<cpu_device>{}, built_with<rounded>,
                max_batch<8>};
    estimator c{net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, built_with<rounded>, {.threads = 1}};
    static_assert(std::is_same_v<decltype(a), decltype(b)> && decltype(a)::policy == rounded &&
                  decltype(plain)::policy == program_options{});
    static_assert(decltype(a)::trainer_type::max_batch() == 8 && decltype(c)::trainer_type::max_batch() == 64);
    trainer<net_type, softmax_cross_entropy_loss, sgd,
            build_options{8, rounded}> same({.learning_rate = 0.1f}, {.threads = 1});
    const std::vector<float> want = trained(same);
    BOOST_TEST(trained(a.inner()) == want);
    BOOST_TEST(trained(b.inner()) == want);
    BOOST_TEST(trained(plain.inner()) != want);   // the policy is seen in the numbers
}

BOOST_AUTO_TEST_CASE(a_predictor_computes_as_its_model) {
    estimator model{net, softmax_cross_entropy, sgd{}, built_with<rounded>};
    const std::vector<float> want = trained(model.inner());
    predictor one{net, model};
    predictor many{net, max_batch<8>, model.inner()};
    const std::span<const float> y = many(x);
    BOOST_TEST(std::vector<float>(y.begin(), y.end()) == want);
    for (std::size_t i = 0; i < 8; ++i) {
        const std::span<const float> alone = model.predict({.x = x.data() + 40 * i, .size = 1});
        const std::vector<float> expected(alone.begin(), alone.end());
        const std::span<const float> got = one(std::span(x).subspan(40 * i, 40));
        BOOST_TEST(std::vector<float>(got.begin(), got.end()) == expected);
    }
    predictor<net_type, 8> other(net, max_batch<8>, model);   // of the same weights, in float32
    const std::span<const float> z = other(x);
    BOOST_TEST(std::vector<float>(z.begin(), z.end()) != want);
}

BOOST_AUTO_TEST_CASE(winograd_can_be_forbidden) {
    constexpr auto filters = image<24, 24, 32> >> conv2d<32, 3> >> flatten >> dense<3>;
    constexpr program_options exact{.winograd = winograd::forbid};
    const std::vector<float> pixels = numbers(8 * 24 * 24 * 32);
    const data::batch_view images{.x = pixels.data(), .labels = labels, .size = 8};
    estimator quick{filters, softmax_cross_entropy, sgd{}, max_batch<8>};
    estimator careful{filters, softmax_cross_entropy, sgd{}, max_batch<8>, built_with<exact>};
    const auto filtering = [](const auto& program) {   // kernels whose extents come at run time: graph/winograd.hpp
        int n = 0;
        for (const spec& k : program.specs) n += k.kind == op::conv && k.extents[0] == 0;
        return n;
    };
    using quick_programs = decltype(quick)::trainer_type;
    using careful_programs = decltype(careful)::trainer_type;
    BOOST_TEST(filtering(quick_programs::training::v) > 0);
    BOOST_TEST(filtering(careful_programs::training::v) == 0);
    BOOST_TEST(careful.inner().step(images) == quick.inner().step(images), boost::test_tools::tolerance(1e-4f));
}

BOOST_AUTO_TEST_CASE(losses_that_alternate) {
    constexpr auto halves = features<40> >> named<"first">(dense<80> >> relu) >> named<"second">(dense<3>);
    constexpr alternating turns{phase<"first/*">(softmax_cross_entropy, sgd{.learning_rate = 0.1f}),
                                phase<"second/*">(softmax_cross_entropy, sgd{.learning_rate = 0.1f})};
    estimator a{halves, turns, built_with<rounded>, max_batch<8>};
    estimator b{halves, turns, max_batch<8>, {.threads = 1}};
    static_assert(decltype(a)::policy == rounded && decltype(b)::policy == program_options{});
    BOOST_TEST(trained(a.inner()) != trained(b.inner()));
}
