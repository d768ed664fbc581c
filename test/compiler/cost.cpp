// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cost
#include <boost/test/unit_test.hpp>

#include <sinter/device/cpu.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/compiler/cost.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/sgd.hpp>

/// Operations and bytes against figures worked out by hand.
using namespace sinter;
using namespace sinter::compiler;

constexpr auto mlp = image<28, 28, 1> >> flatten >> dense<128> >> relu >> dense<10>;
constexpr auto lenet = image<28, 28, 1> >> conv2d<6, 5> >> relu >> max_pool<2>
    >> conv2d<16, 5, window{.padding = padding::valid}>
    >> relu >> max_pool<2> >> flatten >> dense<120> >> relu >> dense<84> >> relu >> dense<10>;
constexpr auto cnn = image<28, 28, 1> >> conv2d<32, 3> >> relu >> max_pool<2> >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dense<10>;

template <class Net, program_options O, class Optimizer = sgd, program_mode M = program_mode::training>
using program_of = compiled<request<Net, softmax_cross_entropy_loss, Optimizer, M, 64, target{16, 8}, O>>;
constexpr program_options fused_options{}, unfused_options{.fuse = false};

/// Operations of products and convolutions, an example.
template <class P>
static std::int64_t products() {
    const grouping r = detail::fused_stage<typename P::request>::groups();
    std::int64_t n = 0;
    for (int v = 0; v < P::graph.n.n; ++v) {
        const op_id k = P::graph.n[v].k;
        const bool product = k == op::gemm || k == op::gemm_tn || k == op::conv || k == op::conv_input_gradient ||
            k == op::conv_weight_gradient;
        if (product && r.of[v] >= 0) n += detail::flops_of(P::graph, P::graph.n[v]).per_example;
    }
    return n;
}
/// Forward, both gradients, but no input gradient of the first layer. `sparse`: gradients of convolutions read one in
/// four, for the pool behind them let only the winners through.
constexpr std::int64_t dense_layer_of(std::int64_t in, std::int64_t out, bool first = false) {
    return 2 * in * out * (first ? 2 : 3);
}
constexpr std::int64_t conv_of(std::int64_t pixels, std::int64_t window, std::int64_t out, bool sparse,
                               bool first = false) {
    const std::int64_t forward = 2 * pixels * window * out;
    return forward + (first ? 1 : 2) * (sparse ? forward / 4 : forward);
}

BOOST_AUTO_TEST_CASE(mlp_by_hand) {
    const std::int64_t want = dense_layer_of(784, 128, true) + dense_layer_of(128, 10);
    BOOST_TEST((products<program_of<std::remove_const_t<decltype(mlp)>, fused_options>>()) == want);
    BOOST_TEST((products<program_of<std::remove_const_t<decltype(mlp)>, unfused_options>>()) == want);
    BOOST_TEST(want == 409088);
}
BOOST_AUTO_TEST_CASE(lenet_by_hand) {
    auto want = [](bool sparse) {
        return conv_of(28 * 28, 25, 6, sparse, true) + conv_of(10 * 10, 25 * 6, 16, sparse) + dense_layer_of(400, 120) +
               dense_layer_of(120, 84) + dense_layer_of(84, 10);
    };
    BOOST_TEST((products<program_of<std::remove_const_t<decltype(lenet)>, fused_options>>()) == want(true));
    BOOST_TEST((products<program_of<std::remove_const_t<decltype(lenet)>, unfused_options>>()) == want(false));
}
BOOST_AUTO_TEST_CASE(cnn_by_hand) {
    auto want = [](bool sparse) {
        return conv_of(28 * 28, 9, 32, sparse, true) + conv_of(14 * 14, 9 * 32, 64, sparse) +
            dense_layer_of(3136, 128) + dense_layer_of(128, 10);
    };
    BOOST_TEST((products<program_of<std::remove_const_t<decltype(cnn)>, fused_options>>()) == want(true));
    BOOST_TEST((products<program_of<std::remove_const_t<decltype(cnn)>, unfused_options>>()) == want(false));
}
BOOST_AUTO_TEST_CASE(totals_are_the_sum_of_groups) {
    using P = program_of<std::remove_const_t<decltype(lenet)>, fused_options, adam>;
    constexpr program_cost c = cost_of<P>();
    BOOST_TEST(c.launches == P::v.n_launches);
    BOOST_TEST(c.kernels == P::v.n_specs);
    BOOST_TEST(c.total.flops.at(64) > products<P>() * 64);
    BOOST_TEST(c.total.flops.at(64) < products<P>() * 64 * 11 / 10);   // elementwise work is little
    constexpr program_cost unfused = cost_of<program_of<std::remove_const_t<decltype(lenet)>, unfused_options, adam>>();
    BOOST_TEST(c.launches < unfused.launches / 2);
    BOOST_TEST(c.total.read.at(64) + c.total.written.at(64) < unfused.total.read.at(64) + unfused.total.written.at(64));
    BOOST_TEST(c.total.saved.at(64) > 0);
}
BOOST_AUTO_TEST_CASE(bytes_of_one_fused_kernel) {
    constexpr auto net = features<784> >> dense<128> >> relu;
    using P = program_of<std::remove_const_t<decltype(net)>, fused_options, sgd, program_mode::prediction>;
    constexpr program_cost c = cost_of<P>();
    BOOST_TEST(c.launches == 1);
    BOOST_TEST(c.total.read.per_example == 4 * 784);
    BOOST_TEST(c.total.read.once == 4 * (784 * 128 + 128));
    BOOST_TEST(c.total.written.per_example == 4 * 128);
    BOOST_TEST(c.total.written.once == 0);
    BOOST_TEST(c.total.saved.per_example == 2 * 2 * 4 * 128);   // the product and the sum, each written and read back
    BOOST_TEST(c.total.flops.per_example == 2 * 784 * 128 + 128 + 128);
    BOOST_TEST(c.fused_away == 2);
}
struct mean_of_output {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor y, tensor) const { return y; }
};
BOOST_AUTO_TEST_CASE(a_sweep_reads_gradient_parameter_and_slots) {
    // one stored gradient of 5 floats: read with the parameter, which is written back
    constexpr auto net = features<5> >> [](tensor x) { return x + parameter(x, "p", extents(5), zeros); };
    auto moved = []<class Optimizer>(Optimizer) {
        using P = compiled<request<std::remove_const_t<decltype(net)>, mean_of_output, Optimizer,
                                   program_mode::training, 64, target{1, 8}, program_options{.store_gradients = true}>>;
        constexpr program_cost c = cost_of<P>();
        return std::pair(c.total.read.once, c.total.written.once);
    };
    const auto with_sgd = moved(sgd{}), with_adam = moved(adam{});
    BOOST_TEST(with_adam.first - with_sgd.first == 4 * 5 * 2);
    BOOST_TEST(with_adam.second - with_sgd.second == 4 * 5 * 2);
}
