// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Elementary functions of a vector of floats. Bounds are in units in the last place against
/// double, over all floats unless said otherwise, asserted by test/kernel/math.cpp for targets with
/// and without fused multiply-add.
#include <sinter/kernel/cpu/math/erf.hpp>
#include <sinter/kernel/cpu/math/exp.hpp>
#include <sinter/kernel/cpu/math/gamma.hpp>
#include <sinter/kernel/cpu/math/hyperbolic.hpp>
#include <sinter/kernel/cpu/math/inverse_trigonometric.hpp>
#include <sinter/kernel/cpu/math/lgamma.hpp>
#include <sinter/kernel/cpu/math/log.hpp>
#include <sinter/kernel/cpu/math/power.hpp>
#include <sinter/kernel/cpu/math/reciprocal.hpp>
#include <sinter/kernel/cpu/math/remainder.hpp>
#include <sinter/kernel/cpu/math/rounding.hpp>
#include <sinter/kernel/cpu/math/softplus.hpp>
#include <sinter/kernel/cpu/math/tanh.hpp>
#include <sinter/kernel/cpu/math/trigonometric.hpp>
