// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <set>

#include "cuda/as_on_cpu.hpp"

// Kernels for GPUs that differ by nothing but the stream of their random numbers are one, which is
// told when it is launched; and each draws what the CPU draws.
using namespace sinter;

namespace {

constexpr auto with_drops = features<8> >> dense<16> >> relu >> dropout<0.5f> >> dense<16> >> relu >> dropout<0.5f>
    >> dense<16> >> relu >> dropout<0.5f> >> dense<10>;

template <class P>
std::size_t kernels() {
    using table = gpu::kernel_table<test::rehearsal_engine, P>;
    std::set<void (*)(test::rehearsal_engine&, const gpu::work&)> different;
    for (int s = 0; s < P::n_specs; ++s) different.insert(table::entries[s].run);
    return different.size();
}
/// Specs that draw random numbers.
template <class P>
int drawing() {
    int n = 0;
    for (int s = 0; s < P::n_specs; ++s) {
        bool draws = false;
        for (int i = 0; i < P::v.specs[s].instructions; ++i)
            draws |= compiler::instruction::unpack(P::v.code[P::v.specs[s].code + i]).is(op::random_uniform);
        n += draws;
    }
    return n;
}

} // namespace

BOOST_AUTO_TEST_CASE(dropouts_are_one_kernel) {
    using model =
        decltype(trainer{with_drops, softmax_cross_entropy, sgd{}, max_batch<4>, single<test::rehearsal_device>{}});
    using P = typename model::training;
    BOOST_TEST(drawing<P>() >= 3);
    BOOST_TEST(kernels<P>() <= static_cast<std::size_t>(P::n_specs - 2));   // of three dropouts, one is left
}
BOOST_AUTO_TEST_CASE(each_draws_its_own) {
    test::as_on_cpu<4>(with_drops, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, test::examples(4, 8).view());
}
