// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "support/check_halves.hpp"
#include "support/half_members.hpp"

// Sweeps that read the gradients of several replicas end with the bits of a sweep behind their sum.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto mlp = features<12> >> dense<33> >> relu >> dense<9> >> relu >> dense<3>;
constexpr auto with_table = indices<3> >> embedding<40, 5> >> flatten >> dense<16> >> relu >> dense<3>;

template <int Replicas, class Net, class Optimizer>
void compare(Net, Optimizer o, const char* what) {
    using loss = std::remove_cvref_t<decltype(softmax_cross_entropy)>;
    constexpr program_options one{.gradients = gradient_policy::reduced, .bucket_bytes = 512},
        several{.gradients = gradient_policy::reduced, .bucket_bytes = 512, .gradient_sources = Replicas};
    using P = halved_program<Net, loss, Optimizer, 12, one>;
    using Q = halved_program<Net, loss, Optimizer, 12, several>;
    BOOST_TEST(P::v.n_launches == Q::v.n_launches, what);
    trainer<Net, loss, Optimizer, 12> first(o, {.threads = 1});
    half_members<P, Optimizer> added(Replicas, first, o, runtime::row_order::tree);
    half_members<Q, Optimizer> read(Replicas, first, o, runtime::row_order::tree);
    for (int step = 0; step < 6; ++step) {
        const random_batch<P> b(static_cast<std::uint64_t>(step), step % 3 == 2 ? 10 : 12);
        added.step(b.view());
        read.step(b.view());
        for (int i = 0; i < P::v.n_parameters; ++i)
            BOOST_TEST((read[0].plain(P::v.parameters[i]) == added[0].plain(P::v.parameters[i])),
                       what << ", step " << step);
    }
    BOOST_TEST(read[0].equals(added[0]), what);
    BOOST_TEST(read[0].difference(first) > 1e-3, what);
}
BOOST_AUTO_TEST_CASE(sweeps) {
    compare<2>(mlp, sgd{.learning_rate = 0.1f}, "sgd, 2");
    compare<2>(mlp, adam{}, "adam, 2");
    compare<3>(mlp, adam{}, "adam, 3");
    compare<8>(mlp, adam{}, "adam, 8");
}
BOOST_AUTO_TEST_CASE(norms) {
    compare<3>(mlp, clip_by_global_norm{0.2f, adam{}}, "clip_by_global_norm");
    compare<2>(mlp, clip_by_norm{0.2f, sgd{.learning_rate = 0.1f}}, "clip_by_norm");
    compare<2>(mlp, lamb{}, "lamb");
}
BOOST_AUTO_TEST_CASE(accumulation) {
    compare<2>(mlp, accumulate<2>(adam{}), "accumulated");
    compare<2>(mlp, accumulate<3>(clip_by_global_norm{0.2f, adam{}}), "accumulated, clipped");
}
BOOST_AUTO_TEST_CASE(tables) {
    compare<2>(with_table, adam{}, "table");
    compare<3>(with_table, clip_by_global_norm{0.2f, adam{}}, "table, clipped");
    compare<2>(with_table, accumulate<2>(adam{}), "table, accumulated");
    compare<2>(with_table, lamb{}, "table, lamb");
}

} // namespace
