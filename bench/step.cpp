// SPDX-License-Identifier: BSL-1.0
// The time of one training step of a model, as one JSON line:
//   step --model mlp|lenet|cnn --optimizer sgd|adam --threads N
// Input is 28 x 28 x 1, batch 64, float32, the loss softmax cross entropy; data are fixed pseudo-random numbers.
// With --kernels 1 a table of every kernel's time, rate and share goes to standard error first.
#include <sinter/profile/kernel_times.hpp>
#include <sinter/sinter.hpp>
#include <cstdio>
#include <cstring>

using namespace sinter;

namespace {

constexpr auto mlp = image<28, 28, 1> >> flatten >> dense<128> >> relu >> dense<10>;
constexpr auto lenet = image<28, 28, 1>
    >> conv2d<6, 5> >> relu >> max_pool<2>
    >> conv2d<16, 5, window{.padding = padding::valid}> >> relu >> max_pool<2>
    >> flatten >> dense<120> >> relu >> dense<84> >> relu >> dense<10>;
constexpr auto cnn = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2> >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dense<10>;

struct settings {
    std::string model = "cnn", optimizer = "sgd";
    int threads = 1;
    double seconds = 2;
    bool kernels = false;
};

data::example_set examples() {
    constexpr int n = 64 * 16;
    std::vector<float> x(n * 784);
    std::vector<std::int32_t> y(n);
    random_stream r(7);
    for (float& v : x) v = r.uniform();
    for (std::int32_t& v : y) v = static_cast<std::int32_t>(r.below(10));
    return data::example_set(extents(28, 28, 1), std::move(x)).labels(std::move(y), 10);
}

template <class Net, class Optimizer>
int run(Net, Optimizer optimizer, const settings& s) {
    trainer<Net, softmax_cross_entropy_loss, Optimizer> t(optimizer, {.threads = s.threads});
    auto batches = examples() | data::batch(64);
    if (s.kernels) {
        auto endless = examples() | data::repeat() | data::batch(64);
        auto next = endless.begin();
        profile::kernel_times(t, [&]() -> const data::batch_view& { return *++next; }, 200, stderr);
    }
    std::vector<double> ms;
    float loss = 0;
    const double began = monotonic_seconds();
    for (int round = 0; monotonic_seconds() - began < s.seconds; ++round)   // a round: sixteen different batches
        for (const data::batch_view& b : batches) {
            const double t0 = monotonic_seconds();
            loss = t.step(b);
            if (round) ms.push_back(1e3 * (monotonic_seconds() - t0));
        }
    if (ms.empty()) return 1;
    std::sort(ms.begin(), ms.end());
    std::printf("{\"system\": \"sinter\", \"model\": \"%s\", \"optimizer\": \"%s\", \"threads\": %d, \"median_ms\": %.5f, "
                "\"best_ms\": %.5f, \"steps\": %zu, \"loss\": %.5f, \"bytes\": %lld}\n",
                s.model.c_str(), s.optimizer.c_str(), t.threads(), ms[ms.size() / 2], ms.front(), ms.size(),
                static_cast<double>(loss), static_cast<long long>(t.bytes()));
    return 0;
}

template <class Net>
int with_optimizer(Net net, const settings& s) {
    if (s.optimizer == "sgd") return run(net, sgd{.learning_rate = 0.01f}, s);
    if (s.optimizer == "adam") return run(net, adam{}, s);
    throw option_error("unknown optimizer", "--optimizer", s.optimizer, "sgd or adam");
}

int dispatch(const settings& s) {
    if (s.model == "mlp") return with_optimizer(mlp, s);
    if (s.model == "lenet") return with_optimizer(lenet, s);
    if (s.model == "cnn") return with_optimizer(cnn, s);
    throw option_error("unknown model", "--model", s.model, "mlp, lenet or cnn");
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    try {
        for (int i = 1; i < argc; ++i) {
            const std::string name = argv[i];
            if (name == "--help") {
                std::puts("step --model mlp|lenet|cnn --optimizer sgd|adam --threads N --seconds S --kernels 0|1");
                return 0;
            }
            if (i + 1 == argc) throw option_error("option without a value", name, "nothing", "a value");
            const std::string value = argv[++i];
            if (name == "--model") s.model = value;
            else if (name == "--optimizer") s.optimizer = value;
            else if (name == "--threads") s.threads = std::atoi(value.c_str());
            else if (name == "--kernels") s.kernels = value != "0";
            else if (name == "--seconds") s.seconds = std::atof(value.c_str());
            else throw option_error("unknown option", name, name, "--model, --optimizer, --threads, --seconds or --kernels");
        }
        return dispatch(s);
    } catch (const error& e) {
        std::fprintf(stderr, "step: %s\n", e.what());
        return 2;
    }
}
