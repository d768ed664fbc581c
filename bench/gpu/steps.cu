// SPDX-License-Identifier: BSL-1.0
// The time of whole training steps on this machine's GPU: batch to the device, kernels, loss back.
//   steps            prints a JSON line for each model; peers.py measures PyTorch's in the same way
//   steps profile    prints what each kernel takes
#include <algorithm>
#include <chrono>
#include <sinter/cuda.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/profile/kernel_times.hpp>
#include <zoo/gpt.hpp>
#include "cuda/nets.hpp"

using namespace sinter;

namespace {

constexpr auto lstm_net = array<32, 256> >> lstm<256> >> lstm<256, recurrent_options{.sequences = false}> >> dense<10>;
constexpr auto gpt_net =
    zoo::gpt<zoo::gpt_size{.symbols = 65, .context = 64, .width = 128, .heads = 4, .blocks = 4, .dropout = 0.0}>;
constexpr auto wide_gpt_net =
    zoo::gpt<zoo::gpt_size{.symbols = 65, .context = 256, .width = 512, .heads = 8, .blocks = 4, .dropout = 0.0}>;

bool profiling = false;

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// `floats`, `whole` and `labels`: numbers an example; labels and integers below `classes`.
template <int Batch, class Net>
void measure_one(const char* model, bool tf32, int floats, int whole, int labels, int classes) {
    const auto products = tf32 ? gpu::product_precision::tf32 : gpu::product_precision::float32;
    trainer<Net, softmax_cross_entropy_loss, adam, Batch, single<cuda_device>> t(
        adam{}, single<cuda_device>{{.products = products}});
    random_stream random(7);
    std::vector<float> x(static_cast<std::size_t>(Batch * floats));
    std::vector<std::int32_t> words(static_cast<std::size_t>(Batch * whole));
    std::vector<std::int32_t> y(static_cast<std::size_t>(Batch * labels));
    for (float& v : x) v = random.uniform();
    for (auto& v : words) v = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(classes)));
    for (auto& v : y) v = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(classes)));
    const data::input_view input{nullptr, words.data(), whole};
    data::batch_view b{.x = floats ? x.data() : nullptr, .labels = y.data(), .size = Batch};
    if (whole) b.inputs = {&input, 1};

    for (int i = 0; i < 30; ++i) t.step(b);
    if (profiling) {
        std::printf("%s, batch %d%s\n", model, Batch, tf32 ? ", TF32" : "");
        return profile::kernel_times(t, [&]() -> const data::batch_view& { return b; }, 20);
    }
    std::vector<double> ms;
    float loss = 0;
    for (int i = 0; i < 200; ++i) {
        const double began = seconds();
        loss = t.step(b);
        ms.push_back(1e3 * (seconds() - began));
    }
    std::sort(ms.begin(), ms.end());
    std::printf(
        "{\"system\": \"sinter\", \"model\": \"%s\", \"tf32\": %s, \"batch\": %d, \"launches\": %d, "
        "\"median_ms\": %.4f, \"best_ms\": %.4f, \"loss\": %.4f}\n",
        model, tf32 ? "true" : "false", Batch, decltype(t)::training::v.n_launches, ms[ms.size() / 2], ms.front(),
        static_cast<double>(loss));
    std::fflush(stdout);
}

template <int Batch, class Net>
void measure(const char* model, Net, int floats, int whole, int labels, int classes) {
    for (const bool tf32 : {false, true}) measure_one<Batch, Net>(model, tf32, floats, whole, labels, classes);
}

} // namespace

int main(int argc, char**) try {
    profiling = argc > 1;
    measure<64>("mlp", test::mlp, 784, 0, 1, 10);
    measure<1024>("mlp", test::mlp, 784, 0, 1, 10);
    measure<64>("quickstart", test::quickstart, 784, 0, 1, 10);
    measure<256>("cnn", test::cnn, 784, 0, 1, 10);
    measure<8>("gpt", gpt_net, 0, 64, 64, 65);
    measure<8>("wide_gpt", wide_gpt_net, 0, 256, 256, 65);
    measure<32>("lstm", lstm_net, 32 * 256, 0, 1, 10);
} catch (const error& e) {
    std::printf("{\"system\": \"sinter\", \"error\": \"%s\"}\n", e.what());
    return 1;
}
