// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE column_sums
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/attention.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/rnn.hpp>
#include <sinter/train/optimizers/adam.hpp>

#include "support/check_net.hpp"

/// Biases' gradients that their weights' gradients' kernels sum.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

namespace {

using floats = std::vector<float>;

constexpr int N = 128, T = 11, B = 24;   // more than one piece of copied rows
constexpr auto recurrent = array<T, 3> >> rnn<N>;
constexpr auto attending = array<T, N> >> multi_head_attention<2>;
constexpr auto plain = array<T, N> >> dense<N>;

template <int Batch, class Optimizer = sgd, program_options O = as_fused, class Net>
constexpr int sums(Net) {
    using P = compiled<request<Net, weigh_outputs, Optimizer, program_mode::training, Batch, cpu_device::target, O>>;
    int n = 0;
    for (int i = 0; i < P::v.n_launches; ++i) {
        const spec& s = P::v.specs[P::v.launches[i].spec];
        n += s.kind == op::gemm_tn && s.extents[0];
    }
    return n;
}

/// All gradients of a step or, where none are kept, all parameters after it.
template <program_options O, class Net>
floats step(Net, int batch, int threads) {
    const auto p = make_run<Net, weigh_outputs, O, B>(threads);
    const net_data all = draw_for(*p), d = part_of(*p, all, batch);
    for (std::size_t i = 0; i < p->parameters.size(); ++i) p->set(p->parameters[i], d.parameters[i]);
    p->scalars[0] = 0.5f;
    p->run(batch, {d.inputs[0], d.targets[0]});
    floats r;
    for (std::size_t i = 0; i < p->parameters.size(); ++i)
        for (float x : O.store_gradients ? p->gradient(static_cast<int>(i)) : p->value(p->parameters[i]))
            r.push_back(x);
    return r;
}
// all together: those of keys' biases are zero
void check_near(const floats& got, const floats& want, const std::string& what) {
    check_close(got, doubles({static_cast<int>(want.size())}, {want.begin(), want.end()}), 1e-5, what);
}
/// As with a kernel for each operation, whether gradients are kept or not, for any number of threads.
template <class Net>
void check_sums(Net net) {
    for (int batch : {B, B - 5, 1}) {   // one example has too few rows to be copied
        const std::string what = "batch " + std::to_string(batch);
        const auto got = step<as_fused>(net, batch, 1), apart = step<as_unfused>(net, batch, 1);
        check_near(got, apart, what);
        for (int threads : {2, 3})
            BOOST_TEST((step<as_fused>(net, batch, threads) == got), what << ", " << threads << " threads");
        const auto trained = step<as_trained>(net, batch, 1);
        check_near(trained, step<program_options{.fuse = false, .store_gradients = false}>(net, batch, 1),
                   what + ", trained");
        BOOST_TEST((step<as_trained>(net, batch, 3) == trained), what << ", trained by 3 threads");
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(of_a_loop) { check_sums(recurrent); }
BOOST_AUTO_TEST_CASE(of_attention) { check_sums(attending); }

BOOST_AUTO_TEST_CASE(where_they_are_made) {
    BOOST_TEST(sums<B>(recurrent) == 1);
    BOOST_TEST((sums<B, adam>(recurrent) == 1));
    BOOST_TEST(sums<B>(attending) == 3);
    BOOST_TEST(sums<B>(plain) == 0);                            // the kernel before makes them
    BOOST_TEST(sums<2>(recurrent) == 0);                        // few rows
    BOOST_TEST(sums<B>(array<T, 3> >> rnn<N - 1>) == 0);        // few columns
    BOOST_TEST((sums<B, sgd, as_unfused>(recurrent) == 0));
}
BOOST_AUTO_TEST_CASE(weights_are_still_updated_by_their_gradients_kernel) {
    using net = std::remove_const_t<decltype(recurrent)>;
    using asked = request<net, weigh_outputs, sgd, program_mode::training, B, cpu_device::target, as_trained>;
    constexpr auto graph = compiled<asked>::graph;
    for (int i = 0; i < graph.parameters.n; ++i)
        // not the bias
        BOOST_TEST(sinter::detail::choice_stage<asked>::v.updated[i] == (graph.n[graph.parameters[i].id].s.rank == 2));
}
