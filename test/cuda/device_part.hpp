// SPDX-License-Identifier: BSL-1.0
// What is checked on a GPU, in a form that needs no test framework: bench/gpu.sh runs it too.
#pragma once
#include "cuda/nets.hpp"
#include "cuda/quickstart_losses.hpp"
#include "fixtures/pytorch_losses.hpp"
#include <algorithm>
#include <cstdio>
#include <sinter/cuda.hpp>

namespace sinter::test {

/// Empty, or why no device can be had.
inline std::string missing_gpu() {
    int n = 0;
    const cudaError_t s = cudaGetDeviceCount(&n);
    return s != cudaSuccess ? cudaGetErrorString(s) : n < 1 ? "no device" : "";
}

struct comparison {
    double worst = 0;      ///< largest relative difference of a loss
    int step = -1;         ///< where
    bool repeats = true;   ///< a second run on the GPU gave the same bits
};

/// Twenty losses on the GPU beside those recorded, and a second run beside the first; then a short
/// batch, evaluation and prediction, which must repeat too.
template <class Net, class Optimizer>
comparison compare_losses(Net, Optimizer optimizer, const double (&expected)[20],
                          gpu::product_precision products = gpu::product_precision::float32) {
    const single<cuda_device> device{{.products = products}};
    trainer<Net, softmax_cross_entropy_loss, Optimizer, 64, single<cuda_device>> first(optimizer, device),
        again(optimizer, device);
    set_weights(first);
    set_weights(again);
    fixture_batch b;
    comparison c;
    for (int step = 0; step < 20; ++step) {
        const auto batch = b.of_step(step);
        const float loss = first.step(batch);
        const double off = std::abs(static_cast<double>(loss) / expected[step] - 1.);
        if (!(off <= c.worst)) c.worst = off, c.step = step;
        c.repeats = c.repeats && loss == again.step(batch);
    }
    const auto batch = b.of_step(0, 37);
    c.repeats = c.repeats && first.step(batch) == again.step(batch) && first.evaluate(batch) == again.evaluate(batch);
    const auto y = first.predict(batch), z = again.predict(batch);
    c.repeats = c.repeats && std::equal(y.begin(), y.end(), z.begin(), z.end());
    for (int i = 0; i < first.parameters(); ++i)
        c.repeats = c.repeats && first.plain(first.parameter(i)) == again.plain(again.parameter(i));
    return c;
}

} // namespace sinter::test
