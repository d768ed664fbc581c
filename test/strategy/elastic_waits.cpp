// SPDX-License-Identifier: BSL-1.0
// shows elastic: a process that joins has the others' weights and tables, and contributes nothing before
// needs: distributed
// waits: until somebody has joined
// weighs: 2
#define BOOST_TEST_MODULE elastic_waits
#include <boost/test/unit_test.hpp>
#include "strategy/elastic_jobs.hpp"
#include "support/far_device.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/ops/softplus.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/optimizers/momentum.hpp>

// Members of elastic jobs that are started again where no step can be told to them: losses that alternate, and devices
// with memory of their own. They are given the model's state while the others wait; under canonical<4> all have the
// bits of one process.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto far_model = [](const auto& s) {
    constexpr auto net = features<2> >> dense<8> >> batch_norm >> relu >> dense<2>;
    return estimator{net, softmax_cross_entropy, adam{.learning_rate = 0.02f}, max_batch<16>, s, {.threads = 1}};
};

constexpr auto drawing_net = features<2> >> [](tensor x) {
    constexpr auto critic = shared<"critic">(dense<6> >> batch_norm >> relu >> dense<1>);
    const tensor drawn = named<"generator">(dense<2>)(x * 0.5f);
    return outputs(critic(x), critic(drawn));
};
struct telling {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const {
        return sum(ops::softplus(-y[0]) + ops::softplus(y[1]), {-1});
    }
};
struct drawing {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const { return sum(ops::softplus(-y[1]), {-1}); }
};
constexpr auto alternating_model = [](const auto& s) {
    constexpr alternating rounds{phase<"critic/*">(telling{}, adam{.learning_rate = 0.01f}, 2),
                                 phase<"generator/*">(drawing{}, momentum{.learning_rate = 0.05f})};
    return estimator{drawing_net, rounds, max_batch<16>, s, {.threads = 1}};
};
auto pictures() {
    random_stream random(5);
    std::vector<float> x(200 * 2);
    for (float& v : x) v = random.normal();
    data::dataset d;
    d.input(extents(2), std::move(x));
    return d | data::shuffle(50) | data::batch(16);
}

template <class Data, class Model, class... Hooks>
std::vector<float> trained(Data data, Model model, Hooks&... hooks) {
    model.train(data, {.max_steps = steps_of_a_life, .progress = nullptr}, hooks...);
    return numbers(model);
}
template <class Device = cpu_device, class Make, class Data>
std::string live(Make make, Data data, const std::vector<std::string>& at, int slot, const plan& p) {
    auto model = make(elastic(canonical<4>(multi_worker<ring, Device>{cluster::of(at, slot, quick())})));
    auto batches = data();
    std::string members;
    conduct c{p, members};
    model.train(batches, {.max_steps = steps_of_a_life, .progress = nullptr}, c);
    const bool same = numbers(model) == trained(data(), make(canonical<4>(single<Device>{})));
    return "members " + members + healing_of(model.inner().session()) + (same ? ", the same bits" : ", other bits");
}
/// Three members, of whom one is killed and started again.
template <class Live>
void joins(Live one_life) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] { return one_life(at, r, plan{.die_at = r == 1 ? 8 : -1, .pause = 0.05, .joined = 3}); });
    BOOST_TEST(job.result(1, 100) == "KILLED");
    const int again = job.start([=] { return one_life(at, 1, plan{.pause = 0.05, .joined = 3}); });
    for (const int i : {0, 2})
        BOOST_TEST(job.result(i, 100) == "members 323 repeated 0 images 0 waited 0, the same bits");
    BOOST_TEST(job.result(again, 100) == "members 3 repeated 0 images 0 waited 1, the same bits");
}

} // namespace

BOOST_AUTO_TEST_CASE(losses_that_alternate) {
    joins([](const auto& at, int slot, const plan& p) { return live(alternating_model, pictures, at, slot, p); });
}
BOOST_AUTO_TEST_CASE(devices_with_memory_of_their_own) {
    joins([](const auto& at, int slot, const plan& p) { return live<far_device>(far_model, training, at, slot, p); });
}
