// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE kernels_of_equal_blocks
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/layers/transformer.hpp>
#include <sinter/compiler/trace.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>

#include "compiler/passes.hpp"

/// Equal blocks are compiled once: a deeper net, or a longer sequence, takes more launches or
/// iterations but not more kernels.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

static constexpr optimizer_code with_adam = make_optimizer_code<adam>();

struct sizes {
    int kernels, launches;
};
template <class Net>
static sizes compiled_sizes(Net) {
    const auto p = std::make_unique<passes_of<2400>>();
    trace<Net, softmax_cross_entropy_loss>(p->g, program_mode::training);
    BOOST_REQUIRE(p->g.err.what == fault_kind::none);
    p->optimizer = with_adam;
    p->all({.target = {16, 8}});
    return {p->e.n_specs, p->e.n_launches};
}

template <int Blocks>
constexpr auto gpt = indices<8> >> embedding<20, 32> >> [](tensor x) {
    for (int i = 0; i < Blocks; ++i) x = transformer_block<4, 64, attention_settings{.causal = causal::yes}>(x);
    return x;
} >> layer_norm >> dense<20>;

BOOST_AUTO_TEST_CASE(twelve_transformer_blocks_are_three) {
    const sizes three = compiled_sizes(gpt<3>), twelve = compiled_sizes(gpt<12>);
    BOOST_TEST(twelve.kernels == three.kernels);
    BOOST_TEST(twelve.launches > 3 * three.launches);
    BOOST_TEST(twelve.kernels < twelve.launches / 4);
}

template <int Length, int Layers>
constexpr auto recurrent = indices<Length> >> embedding<20, 32> >> [](tensor x) {
    for (int i = 0; i < Layers; ++i) x = lstm<32>(x);
    return x;
} >> dense<20>;

BOOST_AUTO_TEST_CASE(a_longer_sequence_has_the_kernels_of_a_short_one) {
    const sizes few = compiled_sizes(recurrent<4, 2>), many = compiled_sizes(recurrent<100, 2>);
    BOOST_TEST(many.kernels == few.kernels);
    BOOST_TEST(many.launches == few.launches);
}
BOOST_AUTO_TEST_CASE(eight_recurrent_layers_are_four) {
    const sizes four = compiled_sizes(recurrent<6, 4>), eight = compiled_sizes(recurrent<6, 8>);
    BOOST_TEST(eight.kernels == four.kernels);
    BOOST_TEST(eight.launches > four.launches + 40);
}
