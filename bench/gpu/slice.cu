// SPDX-License-Identifier: BSL-1.0
// The CUDA slice on this machine's GPU: the checks of test/cuda, then the time of a step.
// bench/gpu.sh builds and runs it.
//   slice          prints a table; JSON lines go to the file named by the first argument
// Exit status: 0 all is well, 1 a check failed, 2 there is no GPU.
#include "cuda/device_part.hpp"
#include <algorithm>
#include <chrono>

using namespace sinter;

namespace {

std::FILE* lines = nullptr;
std::string device_name;
bool failed = false;

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Under TF32 losses differ more, but they do: otherwise it was not used.
template <class Net, class Optimizer>
void check(const char* model, const char* rule, Net net, Optimizer optimizer, const double (&expected)[20],
           gpu::product_precision products = gpu::product_precision::float32) {
    const test::comparison c = test::compare_losses(net, optimizer, expected, products);
    const bool full = products == gpu::product_precision::float32;
    const bool fine = c.repeats && (full ? c.worst <= 1e-4 : c.worst <= 2e-2 && c.worst > 1e-5);
    failed = failed || !fine;
    std::printf("check  %-11s %-9s  %s  losses off by at most %.1e (step %d); a second run %s\n", model, rule,
                fine ? "ok    " : "FAILED", c.worst, c.step, c.repeats ? "gave the same bits" : "gave other bits");
    if (lines)
        std::fprintf(lines,
                     "{\"check\": \"%s\", \"optimizer\": \"%s\", \"device\": \"%s\", \"ok\": %s, \"worst\": %.3e, "
                     "\"repeats\": %s}\n",
                     model, rule, device_name.c_str(), fine ? "true" : "false", c.worst, c.repeats ? "true" : "false");
}

/// The median of whole steps: batch to the device, kernels, loss back.
template <class Net, class Optimizer>
void measure(const char* model, const char* rule, Net, Optimizer optimizer) {
    trainer<Net, softmax_cross_entropy_loss, Optimizer, 64, single<cuda_device>> t(optimizer);
    test::fixture_batch b;
    const data::batch_view batch = b.of_step(0);
    for (int i = 0; i < 50; ++i) t.step(batch);
    std::vector<double> ms;
    for (int i = 0; i < 500; ++i) {
        const double t0 = seconds();
        t.step(batch);
        ms.push_back(1e3 * (seconds() - t0));
    }
    std::sort(ms.begin(), ms.end());
    std::printf("step   %-11s %-5s  median %8.4f ms   best %8.4f ms\n", model, rule, ms[ms.size() / 2], ms.front());
    if (lines)
        std::fprintf(lines,
                     "{\"system\": \"sinter\", \"device\": \"%s\", \"model\": \"%s\", \"optimizer\": \"%s\", "
                     "\"batch\": 64, \"median_ms\": %.5f, \"best_ms\": %.5f}\n",
                     device_name.c_str(), model, rule, ms[ms.size() / 2], ms.front());
}

template <class Net>
void all(const char* model, Net net, const double (&by_sgd)[20], const double (&by_adam)[20]) {
    check(model, "sgd", net, sgd{.learning_rate = 0.05f}, by_sgd);
    check(model, "adam", net, adam{}, by_adam);
    check(model, "sgd, TF32", net, sgd{.learning_rate = 0.05f}, by_sgd, gpu::product_precision::tf32);
    measure(model, "sgd", net, sgd{.learning_rate = 0.05f});
    measure(model, "adam", net, adam{});
}

} // namespace

int main(int argc, char** argv) {
    if (const std::string why = test::missing_gpu(); !why.empty()) {
        std::fprintf(stderr, "no GPU: %s\n", why.c_str());
        return 2;
    }
    try {
        cudaDeviceProp p{};
        gpu::check(cudaGetDeviceProperties(&p, 0), "cudaGetDeviceProperties");
        device_name = p.name;
        if (argc > 1 && !(lines = std::fopen(argv[1], "w"))) throw io_error("cannot be written", argv[1]);
        std::printf("%s, compute capability %d.%d, %d multiprocessors\n", p.name, p.major, p.minor,
                    p.multiProcessorCount);
        all("mlp", test::mlp, fixture::pytorch::mlp_sgd, fixture::pytorch::mlp_adam);
        all("quickstart", test::quickstart, test::quickstart_sgd, test::quickstart_adam);
    } catch (const error& e) {
        std::fprintf(stderr, "failed: %s\n", e.what());
        failed = true;
    }
    if (lines) std::fclose(lines);
    return failed;
}
