// SPDX-License-Identifier: BSL-1.0
// multi_worker<nccl, cuda> of one process: NCCL sums each bucket on a stream of its own while
// backward goes on. Losses are those of single<cuda>, within what other sums' order makes of them,
// and a second run gives the same bits.
//   nccl    prints a JSON line
// Exit status: 0 all is well, 1 it differs or failed, 2 there is no GPU.
#include "cuda/device_part.hpp"
#include <chrono>
#include <sinter/collective/nccl.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/strategy/multi_worker.hpp>

using namespace sinter;

namespace {

constexpr auto words = indices<6> >> embedding<1000, 64> >> flatten >> dense<512> >> relu >> dense<512> >> relu
    >> dense<10>;

struct trained {
    std::vector<float> losses;
    double ms = 0;
};
template <class Strategy>
trained train(Strategy strategy) {
    trainer t{words, softmax_cross_entropy, adam{}, max_batch<256>, strategy};
    std::vector<std::int32_t> x(256 * 6), labels(256);
    random_stream random(3);
    for (auto& v : x) v = static_cast<std::int32_t>(random.below(1000));
    for (auto& v : labels) v = static_cast<std::int32_t>(random.below(10));
    const data::input_view rows{nullptr, x.data(), 6};
    data::batch_view b{.labels = labels.data(), .size = 256};
    b.inputs = {&rows, 1};
    trained r;
    std::vector<double> ms;
    for (int i = 0; i < 120; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        const float loss = t.step(b);
        ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        if (i < 20) r.losses.push_back(loss);
    }
    std::sort(ms.begin(), ms.end());
    r.ms = ms[ms.size() / 2];
    return r;
}

} // namespace

int main() {
    if (const std::string why = test::missing_gpu(); !why.empty())
        return std::fprintf(stderr, "no GPU: %s\n", why.c_str()), 2;
    try {
        const trained alone = train(single<cuda>{});
        const multi_worker<nccl, cuda, 1 << 18> strategy{cluster{}};
        const trained once = train(strategy), again = train(strategy);
        double worst = 0;
        for (std::size_t i = 0; i < alone.losses.size(); ++i)
            worst = std::max(worst, std::abs(1. - static_cast<double>(once.losses[i]) / alone.losses[i]));
        const bool repeats = once.losses == again.losses, ok = repeats && worst <= 1e-4;
        std::printf("{\"check\": \"nccl_one_rank\", \"ok\": %s, \"worst\": %.2e, \"repeats\": %s, "
                    "\"median_ms\": %.4f, \"single_median_ms\": %.4f}\n", ok ? "true" : "false", worst,
                    repeats ? "true" : "false", once.ms, alone.ms);
        return !ok;
    } catch (const std::exception& e) {
        std::printf("{\"check\": \"nccl_one_rank\", \"ok\": false, \"error\": \"%s\"}\n", e.what());
        return 1;
    }
}
