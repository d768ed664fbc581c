// SPDX-License-Identifier: BSL-1.0
// Losses of the quickstart net (dropout and all, seed 1) on the processor: batch 64, weights and batches from
// fixtures/generate.hpp, sgd at 0.05 and adam. rehearsal_losses.cpp checks that they still hold; a device must agree to
// 1e-4. They are recorded because a file for nvcc cannot hold the processor's convolution kernels.
#pragma once

namespace sinter::test {

inline constexpr double quickstart_sgd[20] = {
    2.30237484, 2.29816771, 2.29219151, 2.28383923, 2.28132725, 2.27383661,
    2.26706076, 2.26561499, 2.26112604, 2.25602865, 2.25158525, 2.25077152,
    2.24435091, 2.23280859, 2.22850180, 2.23147106, 2.22315025, 2.21670008,
    2.21501827, 2.21424508,
};
inline constexpr double quickstart_adam[20] = {
    2.30237484, 2.23575401, 2.16543674, 2.07992077, 1.97206140, 1.83387148,
    1.63901770, 1.47840846, 1.28740311, 1.07543957, 0.84580672, 0.69596797,
    0.49507582, 0.36538199, 0.19748127, 0.17141950, 0.10453250, 0.07367121,
    0.04494849, 0.03362476,
};

} // namespace sinter::test
