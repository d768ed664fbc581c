// SPDX-License-Identifier: BSL-1.0
// shows numbers: a step over parts equals the step over the whole, with weights, ignored labels, short parts
#define BOOST_TEST_MODULE shards_of_a_batch
#include <boost/test/unit_test.hpp>

#include <sinter/sinter.hpp>
#include <sinter/train/losses/ctc.hpp>
#include <sinter/train/losses/per_output.hpp>
#include <sinter/train/losses/weighted.hpp>

#include "support/program_run.hpp"

/// A batch of ten, divided into shards that are told of the whole: their losses and gradients add
/// up to the batch's. Means of weighted values are divided by what the weights of all shards sum up
/// to, which each shard learns in the midst of its step.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr int examples = 10;
using cut = std::vector<int>;
const cut cuts[] = {{10}, {5, 5}, {4, 3, 3}, {1, 8, 1}};

/// Numbers for all ports of a program: floats, weights that are not negative, integers in their range.
std::vector<doubles> drawn_ports(const program_run& p, int ignored_share) {
    std::vector<doubles> all;
    random_stream r(3);
    for (std::size_t i = 0; i < p.inputs.size() + p.targets.size(); ++i) {
        const shape& s = i < p.inputs.size() ? p.inputs[i] : p.targets[i - p.inputs.size()];
        std::vector<int> d{examples};
        for (int k = 0; k < s.rank; ++k) d.push_back(s.d[k]);
        doubles x(d);
        for (int k = 0; k < x.size(); ++k) {
            if (s.type == dtype::i32) x[k] = r.below(static_cast<std::uint32_t>(p.below[i]));
            else x[k] = static_cast<double>(r.uniform(0.1f, 2));
            if (s.type == dtype::i32 && i >= p.inputs.size() && ignored_share && k % ignored_share == 1) x[k] = -1;
        }
        all.push_back(x);
    }
    return all;
}

struct sums {
    double loss = 0;
    std::vector<std::vector<double>> gradients;
    std::vector<double> weights;   ///< of the losses' means

    void add(program_run& p) {
        loss += static_cast<double>(p.loss);
        gradients.resize(p.parameters.size());
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            const std::vector<float> g = p.gradient(static_cast<int>(i));
            gradients[i].resize(g.size());
            for (std::size_t k = 0; k < g.size(); ++k) gradients[i][k] += static_cast<double>(g[k]);
        }
        for (const variable_info& v : p.parameters) {   // the next run finds the weights that this one did
            const auto first =
                sinter::detail::initial_values(v, p.paths[static_cast<std::size_t>(&v - p.parameters.data())], 1);
            p.set(v, doubles({static_cast<int>(first.size())}, std::vector<double>(first.begin(), first.end())));
        }
        weights.resize(p.loss_weights.size());
        for (std::size_t k = 0; k < weights.size(); ++k) weights[k] += static_cast<double>(p.loss_weights[k]);
    }
};

/// The shards of one batch. `weights`: what all of them weigh, which none has before it asks for
/// it; nothing: each its own.
sums run_shards(program_run& p, const std::vector<doubles>& all, const cut& sizes, const std::vector<double>& weights) {
    sums s;
    int begin = 0;
    std::uint64_t index = 0;
    for (const int n : sizes) {
        std::vector<doubles> ports;
        for (const doubles& x : all) ports.push_back(x.part(begin, n));
        std::vector<float> handed_in(weights.size(), NAN);
        p.shard = {.index = index++, .global_batch = examples,
                   .loss_weights = weights.empty() ? nullptr : handed_in.data()};
        p.before_loss_weights = [&] { std::copy(weights.begin(), weights.end(), handed_in.begin()); };
        p.run(n, ports);
        s.add(p);
        begin += n;
    }
    p.shard = {};
    p.before_loss_weights = nullptr;
    return s;
}
void check_close(const sums& whole, const sums& parts, double tolerance) {
    BOOST_TEST(std::abs(parts.loss - whole.loss) <= tolerance * (1 + std::abs(whole.loss)));
    for (std::size_t i = 0; i < whole.gradients.size(); ++i) {
        double largest = 0, off = 0;
        for (std::size_t k = 0; k < whole.gradients[i].size(); ++k) {
            largest = std::fmax(largest, std::abs(whole.gradients[i][k]));
            off = std::fmax(off, std::abs(parts.gradients[i][k] - whole.gradients[i][k]));
        }
        BOOST_TEST(largest > 0);
        BOOST_TEST(off <= tolerance * largest, "gradient " << i << " is off by " << off << " of " << largest);
    }
}

/// `Weights`: how many of its means are weighted. `ignored_share`: every so-manieth label is -1.
template <int Weights, program_options O, class Net, class Loss>
void one_program(int ignored_share, double tolerance) {
    const auto p = make_run<Net, Loss, O, examples>();
    const std::vector<doubles> all = drawn_ports(*p, ignored_share);
    p->run(examples, all);   // knows nothing of shards
    sums whole;
    whole.add(*p);
    BOOST_REQUIRE(whole.weights.size() == std::size_t{Weights});
    for (const cut& sizes : cuts) {
        const std::vector<double> weights = run_shards(*p, all, sizes, {}).weights;   // each shard's own, added up
        for (std::size_t k = 0; k < weights.size(); ++k)
            BOOST_TEST(std::abs(weights[k] - whole.weights[k]) <= 1e-5 * weights[k]);
        check_close(whole, run_shards(*p, all, sizes, weights), tolerance);
    }
}
template <int Weights = 0, class Net, class Loss>
void check(Net, Loss, int ignored_share = 0) {
    one_program<Weights, as_fused, Net, Loss>(ignored_share, 1e-6);
    one_program<Weights, as_unfused, Net, Loss>(ignored_share, 1e-6);
    one_program<Weights, as_trained, Net, Loss>(ignored_share, 2e-5);   // gradients are differences of weights there
}

constexpr auto net = features<6> >> dense<5> >> activation::tanh >> dense<3>;
constexpr auto ignoring = softmax_cross_entropy_with<cross_entropy_options{}.ignoring(-1)>;
/// A row of scores for each of four places.
constexpr auto sequence_net = array<4, 3> >> dense<5> >> activation::tanh >> dense<3>;

} // namespace

BOOST_AUTO_TEST_CASE(means_over_the_batch) {
    check(net, mse);
    check(net, softmax_cross_entropy);
    check(sequence_net, softmax_cross_entropy);
    check(net, summed(mse));
    check(net, averaged_over_batch(weighted(mse)));
    check(array<6, 4> >> dense<4>, ctc<2, ctc_options{.leaves_out_impossible = true}>, 3);
}
BOOST_AUTO_TEST_CASE(weighted_means) {
    check<1>(net, weighted(mse));
    check<1>(net, weighted(softmax_cross_entropy));
    check<1>(sequence_net, row_weighted(softmax_cross_entropy));
    check<1>(net, [](tensor y, tensor t) { return weighted_values((y - t) * (y - t), t * t + 0.1f); });
}
BOOST_AUTO_TEST_CASE(ignored_labels) {
    check<1>(sequence_net, ignoring, 3);
    check<1>(sequence_net, weighted(ignoring), 5);
    check<1>(net, ignoring, 2);
}
/// Steps up to each example's length count, by a weight of 0 or 1 that the loss makes itself.
BOOST_AUTO_TEST_CASE(sequences_with_lengths) {
    constexpr target_list targets{target_kind::class_index, index_target<>(5)};
    check<1>(sequence_net, expects<targets>([](tensor z, tensor labels, tensor lengths) {
        const tensor of_example = ops::reshape(ops::to_float(lengths), extents(1)), step = ops::range(z, 4);
        return weighted_values(softmax_cross_entropy(z, labels), ops::greater(of_example, step));
    }));
}
/// Means that the loss makes over the batch itself are its shard's, and count by its examples; what
/// does not depend on the batch counts once in all.
BOOST_AUTO_TEST_CASE(losses_that_are_one_number_a_batch) {
    check(net, [](tensor y, tensor t) { return mean((y - t) * (y - t), {batch_axis, 0}); });
    check(net, [](tensor y, tensor t) { return over_batch(sum(ops::abs(y - t), {batch_axis, 0})) + 0.5f; });
    check(net, summed([](tensor y, tensor t) { return over_global_batch(sum((y - t) * (y - t), {-1})); }));
    check(features<6> >> [](tensor x) {
        const tensor scale = parameter(x, "scale", extents(6), ones);
        return outputs(x * scale, sum(scale * scale, {0}));
    }, expects<target_list{target_kind::same_as_output}>([](bundle y, bundle t) {
        return mean((y[0] - t[0]) * (y[0] - t[0]), {batch_axis, 0}) + 0.01f * y[1];
    }));
}
/// Each output's mean has a divisor of its own.
BOOST_AUTO_TEST_CASE(a_loss_for_each_output) {
    constexpr auto two = array<4, 3> >> [](tensor x) {
        const tensor h = activation::tanh(dense<5>(x));
        return outputs(dense<3>(h), dense<2>(flatten(h)));
    };
    check<2>(two, per_output(ignoring, weigh<0.3>(weighted(mse))), 3);
    check<1>(two, per_output(weigh<2>(ignoring), mse), 3);
    check(two, per_output(softmax_cross_entropy, weigh<0.3>(mse)));
    check(two, per_output(softmax_cross_entropy, summed(mse)));
}
/// Shards of different weights: 10, 9 and 7 labels count of 4 x 4, 4 x 3 and 4 x 3.
BOOST_AUTO_TEST_CASE(shards_in_which_not_as_many_count) {
    const auto p = make_run<std::remove_const_t<decltype(sequence_net)>, std::remove_const_t<decltype(ignoring)>,
                            as_fused, examples>();
    std::vector<doubles> all = drawn_ports(*p, 0);
    for (const int k : {0, 1, 5, 6, 7, 15, 16, 20, 27, 28, 29, 30, 34, 39}) all[1][k] = -1;
    p->run(examples, all);
    sums whole;
    whole.add(*p);
    const sums own = run_shards(*p, all, {4, 3, 3}, {});
    BOOST_TEST(own.weights == std::vector<double>{26}, boost::test_tools::per_element());
    BOOST_TEST(p->loss_weights == std::vector<float>{7}, boost::test_tools::per_element());
    check_close(whole, run_shards(*p, all, {4, 3, 3}, own.weights), 1e-6);
    BOOST_TEST(std::abs(own.loss - whole.loss) > 0.1);   // means of shards are no shares of the batch's
}
/// Where nothing counts in one shard, or in none.
BOOST_AUTO_TEST_CASE(shards_in_which_nothing_counts) {
    const auto p =
        make_run<std::remove_const_t<decltype(net)>, std::remove_const_t<decltype(ignoring)>, as_fused, examples>();
    std::vector<doubles> all = drawn_ports(*p, 0);
    for (int k = 0; k < 5; ++k) all[1][k] = -1;
    p->run(examples, all);
    sums whole;
    whole.add(*p);
    check_close(whole, run_shards(*p, all, {5, 5}, {5}), 1e-6);
    for (int k = 5; k < 10; ++k) all[1][k] = -1;
    const sums none = run_shards(*p, all, {5, 5}, {0});
    BOOST_TEST(none.loss == 0);
    for (const auto& g : none.gradients)
        for (const double e : g) BOOST_TEST(e == 0);
}
/// Each shard in a replica of its own, which stops in the midst of its step until the weights of
/// all have been added up.
BOOST_AUTO_TEST_CASE(steps_that_wait_for_the_weights_of_all_shards) {
    using net_type = std::remove_const_t<decltype(sequence_net)>;
    using loss_type = decltype(weighted(ignoring));
    const auto one = make_run<net_type, loss_type, as_fused, examples>();
    const std::vector<doubles> all = drawn_ports(*one, 3);
    one->run(examples, all);
    sums whole;
    whole.add(*one);
    std::vector<std::unique_ptr<program_run>> replicas;
    const cut sizes{4, 3, 3};
    float weight = 0;
    int begin = 0;
    for (const int n : sizes) {
        program_run& p = *replicas.emplace_back(make_run<net_type, loss_type, as_fused, examples>());
        std::vector<doubles> ports;
        for (const doubles& x : all) ports.push_back(x.part(begin, n));
        BOOST_REQUIRE(p.loss_weights_ready > 0);
        p.launches.end = p.loss_weights_ready;
        p.run(n, ports);
        p.read_loss_weights();
        weight += p.loss_weights.at(0);
        begin += n;
    }
    sums parts;
    for (std::size_t i = 0; i < replicas.size(); ++i) {
        replicas[i]->shard = {.index = i, .global_batch = examples, .loss_weights = &weight};
        replicas[i]->run_rest(sizes[i]);
        parts.add(*replicas[i]);
    }
    check_close(whole, parts, 1e-6);
}
/// What evaluation gives of each shard adds up likewise; without what all shards hold, by loss weights.
BOOST_AUTO_TEST_CASE(evaluation) {
    const auto p = make_run<std::remove_const_t<decltype(sequence_net)>, std::remove_const_t<decltype(ignoring)>,
                            as_fused, examples, program_mode::evaluation>();
    const std::vector<doubles> all = drawn_ports(*p, 3);
    p->run(examples, all);
    const double whole = static_cast<double>(p->loss), weight = static_cast<double>(p->loss_weights.at(0));
    for (const cut& sizes : cuts) {
        double loss = 0, by = 0;
        int begin = 0;
        for (const int n : sizes) {
            std::vector<doubles> ports;
            for (const doubles& x : all) ports.push_back(x.part(begin, n));
            p->run(n, ports);
            loss += static_cast<double>(p->loss) * static_cast<double>(p->loss_weights.at(0));
            by += static_cast<double>(p->loss_weights.at(0));
            begin += n;
        }
        BOOST_TEST(by == weight);
        BOOST_TEST(std::abs(loss / by - whole) <= 1e-6 * whole);
        BOOST_TEST(std::abs(run_shards(*p, all, sizes, {weight}).loss - whole) <= 1e-6 * whole);
    }
}
