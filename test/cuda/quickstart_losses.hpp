// SPDX-License-Identifier: BSL-1.0
// Losses of the quickstart net (dropout and all, seed 1) on the processor: batch 64, weights and batches from
// fixtures/generate.hpp, sgd at 0.05 and adam. rehearsal_losses.cpp checks that they still hold; a device must agree to
// 1e-4. They are recorded because a file for nvcc cannot hold the processor's convolution kernels.
#pragma once

namespace sinter::test {

inline constexpr double quickstart_sgd[20] = {
    2.30264997, 2.29806447, 2.29008436, 2.27998137, 2.28006124, 2.26924491,
    2.26741028, 2.26573086, 2.26237607, 2.24882102, 2.24946976, 2.24928975,
    2.24338937, 2.23398185, 2.23158836, 2.22798538, 2.22345948, 2.21339130,
    2.21010995, 2.21330357,
};
inline constexpr double quickstart_adam[20] = {
    2.30264997, 2.23357153, 2.16154552, 2.06763577, 1.96308780, 1.81345177,
    1.64774454, 1.49036586, 1.27965164, 1.04819214, 0.83191723, 0.70768309,
    0.47462791, 0.39418599, 0.21449995, 0.16850775, 0.09623165, 0.08620703,
    0.03925338, 0.03127569,
};

} // namespace sinter::test
