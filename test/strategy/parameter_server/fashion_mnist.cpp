// SPDX-License-Identifier: BSL-1.0
// shows servers: `async` and `stale<3>` learn Fashion-MNIST within a point of one device
// labels: slow
// needs: distributed data zlib
// processors: 2
// optimise: native
#define BOOST_TEST_MODULE fashion_mnist
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>

#include "io/data_folder.hpp"
#include "io/skip.hpp"

// Real images: two workers who do not wait for each other, or for three updates at most, learn as one device does by as
// many updates.
using namespace sinter;

namespace {

constexpr auto net = image<28, 28, 1> >> flatten >> dense<128> >> relu >> dense<10>;
constexpr std::int64_t steps = 4 * 938;   // four passes by batches of 64

data::dataset images(const std::string& set) {
    const std::string folder = data_file("fashion-mnist") + '/' + set;
    for (const char* ending : {"", ".gz"}) {
        const std::string x = folder + "-images-idx3-ubyte" + ending, y = folder + "-labels-idx1-ubyte" + ending;
        if (std::filesystem::exists(x)) return data::idx(x, y, 10);
    }
    return {};
}
/// What a model has learned by so many updates. `seed`: of the order of examples.
template <class Model>
double learned(Model& model, std::uint64_t seed) {
    const data::dataset train = images("train"), test = images("t10k");
    auto training = data::source(train) | data::shuffle(60'000, seed) | data::batch(64);
    auto testing = data::source(test) | data::batch(64);
    model.train(training, {.epochs = 0, .max_steps = steps, .progress = nullptr});
    return model.evaluate(testing).accuracy;
}
template <class... Strategy>
auto model_of(Strategy... s) {
    return estimator{net, softmax_cross_entropy, adam{.learning_rate = cosine(1e-3f, steps)}, s...,
                     {.threads = 1, .seed = 1}};
}
/// `shared`: all workers read the same batches, and take their parts.
template <auto Mode>
double by_two_workers(bool shared) {
    server_job job(2, 1, 20);
    job.start_all([shared](const cluster& c) {
        ::alarm(250);   // longer than a test of few steps has
        auto model = model_of(parameter_server<Mode>{c});
        const double accuracy = learned(model, shared || c.rank() < 0 ? 1 : static_cast<std::uint64_t>(1 + c.rank()));
        return std::to_string(accuracy);
    });
    double accuracy = 0;
    for (int i = 0; i < job.size(); ++i) {
        const std::string said = job.result(i, 240);
        BOOST_TEST_MESSAGE("process " << i << ": " << said);
        if (i == 0) accuracy = std::atof(said.c_str());
    }
    return accuracy;
}

} // namespace

BOOST_AUTO_TEST_CASE(stale_gradients_learn_as_well) {
    if (images("train").size() == 0) return skip("no Fashion-MNIST");
    auto alone = model_of();
    const double single = learned(alone, 1);
    const double without_waiting = by_two_workers<async>(false), bounded = by_two_workers<stale<3>>(true);
    BOOST_TEST(single > 0.84, single);
    BOOST_TEST(without_waiting > single - 0.01, "async " << without_waiting << ", one device " << single);
    BOOST_TEST(bounded > single - 0.01, "stale<3> " << bounded << ", one device " << single);
    std::cout << "accuracy of one device " << single << ", async " << without_waiting << ", stale<3> " << bounded
        << std::endl;
}
