// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/layers/transformer.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/losses/ctc.hpp>

#include "support/same_under_strategies.hpp"

// The net that reads handwriting, smaller, with its loss (ctc), under strategies: as on one device.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr int frames = 12, numbers = 3, width = 16, classes = 6;

template <int Reach>
constexpr auto with_neighbours = [](tensor x) {
    const tensor nothing = ops::broadcast_to(slice(x, 0, 0, 1) * 0.f, batch_of(Reach, numbers));
    const tensor padded = concat({nothing, x, nothing}, 0);
    tensor all = slice(padded, 0, 0, frames);
    for (int i = 1; i <= 2 * Reach; ++i) all = concat(all, slice(padded, 0, i, frames), 1);
    return all;
};
struct position_layer : layer<position_layer> {
    static constexpr const char* name = "position";
    static constexpr tensor trace(tensor x) {
        return x + parameter(x, "table", extents(frames, width), {init_kind::uniform, 0.05f});
    }
};
constexpr position_layer position{};
constexpr auto handwriting = array<frames, numbers> >> with_neighbours<3> >> dense<width> >> relu >> dense<width>
    >> position >> transformer_block<4, 2 * width> >> layer_norm >> dense<classes>;

} // namespace

BOOST_AUTO_TEST_CASE(rows_of_digits) {
    constexpr clip_by_global_norm o{1.f, momentum{.learning_rate = 0.05f}};
    check_under_strategies("handwriting", trainers_of(handwriting, ctc<4>, o), default_strategy{},
                           1);   // the keys' bias, which softmax takes away
}
