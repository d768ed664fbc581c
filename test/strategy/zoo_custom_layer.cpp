// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>

#include "support/same_under_strategies.hpp"

// The net with a layer and a loss of its own (custom_layer), smaller, under strategies: as on one device.
using namespace sinter;
using namespace sinter::test;

namespace {

template <int Squeezed>
struct squeeze_excite_layer : layer<squeeze_excite_layer<Squeezed>> {
    static constexpr const char* name = "squeeze_excite";
    static constexpr tensor trace(tensor x) {                        // [H, W, C]
        const int channels = x.shape().last();
        const tensor squeezed = relu(dense<Squeezed>(global_avg_pool(x)));
        // dense<N> wants its size in the code; this one follows from x, so we keep these two parameters ourselves.
        const tensor kernel = weights(x, "kernel", extents(Squeezed, channels), glorot_uniform(Squeezed, channels));
        const tensor bias = parameter(x, "bias", extents(channels), zeros);
        const tensor share = sigmoid(matmul(squeezed, kernel) + bias);   // [C], each in (0, 1)
        return x * ops::reshape(share, extents(1, 1, channels));         // the same for all pixels
    }
};
template <int Squeezed>
inline constexpr squeeze_excite_layer<Squeezed> squeeze_excite{};

/// Cross entropy against labels that are taken for right with 90 %, the rest spread evenly (Szegedy et al. 2016).
struct smoothed_cross_entropy_loss {
    static constexpr target_kind target = target_kind::class_index;   // the data's labels are class numbers
    constexpr tensor operator()(tensor logits, tensor labels) const {
        const int classes = logits.shape().last();
        const tensor wanted = one_hot(labels, classes) * 0.9f + 0.1f / static_cast<float>(classes);
        return -sum(wanted * log_softmax(logits), {-1});              // one number an example; the mean is taken for us
    }
};
inline constexpr smoothed_cross_entropy_loss smoothed_cross_entropy{};

constexpr auto squeezed = image<8, 8, 1>
    >> conv2d<8, 3> >> relu >> max_pool<2> >> squeeze_excite<4>
    >> conv2d<8, 3> >> relu >> max_pool<2> >> squeeze_excite<4>
    >> flatten >> dense<10>;

} // namespace

BOOST_AUTO_TEST_CASE(squeeze_and_excite) {
    constexpr momentum o{.learning_rate = 0.05f};
    check_under_strategies("squeezed", trainers_of(squeezed, smoothed_cross_entropy, o), default_strategy{});
}
