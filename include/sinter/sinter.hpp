// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What a training program includes: expressions, layers, losses, optimizers, data (training.hpp),
/// and this machine's processor to train on. CUDA does not come with it: that is cuda.hpp.
#include <sinter/base/compiler_options.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/training.hpp>
#ifdef SINTER_PROFILE
#include <sinter/profile/step_profile.hpp>
#endif
