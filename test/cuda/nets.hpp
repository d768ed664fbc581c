// SPDX-License-Identifier: BSL-1.0
// The two nets of the CUDA slice, and batches for them.
#pragma once
#include "fixtures/generate.hpp"
#include <sinter/sinter.hpp>

namespace sinter::test {

inline constexpr auto mlp = image<28, 28, 1> >> flatten >> dense<128> >> relu >> dense<10>;
inline constexpr auto cnn = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2>
    >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dense<10>;
inline constexpr auto quickstart = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2>
    >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;

/// Kernels from the formula, in the order in which the net declares them; biases zero.
template <class Trainer>
void set_weights(Trainer& t) {
    std::uint32_t layer = 0;
    for (int i = 0; i < t.parameters(); ++i) {
        const variable_info& v = t.parameter(i);
        std::vector<float> x(static_cast<std::size_t>(v.s.size()));
        if (v.s.rank > 1) {
            std::size_t taps = 1;   // of a convolution
            for (int k = 0; k + 2 < v.s.rank; ++k) taps *= static_cast<std::size_t>(v.s.d[k]);
            const auto in = static_cast<std::size_t>(v.s.d[v.s.rank - 2]), out = static_cast<std::size_t>(v.s.last());
            fixture::fill_kernel(layer++, fixture::kernel_limit(taps * in, taps * out), x);
        }
        t.set_plain(v, x.data());
    }
}

/// The batches that the recorded losses belong to.
struct fixture_batch {
    std::vector<float> x = std::vector<float>(fixture::batch_size * fixture::image_size);
    std::vector<std::int32_t> labels = std::vector<std::int32_t>(fixture::batch_size);
    data::batch_view of_step(int step, int size = static_cast<int>(fixture::batch_size)) {
        fixture::fill_batch(static_cast<std::size_t>(step) % fixture::batch_count, x, labels);
        return {.x = x.data(), .labels = labels.data(), .size = size};
    }
};

} // namespace sinter::test
