// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cuda_rehearsal
#include <boost/test/unit_test.hpp>
#include <sinter/expr/layers/convolution.hpp>
#include <sinter/expr/layers/gru.hpp>
#include <sinter/expr/layers/lstm.hpp>

#include "cuda/nets.hpp"
#include "cuda/rehearsal.hpp"

// Every kind of kernel generated for GPUs, run by the host, against the CPU's kernels, which are vectors, packed weights
// and other algorithms: whole training steps, compared weight by weight.
using namespace sinter;
using test::rehearsal_device;

static bool close(float a, float b) { return std::abs(a - b) <= 2e-4f * (1.f + std::abs(a)) || (std::isnan(a) && std::isnan(b)); }

/// Three steps, of batches of different sizes, then evaluation and prediction, on both devices.
template <int MaxBatch, program_options O = program_options{}, class Net, class Loss, class Optimizer>
static void as_on_cpu(Net, Loss, Optimizer optimizer, const data::batch_view& whole) {
    trainer<Net, Loss, Optimizer, MaxBatch, cpu_device, O> a(optimizer, {.threads = 1});
    trainer<Net, Loss, Optimizer, MaxBatch, rehearsal_device, O> b(optimizer);
    data::batch_view batch = whole;
    for (int step = 0; step < 3; ++step) {
        batch.size = step == 1 ? (MaxBatch + 1) / 2 : MaxBatch;
        const float la = a.step(batch), lb = b.step(batch);
        BOOST_TEST(close(la, lb), "step " << step << ": the CPU's loss " << la << ", the GPU's kernels' " << lb);
    }
    auto compare = [&](const std::string& what, const std::vector<float>& x, const std::vector<float>& y) {
        std::size_t bad = 0;
        while (bad < x.size() && close(x[bad], y[bad])) ++bad;
        BOOST_TEST(bad == x.size(), what << '[' << bad << "]: " << (bad < x.size() ? x[bad] : 0.f) << " and "
                                         << (bad < x.size() ? y[bad] : 0.f));
    };
    for (int i = 0; i < a.parameters(); ++i) {
        compare(a.path(a.parameter(i)), a.plain(a.parameter(i)), b.plain(b.parameter(i)));
        for (int s = 0; s < decltype(a)::training::v.slots; ++s)
            compare("slot of " + a.path(a.parameter(i)), a.plain_slot(a.parameter(i), s), b.plain_slot(b.parameter(i), s));
    }
    for (int i = 0; i < a.states(); ++i) compare(a.path(a.state(i)), a.plain(a.state(i)), b.plain(b.state(i)));
    batch.size = MaxBatch - 1;
    BOOST_TEST(close(a.evaluate(batch), b.evaluate(batch)));
    const auto ya = a.predict(batch), yb = b.predict(batch);
    compare("output", {ya.begin(), ya.end()}, {yb.begin(), yb.end()});
}

/// Random examples: floats, whole numbers below `below` for embeddings, labels below ten.
struct examples {
    std::vector<float> x, y;
    std::vector<std::int32_t> indices, labels;
    data::input_view words;
    examples(int n, int floats, int whole = 0, int below = 1, int targets = 0)
        : x(static_cast<std::size_t>(n * floats)), y(static_cast<std::size_t>(n * targets)),
          indices(static_cast<std::size_t>(n * whole)), labels(static_cast<std::size_t>(n)) {
        random_stream r(11);
        for (float& v : x) v = r.normal();
        for (float& v : y) v = r.normal();
        for (auto& v : indices) v = static_cast<std::int32_t>(r.below(static_cast<std::uint32_t>(below)));
        for (auto& v : labels) v = static_cast<std::int32_t>(r.below(10));
        words = {nullptr, indices.data(), whole};
    }
    data::batch_view view() const {
        data::batch_view b{.x = x.empty() ? nullptr : x.data(), .labels = labels.data(), .y = y.empty() ? nullptr : y.data()};
        if (!indices.empty()) b.inputs = {&words, 1};
        return b;
    }
};

BOOST_AUTO_TEST_CASE(dropout_draws_the_same_numbers) {
    test::fixture_batch b;
    as_on_cpu<8>(test::quickstart, softmax_cross_entropy, adam{}, b.of_step(0));
}
BOOST_AUTO_TEST_CASE(normalisation_and_average_pools) {
    constexpr auto net = image<9, 7, 3> >> conv2d<8, 3, window{.stride = 2}> >> batch_norm >> relu >> avg_pool<2> >> layer_norm
        >> global_avg_pool >> dense<10>;
    as_on_cpu<6>(net, softmax_cross_entropy, momentum{.learning_rate = 0.05f}, examples(6, 9 * 7 * 3).view());
}
BOOST_AUTO_TEST_CASE(odd_convolutions_and_overlapping_pools) {
    constexpr auto net = image<11, 10, 2> >> conv2d<5, 4> >> gelu >> max_pool<3, window{.stride = 2, .padding = padding::same}>
        >> conv2d<7, 2, window{.stride = 3, .padding = padding::valid}> >> activation::tanh >> flatten >> dense<10>;
    as_on_cpu<5>(net, softmax_cross_entropy, adamw{}, examples(5, 220).view());
}
BOOST_AUTO_TEST_CASE(groups_dilation_and_windows_of_all_kinds) {
    constexpr window two{.stride = {2, 1}, .padding = {1, 0, 2, 1}, .dilation = {1, 2}, .groups = 2};
    constexpr auto net = image<9, 8, 2> >> conv2d<6, per_axis(3, 2), two> >> relu >> depthwise_conv2d<3>
        >> avg_pool<per_axis(2, 3), window{.stride = {1, 2}, .padding = 1, .rounding = rounding::ceil, .count_padding = true}>
        >> conv2d_transpose<3, 3, window{.stride = 2, .groups = 3}> >> max_pool<per_axis(1, 2), window{.stride = 1}> >> flatten >> dense<10>;
    as_on_cpu<4>(net, softmax_cross_entropy, momentum{.learning_rate = 0.02f}, examples(4, 144).view());
}
BOOST_AUTO_TEST_CASE(rows_by_index_and_lazy_updates) {
    constexpr auto net = indices<6> >> embedding<13, 9> >> flatten >> dense<10>;
    as_on_cpu<7>(net, softmax_cross_entropy, adam{}, examples(7, 0, 6, 13).view());
}
BOOST_AUTO_TEST_CASE(attention_and_wide_rows) {   // matmul, permute, softmax over rows, rows longer than a warp
    constexpr auto net = array<12, 40> >> layer_norm >> [](tensor x) {
        const tensor heads = permute(ops::reshape(x, batch_of(12, 4, 10)), {1, 0, 2});
        const tensor a = ops::softmax(matmul(heads, heads, transposed::no, transposed::yes));
        return x + ops::reshape(permute(matmul(a, heads), {1, 0, 2}), batch_of(12, 40));
    } >> flatten >> dense<65> >> sigmoid >> dense<10>;
    as_on_cpu<4>(net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, examples(4, 480).view());
}
BOOST_AUTO_TEST_CASE(slices_concatenation_and_reductions) {
    constexpr auto net = array<5, 6, 4> >> [](tensor x) {
        const tensor a = slice(x, 1, 1, 3), b = slice(x, 1, 0, 2);
        return ops::concat({a * a, b}, 1) + max(x, {1}, keep::yes);
    } >> flatten >> dense<7>;
    as_on_cpu<5>(net, mse, clip_by_global_norm{0.5f, sgd{.learning_rate = 0.1f}}, examples(5, 120, 0, 1, 7).view());
}
BOOST_AUTO_TEST_CASE(loops_over_time) {
    constexpr recurrent_options last{.sequences = false, .reverse = true, .recompute = true};
    constexpr auto net = array<5, 4> >> lstm<6> >> dropout<0.3f> >> gru<7, last> >> dense<10>;
    as_on_cpu<5>(net, softmax_cross_entropy, adam{}, examples(5, 20).view());
}
BOOST_AUTO_TEST_CASE(every_op_a_kernel_of_its_own) {
    constexpr program_options apart{.fuse = false};
    test::fixture_batch b;
    as_on_cpu<4, apart>(test::cnn, softmax_cross_entropy, adam{}, b.of_step(0));
}
