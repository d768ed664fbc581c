// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/trainer.hpp>
#include <cmath>

#include "fixtures/optimizers.hpp"

/// An optimizer on the small net of fixtures/optimizers.py: 50 steps, compared after 1, 10 and 50.
namespace sinter::test {

inline constexpr auto small_net = features<3> >> dense<4> >> activation::tanh >> dense<2>;
template <class Optimizer, program_options O = program_options{}, class Device = cpu_device>
using small_trainer =
    trainer<std::remove_const_t<decltype(small_net)>, mse_loss, Optimizer, build_options{8, O}, single<Device>>;

struct small_batch {
    float x[15], y[10];
    small_batch() {
        for (int i = 0; i < 15; ++i) x[i] = static_cast<float>(fixture::optimizers::x[i]);
        for (int i = 0; i < 10; ++i) y[i] = static_cast<float>(fixture::optimizers::y[i]);
    }
    operator data::batch_view() const { return {.x = x, .y = y, .size = 5}; }
};

inline constexpr int small_parameters = 26;

template <class Trainer>
void start(Trainer& t) {
    const double* from = fixture::optimizers::start;
    for (int i = 0; i < t.parameters(); ++i) {
        const std::vector<float> x(from, from + t.parameter(i).s.size());
        t.set_plain(t.parameter(i), x.data());
        from += x.size();
    }
}
template <class Trainer>
std::vector<float> all_parameters(const Trainer& t) {
    std::vector<float> all;
    for (int i = 0; i < t.parameters(); ++i) {
        const std::vector<float> x = t.plain(t.parameter(i));
        all.insert(all.end(), x.begin(), x.end());
    }
    return all;
}
inline void check_parameters(const std::vector<float>& got, const double* want, int step, double tolerance) {
    BOOST_REQUIRE(got.size() == small_parameters);
    for (std::size_t i = 0; i < small_parameters; ++i)
        BOOST_TEST(std::abs(static_cast<double>(got[i]) - want[i]) <= tolerance * (1 + std::abs(want[i])),
                   "parameter " << i << " after step " << step << ": " << got[i] << ", needed " << want[i]);
}
/// `look(trainer)` gives the numbers that are compared.
template <class Device = cpu_device, class Optimizer, class Look>
void check_run(const Optimizer& optimizer, const double (&want)[3 * small_parameters], double tolerance, Look look) {
    small_trainer<Optimizer, program_options{}, Device> t(optimizer, {.threads = 1});
    start(t);
    const small_batch batch;
    for (int step = 1; step <= 50; ++step) {
        t.step(batch);
        const int row = step == 1 ? 0 : step == 10 ? 1 : step == 50 ? 2 : -1;
        if (row >= 0) check_parameters(look(t), want + row * small_parameters, step, tolerance);
    }
}
template <class Device = cpu_device, class Optimizer>
void check_training(const Optimizer& optimizer, const double (&want)[3 * small_parameters], double tolerance = 1e-5) {
    check_run<Device>(optimizer, want, tolerance, [](const auto& t) { return all_parameters(t); });
}

} // namespace sinter::test
