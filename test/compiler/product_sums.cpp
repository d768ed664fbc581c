// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE product_sums
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/layers/rnn.hpp>

#include "support/check_net.hpp"

/// A loop's products that are only added to each other, as one product: the gradient of an LSTM's state.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

namespace {

template <class Net, int Batch, program_options O = as_fused>
using training = compiled<request<Net, weigh_outputs, sgd, program_mode::training, Batch, cpu_device::target, O>>;

/// Of how many products each sum is.
template <int Batch, program_options O = as_fused, class Net>
std::vector<int> sums(Net) {
    using P = training<Net, Batch, O>;
    std::vector<int> all;
    for (int i = 0; i < P::v.n_launches; ++i)
        if (P::v.specs[P::v.launches[i].spec].kind == op::product_sum)
            all.push_back(static_cast<int>(P::v.extents[P::v.launches[i].first_extent + 2]));
    return all;
}

/// An LSTM of N units over T steps of F numbers, in double. Parameters: kernel and bias of each
/// gate, then the recurrent kernels.
template <int T, int F, int N>
std::vector<doubles> lstm_by_hand(const std::vector<doubles>& p, const std::vector<doubles>& in) {
    const int batch = in[0].d[0];
    doubles y({batch, N});
    for (int b = 0; b < batch; ++b) {
        std::vector<double> h(N), c(N), gate[4];
        for (int t = 0; t < T; ++t) {
            for (int k = 0; k < 4; ++k) {
                gate[k].assign(N, 0);
                for (int j = 0; j < N; ++j) {
                    double s = p[static_cast<std::size_t>(2 * k + 1)][j];
                    for (int i = 0; i < F; ++i)
                        s += in[0][(b * T + t) * F + i] * p[static_cast<std::size_t>(2 * k)][i * N + j];
                    for (int i = 0; i < N; ++i)
                        s += h[static_cast<std::size_t>(i)] * p[static_cast<std::size_t>(8 + k)][i * N + j];
                    gate[k][static_cast<std::size_t>(j)] = k == 2 ? std::tanh(s) : 1 / (1 + std::exp(-s));
                }
            }
            for (std::size_t j = 0; j < N; ++j) {
                c[j] = gate[1][j] * c[j] + gate[0][j] * gate[2][j];
                h[j] = gate[3][j] * std::tanh(c[j]);
            }
        }
        for (int j = 0; j < N; ++j) y[b * N + j] = h[static_cast<std::size_t>(j)];
    }
    return {y};
}

/// Everything that a step gives.
template <int Batch, program_options O, class Net>
std::vector<float> step(Net, int batch, int threads) {
    const auto p = make_run<Net, weigh_outputs, O, Batch>(threads);
    const net_data all = draw_for(*p), d = part_of(*p, all, batch);
    for (std::size_t i = 0; i < p->parameters.size(); ++i) p->set(p->parameters[i], d.parameters[i]);
    p->run(batch, {d.inputs[0], d.targets[0]});
    std::vector<float> r = p->output(0, batch);
    for (int i = 0; i < static_cast<int>(p->parameters.size()); ++i)
        for (float x : p->gradient(i)) r.push_back(x);
    return r;
}
/// The same gradients as with a kernel for each operation, and the same bits for any number of threads.
template <int Batch, class Net>
void check_against_single_products(Net net) {
    for (int batch : {Batch, Batch - 3, 9, 5, 1}) {
        const auto got = step<Batch, as_fused>(net, batch, 1), apart = step<Batch, as_unfused>(net, batch, 1);
        check_close(got, doubles({static_cast<int>(apart.size())}, {apart.begin(), apart.end()}), 1e-5,
                    "batch " + std::to_string(batch));
        for (int threads : {2, 3})
            BOOST_TEST((step<Batch, as_fused>(net, batch, threads) == got), threads << " threads");
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(an_lstm_by_hand) {
    check_net<programs::all, 11>(array<3, 2> >> lstm<5, recurrent_options{.sequences = false}>, lstm_by_hand<3, 2, 5>);
}
BOOST_AUTO_TEST_CASE(panels_that_are_whole_and_not) {
    check_against_single_products<12>(array<3, 4> >> lstm<3 * cpu::lanes - 3>);
    // tiles of both heights, the last begins earlier
    check_against_single_products<33>(array<2, 4> >> lstm<4 * cpu::lanes>);
    check_against_single_products<31>(array<2, 4> >> gru<2 * cpu::lanes + 1>);
}
BOOST_AUTO_TEST_CASE(where_products_become_one) {
    constexpr auto of_four = array<3, 4> >> lstm<5>;
    constexpr auto of_one = array<3, 4> >> rnn<5>;
    BOOST_TEST(sums<8>(of_four) == (std::vector<int>{4}), boost::test_tools::per_element());
    BOOST_TEST(sums<128>(of_four).size() == 1);
    BOOST_TEST(sums<7>(of_four).empty());     // rows that make no tile
    BOOST_TEST(sums<129>(of_four).empty());
    BOOST_TEST(sums<8>(of_one).empty());
    BOOST_TEST((sums<8, as_unfused>(of_four).empty()));
    constexpr auto of_two = array<3, 4> >> lstm<5> >> lstm<6>;
    BOOST_TEST(sums<8>(of_two).size() == 2);
}
