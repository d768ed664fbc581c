// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/strategy/multi_worker.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "net/processes.hpp"
#include "support/same_training.hpp"

/// Whether a net trains under mirrored<2>, and in two processes that talk over TCP, as on one device.
namespace sinter::test {

/// How many examples the steps have: not always as many in both halves.
inline const std::vector<int> strategy_batches{8, 7, 8, 5};
inline constexpr double strategy_tolerance = 1e-5;   ///< of weights: times max(1, |w|)

/// Tensors one after the other: parameters and states (running statistics), then the losses of all steps.
struct training_outcome {
    std::vector<std::string> names{};
    std::vector<std::vector<float>> before{}, after{};
};
template <class Trainer>
training_outcome outcome_of_training(Trainer& t) {
    training_outcome o;
    const auto read = [&](std::vector<std::vector<float>>& to) {
        for (int i = 0; i < t.parameters(); ++i) to.push_back(t.plain(t.parameter(i)));
        for (int i = 0; i < t.states(); ++i) to.push_back(t.plain(t.state(i)));
    };
    for (int i = 0; i < t.parameters(); ++i) o.names.push_back(std::string(t.path(t.parameter(i))));
    for (int i = 0; i < t.states(); ++i) o.names.push_back(std::string(t.path(t.state(i))));
    o.names.push_back("losses");
    read(o.before);
    std::vector<float> losses;
    for (int i = 0; i < 20; ++i) {
        const random_batch<typename Trainer::evaluation> b(static_cast<std::uint64_t>(i),
                                                           strategy_batches[static_cast<std::size_t>(i) % 4]);
        for (const data::input_view& labels : b.view().targets)   // to ctc 0 is no label
            for (int k = 0; labels.indices && k < b.view().size * labels.width; ++k)
                if (auto& l = const_cast<std::int32_t&>(labels.indices[k]); l == 0) l = 1;
        losses.push_back(t.step(b.view()));
    }
    read(o.after);
    o.before.emplace_back(losses.size());
    o.after.push_back(std::move(losses));
    return o;
}
/// The largest |a - b| / max(1, |a|), and where it is.
inline std::pair<double, std::string> furthest_relative(const training_outcome& a,
                                                        const std::vector<std::vector<float>>& b) {
    if (a.after.size() != b.size()) return {INFINITY, "how many tensors"};
    std::pair<double, std::string> most{0, "nowhere"};
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (a.after[i].size() != b[i].size()) return {INFINITY, "size of " + a.names[i]};
        for (std::size_t k = 0; k < b[i].size(); ++k) {
            const double x = static_cast<double>(a.after[i][k]);
            const double d = std::abs(x - static_cast<double>(b[i][k])) / std::max(1., std::abs(x));
            if (!(d <= most.first)) most = {d, a.names[i]};
        }
    }
    return most;
}

/// `make(max_batch<B>, strategy)`: a trainer. `reference`: the strategy of the one device with which
/// the others are compared, canonical<2>() where what a net computes depends on how batches are cut.
/// `unmoved`: how many tensors training does not change (say why).
template <class Make, class Reference>
void check_under_strategies(const char* what, Make make, Reference reference, int unmoved = 0) {
    processes two;   // forked before there are threads
    const auto at = own_addresses(2);
    for (int r = 0; r < 2; ++r)
        two.start([&, r] {
            auto t = make(max_batch<4>, multi_worker<ring>{cluster::of(at, r, quick(10))});
            std::string text = "done";
            for (const auto& tensor : outcome_of_training(t).after)
                text.append(reinterpret_cast<const char*>(tensor.data()), 4 * tensor.size());
            return text;
        });
    auto one = make(max_batch<8>, reference);
    const training_outcome wanted = outcome_of_training(one);
    for (const float l : wanted.after.back()) BOOST_TEST(std::isfinite(l), what);
    int still = 0;
    for (std::size_t i = 0; i < wanted.before.size(); ++i)
        if (!(furthest(wanted.before[i], wanted.after[i]) > 20 * strategy_tolerance)) {
            ++still;
            BOOST_TEST_MESSAGE(what << ": " << wanted.names[i] << " hardly moved");
        }
    BOOST_TEST(still == unmoved, what << ": " << still << " tensors did not move");

    auto replicas = make(max_batch<8>, mirrored<2>{});
    const auto far = furthest_relative(wanted, outcome_of_training(replicas).after);
    BOOST_TEST_MESSAGE(what << ": mirrored<2> differs by " << far.first << " in " << far.second);
    BOOST_TEST(far.first <= strategy_tolerance, what << ", mirrored<2>: " << far.first << " in " << far.second);
    for (int r = 0; r < 2; ++r) {
        const std::string text = two.result(r, 50);
        std::vector<std::vector<float>> got;
        std::size_t from = 4, bytes = 4;
        for (const auto& tensor : wanted.after) bytes += 4 * tensor.size();
        BOOST_TEST(text.size() == bytes, what << ", process " << r << ": " << text.substr(0, 200));
        if (text.size() != bytes) continue;
        for (const auto& tensor : wanted.after) {
            std::memcpy(got.emplace_back(tensor.size()).data(), text.data() + from, 4 * tensor.size());
            from += 4 * tensor.size();
        }
        const auto d = furthest_relative(wanted, got);
        BOOST_TEST_MESSAGE(what << ": process " << r << " differs by " << d.first << " in " << d.second);
        BOOST_TEST(d.first <= strategy_tolerance, what << ", process " << r << ": " << d.first << " in " << d.second);
    }
}

/// Trainers of a net, as check_under_strategies makes them.
template <class Net, class Loss, class Optimizer>
auto trainers_of(Net net, Loss loss, Optimizer optimizer) {
    return [=](auto most, auto strategy) { return trainer{net, loss, optimizer, most, strategy, {.threads = 1}}; };
}

} // namespace sinter::test
