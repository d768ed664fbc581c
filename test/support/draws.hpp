// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/reshape.hpp>

#include "support/check_op.hpp"

/// Random ops: F::apply(tensor) draws something for each element of a tensor, or each row.
namespace sinter::test {

template <class F, shape A>
struct draw_case {
    static constexpr shape operands[] = {A};
    static constexpr bool plain_inputs = true;
    static constexpr tensor apply(tensor a) { return F::apply(a); }
};
/// What is drawn for inputs that are all `x`.
template <class F, shape A, program_options O = as_fused>
std::vector<float> draws(std::uint64_t seed, std::int64_t step, double x = 0, int threads = 1, int batch = 5) {
    const auto p = make_run<op_net<draw_case<F, A>>, weighted_sum, O>(threads);
    p->seed = seed;
    p->run(batch, {doubles(extents_with(A, batch), x), doubles(extents_with(p->outputs[0], batch), 1.)}, step);
    return p->output(0, batch);
}
/// The same numbers for the same seed and step, whatever the threads and whether fused; others for others.
template <class F, shape A>
void check_reproducible(double x = 0) {
    const auto first = draws<F, A>(1, 7, x);
    BOOST_TEST((draws<F, A>(1, 7, x, 2) == first));
    BOOST_TEST((draws<F, A>(2, 7, x) != first));
    BOOST_TEST((draws<F, A>(1, 8, x) != first));
    const auto few = draws<F, A>(1, 7, x, 1, 2);
    BOOST_TEST(std::equal(few.begin(), few.end(), first.begin()));
}
/// The mean of f over all, within five standard errors of `mean`.
template <class F>
void check_mean(const std::vector<float>& x, double mean, double deviation, const char* what, F f) {
    double sum = 0;
    for (float e : x) sum += f(static_cast<double>(e));
    const double n = static_cast<double>(x.size());
    BOOST_TEST(std::abs(sum / n - mean) < 5 * deviation / std::sqrt(n), what << " is " << sum / n << ", not " << mean);
}

} // namespace sinter::test
