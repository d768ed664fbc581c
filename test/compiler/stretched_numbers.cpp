// SPDX-License-Identifier: BSL-1.0
// shows numbers: a random number belongs to its own tensor's element, in every kernel
#define BOOST_TEST_MODULE stretched_numbers
#include <boost/test/unit_test.hpp>

#include <sinter/base/philox.hpp>
#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/initialize.hpp>
#include <sinter/train/predictor.hpp>
#include <array>
#include <cstring>
#include <vector>

#include "cuda/rehearsal.hpp"

/// Random numbers and numbers of columns whose tensor is smaller than what they are stretched to:
/// element i has instruction i of its stream, in every kind of kernel, on both devices, at any size
/// of the batch. The instructions are drawn here once more.
using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;
using namespace sinter::runtime;

static constexpr tensor number_of(tensor x, const shape& s) {
    return make<op::random_uniform>(x.g, s, {}, {++x.g->streams});
}
static constexpr tensor by_example(tensor x) { return x * number_of(x, batch_of(1)); }
static constexpr tensor for_all(tensor x) { return x * number_of(x, extents(1)); }
static constexpr tensor by_element(tensor x) { return x * number_of(x, x.shape().plain()); }
static constexpr tensor by_column(tensor x) { return x * number_of(x, extents(x.shape().last())); }
/// The same beside a row's sum, whose walk goes from row to row; ones times the number of columns.
static constexpr tensor with_sum(tensor x) { return x * ops::sum(x, {-1}, keep::yes); }

/// What a net makes of ones, for each size of the batch: its prediction program alone, without a trainer, which would
/// compile others beside it.
using by_batch = std::vector<std::vector<float>>;
template <class P, class Device>
static by_batch of_ones(const std::vector<int>& batches) {
    constexpr auto& p = P::v;
    model_memory memory;
    memory.parameters = arena(p.floats(space::parameter));
    memory.activations = arena(p.floats(space::activation));
    memory.scratch = arena(Device::template runner<P>::scratch_floats());
    for (int i = 0; i < p.n_parameters; ++i) {
        const variable_info& v = p.parameters[i];
        const auto plain = sinter::detail::initial_values(v, path_of(P::graph.scopes, v), 1);
        const auto first = from_plain(v, plain.data(), Device::panel_width, Device::target.lanes);
        std::memcpy(memory.at(v.at), first.data(), 4 * first.size());
    }
    typename Device::template runner<P> runner;
    runner.bind(memory);
    typename Device::options options;
    if constexpr (requires { options.threads; }) options.threads = 1;
    Device device(options);
    by_batch all;
    const std::vector<float> x(static_cast<std::size_t>(40 * p.inputs[0].s.size()), 1.f);
    for (const int batch : batches) {
        std::vector<float>& y = all.emplace_back(static_cast<std::size_t>(batch * p.output_shapes[0].size()));
        const float* ports[] = {x.data(), nullptr};
        device.run(runner, {.ports = ports, .seed = 42, .batch = batch});
        std::memcpy(y.data(), memory.at(p.outputs[0]), 4 * y.size());
    }
    return all;
}
/// Fused, unfused, and by the GPU's kernels.
template <class Net>
static std::array<by_batch, 3> of_ones(Net, const std::vector<int>& batches) {
    const auto by = [&]<class Device, program_options O>() {
        return of_ones<compiled<request<Net, sinter::detail::stand_in_loss, void, program_mode::prediction, 40,
                                        Device::target, O>>, Device>(batches);
    };
    return {by.template operator()<cpu_device, program_options{}>(),
            by.template operator()<cpu_device, program_options{.fuse = false}>(),
            by.template operator()<test::rehearsal_device, program_options{}>()};
}
static float drawn(int stream, std::uint64_t i) {
    return uniform(philox_word(42, i, static_cast<std::uint64_t>(stream)));
}

using place_in_tensor = int (*)(int row, int column);
static void check(const char* what, const std::array<by_batch, 3>& got, const std::vector<int>& batches, int width,
                  float factor, place_in_tensor which) {
    for (std::size_t b = 0; b < batches.size(); ++b)
        for (std::size_t kind = 0; kind < 3; ++kind) {
            const std::vector<float>& y = got[kind][b];
            BOOST_REQUIRE_EQUAL(y.size(), static_cast<std::size_t>(batches[b] * width));
            for (int i = 0; i < batches[b] * width; ++i) {
                const float want = factor * drawn(1, static_cast<std::uint64_t>(which(i / width, i % width)));
                if (y[static_cast<std::size_t>(i)] == want) continue;
                BOOST_ERROR(what << " of " << width << (kind == 0 ? ", fused" : kind == 1 ? ", unfused"
                                                        : ", GPU's kernels") << ", batch " << batches[b]
                                 << ": element " << i << " is " << y[static_cast<std::size_t>(i)] << ", not " << want);
                break;
            }
        }
}
/// Net: ones to numbers times `factor`. Which(row, column): the number's place in its tensor.
template <int Width, class Net>
static void check(const char* what, Net net, float factor, place_in_tensor which) {
    const std::vector<int> batches{1, 3, 17, 40};
    check(what, of_ones(net, batches), batches, Width, factor, which);
}
template <int Width>
static void check_all() {
    constexpr float columns = Width;
    const auto example = [](int row, int) { return row; };
    const auto element = [](int row, int column) { return row * Width + column; };
    check<Width>("a number an example", array<Width> >> [](tensor x) { return by_example(x); }, 1, example);
    check<Width>("one number", array<Width> >> [](tensor x) { return for_all(x); }, 1, [](int, int) { return 0; });
    check<Width>("a number an element", array<Width> >> [](tensor x) { return by_element(x); }, 1, element);
    check<Width>("a number an example, and a sum", array<Width> >> [](tensor x) { return by_example(with_sum(x)); },
                 columns, example);
    check<Width>("one number, and a sum", array<Width> >> [](tensor x) { return for_all(with_sum(x)); }, columns,
                 [](int, int) { return 0; });
    check<Width>("a number an element, and a sum", array<Width> >> [](tensor x) { return by_element(with_sum(x)); },
                 columns, element);
    check<Width>("a number a column, and a sum", array<Width> >> [](tensor x) { return by_column(with_sum(x)); },
                 columns, [](int, int column) { return column; });
}
BOOST_AUTO_TEST_CASE(of_one_and_two_columns) { check_all<1>(), check_all<2>(); }
BOOST_AUTO_TEST_CASE(of_some_columns) { check_all<7>(); }
BOOST_AUTO_TEST_CASE(of_many_columns) { check_all<70>(); }

static constexpr tensor ones_by(tensor x, const shape& s) { return weights(x, "w", s, ones); }
BOOST_AUTO_TEST_CASE(behind_products_and_convolutions) {   // whose sums of ones by ones are the factors
    check<4>("one number behind a product",
             array<4> >> [](tensor x) { return for_all(ops::matmul(x, ones_by(x, extents(4, 4)))); }, 4,
             [](int, int) { return 0; });
    check<4>("a number an example behind a product",
             array<4> >> [](tensor x) { return by_example(ops::matmul(x, ones_by(x, extents(4, 4)))); },
             4, [](int row, int) { return row; });
    check<48>("one number behind a convolution",
              image<4, 4, 3> >> [](tensor x) { return for_all(ops::conv2d(x, ones_by(x, extents(1, 1, 3, 3)))); }, 3,
              [](int, int) { return 0; });
    check<48>("a number a pixel behind a convolution",
              image<4, 4, 3> >> [](tensor x) {
                  return ops::conv2d(x, ones_by(x, extents(1, 1, 3, 3))) * number_of(x, batch_of(4, 4, 1));
              }, 3, [](int row, int column) { return row * 16 + column / 3; });
}

/// What column numbers mean for an axis of one element, by hand.
template <class Net>
static void check_values(Net net, const std::vector<float>& want) {
    const std::vector<int> batches{1, 40};
    for (const by_batch& got : of_ones(net, batches))
        for (std::size_t b = 0; b < batches.size(); ++b) {
            std::vector<float> all;
            for (int i = 0; i < batches[b]; ++i) all.insert(all.end(), want.begin(), want.end());
            BOOST_TEST(got[b] == all, boost::test_tools::per_element());
        }
}
BOOST_AUTO_TEST_CASE(numbers_of_single_rows_and_columns) {
    check_values(array<1, 5> >> [](tensor x) { return ops::tril(x); }, {1, 0, 0, 0, 0});
    check_values(array<1, 5> >> [](tensor x) { return ops::triu(x, 1); }, {0, 1, 1, 1, 1});
    check_values(array<3, 1> >> [](tensor x) { return ops::tril(x, -1); }, {0, 1, 1});
    check_values(array<1, 5> >> [](tensor x) { return ops::tril(with_sum(x), 2); }, {5, 5, 5, 0, 0});
    check_values(array<5> >> [](tensor x) { return x * (ops::range(x, 1) + 2.f); }, {2, 2, 2, 2, 2});
    check_values(array<2, 3> >> [](tensor x) { return with_sum(x) * (ops::range(x, 1) + 2.f); }, {6, 6, 6, 6, 6, 6});
    check_values(array<3> >> [](tensor x) {
        return with_sum(x) + ops::reshape(ops::one_hot(ops::cast(ops::slice(x, -1, 0, 1) * 0.f, 1), 1), extents(1));
    }, {4, 4, 4});
}

/// Drop path: each example is kept or dropped by itself, half of them, from step to step others.
BOOST_AUTO_TEST_CASE(examples_are_dropped_one_by_one) {
    constexpr auto net = array<6> >> [](tensor x) {
        return greater(number_of(x, batch_of(1)), 0.5f) * x * parameter(x, "a", extents(6), ones);
    };
    trainer<decltype(net), decltype(mse), sgd, 64> t(sgd{.learning_rate = 0.f}, {.threads = 1, .seed = 42});
    const std::vector<float> x(64 * 6, 1.f), y(64 * 6, 0.f);
    double sum = 0;
    for (int step = 0; step < 16; ++step) {
        // ones against zeros
        const double kept = static_cast<double>(t.step({.x = x.data(), .y = y.data(), .size = 64}));
        BOOST_TEST(kept > 0.2);
        BOOST_TEST(kept < 0.8);
        sum += kept;
    }
    BOOST_TEST(std::abs(sum / 16 - 0.5) < 0.06);   // 1024 tosses: four deviations
}
