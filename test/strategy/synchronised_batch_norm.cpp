// SPDX-License-Identifier: BSL-1.0
// weighs: 3
#include <boost/test/unit_test.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "support/check_halves.hpp"
#include "support/half_members.hpp"

// batch_norm whose statistics are those of the global batch: members run a step up to each sum over
// all shards, add it up, and go on. Their states and gradients are those of one device that has the
// whole batch.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr program_options in_buckets{.gradients = gradient_policy::reduced, .bucket_bytes = 256};
template <class Net, class Loss, class Optimizer, int Batch>
using program = halved_program<std::remove_cvref_t<Net>, std::remove_cvref_t<Loss>, Optimizer, Batch, in_buckets>;

template <auto Norm>
constexpr auto images = image<5, 4, 2> >> conv2d<6, 3> >> Norm >> relu >> conv2d<4, 1> >> Norm >> flatten >> dense<3>;
template <auto Norm>
constexpr auto rows = features<7> >> dense<20> >> Norm >> relu >> dense<3>;
/// Two whose statistics meet in a sum: beta's gradients are one, and so is what is added up for them.
template <auto Norm>
constexpr auto residual = image<4, 4, 2> >> conv2d<4, 3> >> [](tensor x) {
    return ops::relu((conv2d<4, 3> >> Norm)(x) + (conv2d<4, 1> >> Norm)(x));
} >> flatten >> dense<3>;

/// Computed once more for its gradient, from sums of its own.
template <auto Norm>
constexpr auto again = features<7> >> checkpoint(dense<20> >> Norm >> relu) >> dense<3>;

/// `own`, `global`: the same net with batch_norm and with synchronised_batch_norm.
template <int Points, class Own, class Global>
void train(Own, Global, const char* what) {
    constexpr int batch = 13;
    using loss = std::remove_cvref_t<decltype(softmax_cross_entropy)>;
    constexpr momentum o{.learning_rate = 0.05f};
    using P = program<Global, loss, momentum, batch>;
    BOOST_TEST(P::v.n_sync_points == Points, what);
    BOOST_TEST((program<Own, loss, momentum, batch>::v.n_sync_points == 0));
    for (int i = 1; i < Points; ++i) BOOST_TEST(P::v.sync_points[i - 1].after < P::v.sync_points[i].after, what);
    BOOST_TEST(P::v.sync_points[Points - 1].after < P::v.segments.first_update, what);
    trainer<Own, loss, momentum, batch> one(o, {.threads = 1});
    half_members<P, momentum> alone(1, one, o), two(2, one, o), five(5, one, o);
    for (int step = 0; step < 6; ++step) {
        // 3: two of five have none
        const random_batch<P> b(static_cast<std::uint64_t>(step), step == 4 ? 3 : step % 2 ? batch - 2 : batch);
        one.step(b.view());
        alone.step(b.view());
        two.step(b.view());
        five.step(b.view());
    }
    BOOST_TEST(alone[0].equals(one), what << ": one shard is the batch");
    BOOST_TEST(two[0].difference(one) < 2e-5, what);
    BOOST_TEST(five[4].difference(one) < 2e-5, what);
    BOOST_TEST(two[0].difference(two[1]) == 0, what);
    BOOST_TEST(five[4].difference(five[1]) == 0, what);
    for (int i = 0; i < P::v.n_parameters; ++i) {   // states of members that had no examples are older
        const variable_info& v = P::v.parameters[i];
        BOOST_TEST((five[0].plain(v) == five[4].plain(v)), what);
    }
}
BOOST_AUTO_TEST_CASE(members_end_where_one_device_ends) {
    train<4>(rows<batch_norm>, rows<synchronised_batch_norm>, "rows");
    train<8>(images<batch_norm>, images<synchronised_batch_norm>, "images");
    train<7>(residual<batch_norm>, residual<synchronised_batch_norm>, "residual");
    train<6>(again<batch_norm>, again<synchronised_batch_norm>, "checkpointed");
    train<4>(rows<batch_norm_with<0.9, 1e-5>>, rows<synchronised_batch_norm_with<0.9, 1e-5>>, "with other numbers");
}
BOOST_AUTO_TEST_CASE(local_statistics_are_something_else) {
    using loss = std::remove_cvref_t<decltype(softmax_cross_entropy)>;
    using P = program<decltype(rows<batch_norm>), loss, momentum, 12>;
    trainer<std::remove_cvref_t<decltype(rows<batch_norm>)>, loss, momentum, 12> one(
        {.learning_rate = 0.05f}, {.threads = 1});
    half_members<P, momentum> three(3, one, {.learning_rate = 0.05f});
    const random_batch<P> b(1);
    one.step(b.view());
    three.step(b.view());
    BOOST_TEST(three[0].difference(one) > 1e-3);
}

/// The loss of mse(batch_norm(scale x)), in double, over the whole batch.
struct reference {
    int n = 0;
    std::vector<double> x, t;
    double loss(const std::vector<double>& p) const {   // scale[3], gamma[3], beta[3]
        double all = 0;
        for (std::size_t c = 0; c < 3; ++c) {
            double mean = 0, variance = 0;
            for (int i = 0; i < n; ++i) mean += x[at(i, c)] * p[c] / n;
            for (int i = 0; i < n; ++i) variance += std::pow(x[at(i, c)] * p[c] - mean, 2) / n;
            for (int i = 0; i < n; ++i) {
                const double y = p[3 + c] * (x[at(i, c)] * p[c] - mean) / std::sqrt(variance + 1e-3) + p[6 + c];
                all += std::pow(y - t[at(i, c)], 2) / 3 / n;
            }
        }
        return all;
    }
    double gradient(std::vector<double> p, std::size_t k, double h = 1e-5) const {
        p[k] += h;
        const double up = loss(p);
        p[k] -= 2 * h;
        return (up - loss(p)) / (2 * h);
    }
    static std::size_t at(int i, std::size_t c) { return static_cast<std::size_t>(i) * 3 + c; }
};
/// Gradients by central differences; channels whose mean is far from zero, a thousand deviations and more.
BOOST_AUTO_TEST_CASE(gradients_in_double) {
    constexpr auto net = features<3> >> [](tensor x) { return x * parameter(x, "scale", extents(3), ones); }
        >> synchronised_batch_norm;
    using P = program<decltype(net), mse_loss, sgd, 11>;
    trainer<std::remove_cvref_t<decltype(net)>, mse_loss, sgd, 11> first({}, {.threads = 1});
    for (const double offset : {0., 1000.}) {
        random_batch<P> b(5);
        reference r{11, {}, {}};
        for (int i = 0; i < 33; ++i) {
            float& x = const_cast<float&>(b.view().inputs[0].values[i]);
            x += static_cast<float>(offset * (i % 3));
            r.x.push_back(static_cast<double>(x));
            r.t.push_back(static_cast<double>(b.view().targets[0].values[i]));
        }
        half_members<P, sgd> three(3, first, {});
        three.gradients(b.view());
        double loss = 0;
        for (int m = 0; m < 3; ++m) loss += static_cast<double>(*three[m].at(P::v.loss));
        const std::vector<double> at{1, 1, 1, 1, 1, 1, 0, 0, 0};
        BOOST_TEST(std::abs(loss - r.loss(at)) < 1e-5 * (1 + offset));
        for (std::size_t k = 0; k < 9; ++k) {
            const variable_info& v = P::v.parameters[k / 3];
            const double got = static_cast<double>(three[1].at(v.gradient)[k % 3]), wanted = r.gradient(at, k);
            // a sum of terms a thousand times as large as itself, undivided as well
            if (k < 3 && offset != 0) continue;
            BOOST_TEST(std::abs(got - wanted) < 1e-6 + 1e-7 * offset, k << ": " << got << ", not " << wanted);
        }
        for (int m = 0; m < 3; ++m)   // running statistics
            for (std::size_t c = 0; c < 3; ++c) {
                double mean = 0, variance = 0;
                for (int i = 0; i < 11; ++i) mean += r.x[reference::at(i, c)] / 11;
                for (int i = 0; i < 11; ++i) variance += std::pow(r.x[reference::at(i, c)] - mean, 2) / 11;
                BOOST_TEST(std::abs(static_cast<double>(three[m].at(P::v.states[0].at)[c]) - 0.01 * mean) <
                           1e-7 * (1 + std::abs(mean)));
                BOOST_TEST(std::abs(static_cast<double>(three[m].at(P::v.states[1].at)[c]) - 0.99 - 0.01 * variance) <
                           1e-6);
            }
    }
}

} // namespace
