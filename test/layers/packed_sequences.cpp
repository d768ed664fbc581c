// SPDX-License-Identifier: BSL-1.0
// shows numbers: sequences packed into one row train and predict as each of them alone
#define BOOST_TEST_MODULE packed_sequences
#include <boost/test/unit_test.hpp>

#include <sinter/data/stages/pack.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/positions.hpp>
#include <sinter/layers/transformer.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

namespace {

constexpr int length = 24, symbols = 11, width = 8, classes = 3;
template <bool Rotary>
constexpr auto block = transformer_block<2, 12, attention_settings{.causal = causal::yes, .rotary = Rotary}>;

/// A small language model, of one sequence a row and of several. Both have the same parameters.
constexpr auto of_one = indices<length> >> embedding<symbols, width> >> position_embedding >> block<false>
    >> block<true> >> dense<classes>;
constexpr auto of_several =
    inputs(input<"tokens">(indices<length>), input<"segments">(indices<length>), input<"positions">(indices<length>))
    >> [](tensor tokens, tensor segments, tensor positions) {
           const tensor x = position_embedding(embedding<symbols, width>(tokens), positions);
           return block<true>(block<false>(x, segments), segments);
       }
    >> dense<classes>;

template <class F>
void each_row(const std::vector<std::vector<std::int32_t>>& sequences, F f) {
    const auto packed = data::rows(sequences) | data::pack<length>();
    typename decltype(packed)::state s;
    typename decltype(packed)::cursor c;
    typename decltype(packed)::ticket k;
    packed.begin(s, 0);
    while (packed.next(s, c, k)) f(packed.get(s, k));
}

} // namespace

/// Outputs of each token, and the gradients of all parameters, which are sums over the sequences.
BOOST_AUTO_TEST_CASE(rows_are_what_their_sequences_are_alone) {
    std::vector<std::vector<std::int32_t>> sequences;
    random_numbers random(5);
    for (const int n : {9, 24, 7, 1, 5, 16, 3}) {
        auto& to = sequences.emplace_back();
        for (int i = 0; i < n; ++i) to.push_back(random.below(symbols));
    }
    const auto one = make_run<std::remove_const_t<decltype(of_one)>, weigh_outputs, as_fused, 1>(),
               several = make_run<std::remove_const_t<decltype(of_several)>, weigh_outputs, as_fused, 1>();
    BOOST_REQUIRE((one->paths == several->paths));
    one->scalars[0] = several->scalars[0] = 0;   // the weights stay
    for (std::size_t i = 0; i < one->parameters.size(); ++i) {
        const doubles w = random.fill(extents_with(one->parameters[i].s, 0), -0.7, 0.7);
        one->set(one->parameters[i], w), several->set(several->parameters[i], w);
    }
    int rows = 0, seen = 0;
    each_row(sequences, [&](const data::packed_row<length>& row) {
        ++rows;
        const auto list = [](const auto& x) {
            return doubles({1, length}, std::vector<double>(x.begin(), x.end()));
        };
        doubles weights = random.fill({1, length, classes}, -1, 1);
        for (int i = 0; i < length * classes; ++i)
            if (row.segments[static_cast<std::size_t>(i / classes)] == 0) weights[i] = 0;   // padding has no loss
        several->run(1, {list(row.tokens), list(row.segments), list(row.positions), weights});
        const std::vector<float> y = several->output(0, 1);
        for (const float v : y) BOOST_TEST(std::isfinite(v));   // that of padding, too

        std::vector<doubles> gradients;
        for (const variable_info& p : one->parameters) gradients.emplace_back(extents_with(p.s, 0));
        for (int at = 0, n; at < length && row.segments[static_cast<std::size_t>(at)]; at += n) {
            for (n = 1; at + n < length && row.positions[static_cast<std::size_t>(at + n)] > 0; ++n) {}
            ++seen;
            doubles tokens({1, length}), own({1, length, classes});
            for (int i = 0; i < n; ++i) tokens[i] = row.tokens[static_cast<std::size_t>(at + i)];
            for (int i = 0; i < n * classes; ++i) own[i] = weights[at * classes + i];
            one->run(1, {tokens, own});
            const std::vector<float> alone = one->output(0, 1);
            for (int i = 0; i < n * classes; ++i)
                BOOST_TEST(std::abs(y[static_cast<std::size_t>(at * classes + i)] -
                                    alone[static_cast<std::size_t>(i)]) < 1e-5f);
            for (std::size_t p = 0; p < gradients.size(); ++p) {
                const std::vector<float> g = one->gradient(static_cast<int>(p));
                for (int i = 0; i < gradients[p].size(); ++i)
                    gradients[p][i] += static_cast<double>(g[static_cast<std::size_t>(i)]);
            }
        }
        for (std::size_t p = 0; p < gradients.size(); ++p)
            if (several->paths[p].find("key/bias") == std::string::npos)   // changes nothing: rounding
                check_close(several->gradient(static_cast<int>(p)), gradients[p], 2e-5, several->paths[p]);
    });
    BOOST_TEST(rows == 3);
    BOOST_TEST(seen == 7);
}
