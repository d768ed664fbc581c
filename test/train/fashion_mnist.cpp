// SPDX-License-Identifier: BSL-1.0
// labels: slow
// needs: data zlib
// processors: 2
// optimise: native
#define BOOST_TEST_MODULE fashion_mnist
#include <boost/test/unit_test.hpp>
#include "io/data_folder.hpp"
#include "io/skip.hpp"
#include <sinter/sinter.hpp>

// Two nets learn real images, to what they are known to reach.
using namespace sinter;

constexpr auto mlp = image<28, 28, 1> >> flatten >> dense<128> >> relu >> dense<10>;
constexpr auto cnn = image<28, 28, 1>   // the quickstart's
    >> conv2d<32, 3> >> relu >> max_pool<2>
    >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;

static data::example_set images(const std::string& set) {
    const std::string folder = data_file("fashion-mnist") + '/' + set;
    for (const char* ending : {"", ".gz"}) {
        const std::string x = folder + "-images-idx3-ubyte" + ending, y = folder + "-labels-idx1-ubyte" + ending;
        if (std::filesystem::exists(x)) return data::idx(x, y, 10);
    }
    return {};
}
/// Trains until the test accuracy is `wanted`, at most `epochs` passes; it must be reached.
template <class Net>
static void reaches(Net net, double wanted, int epochs) {
    const data::example_set train = images("train"), test = images("t10k");
    if (train.size() == 0) return skip("no Fashion-MNIST");
    auto training = data::source(train) | data::shuffle(60'000, 1) | data::batch(64);
    auto testing = data::source(test) | data::batch(64);
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, {.threads = 2, .seed = 1}};
    double best = 0;
    model.train(training, {.epochs = epochs, .validation = &testing, .after_epoch = [&](const epoch_result& r) {
        best = std::max(best, r.accuracy);
        return best < wanted;
    }});
    BOOST_TEST(best >= wanted, "test accuracy " << best << ", needed " << wanted);
}

BOOST_AUTO_TEST_CASE(mlp_reaches_87_percent) { reaches(mlp, 0.87, 10); }
BOOST_AUTO_TEST_CASE(quickstart_net_reaches_91_percent_within_5_epochs) { reaches(cnn, 0.91, 5); }
