// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>
#include <sinter/ops/add.hpp>
#include <sinter/ops/clip.hpp>
#include <sinter/ops/div.hpp>
#include <sinter/ops/erf.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/greater_equal.hpp>
#include <sinter/ops/less.hpp>
#include <sinter/ops/less_equal.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/neg.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/square.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/ops/where.hpp>

namespace sinter::inline SINTER_TARGET {

/// A symbolic scalar: what a user's own elementwise op is written with. It is differentiated and
/// fused like any other. More functions are in scalar_functions.hpp; comparisons give 1 or 0.
struct scalar {
    tensor t;

    friend constexpr scalar operator+(scalar a, scalar b) { return {a.t + b.t}; }
    friend constexpr scalar operator-(scalar a, scalar b) { return {a.t - b.t}; }
    friend constexpr scalar operator*(scalar a, scalar b) { return {a.t * b.t}; }
    friend constexpr scalar operator/(scalar a, scalar b) { return {a.t / b.t}; }
    friend constexpr scalar operator-(scalar a) { return {-a.t}; }
    friend constexpr scalar operator+(scalar a, float b) { return {a.t + b}; }
    friend constexpr scalar operator-(scalar a, float b) { return {a.t - b}; }
    friend constexpr scalar operator*(scalar a, float b) { return {a.t * b}; }
    friend constexpr scalar operator/(scalar a, float b) { return {a.t / b}; }
    friend constexpr scalar operator+(float a, scalar b) { return {a + b.t}; }
    friend constexpr scalar operator-(float a, scalar b) { return {a - b.t}; }
    friend constexpr scalar operator*(float a, scalar b) { return {a * b.t}; }
    friend constexpr scalar operator/(float a, scalar b) { return {a / b.t}; }
    friend constexpr scalar exp(scalar a) { return {ops::exp(a.t)}; }
    friend constexpr scalar log(scalar a) { return {ops::log(a.t)}; }
    friend constexpr scalar sqrt(scalar a) { return {ops::sqrt(a.t)}; }
    friend constexpr scalar tanh(scalar a) { return {ops::tanh(a.t)}; }
    friend constexpr scalar erf(scalar a) { return {ops::erf(a.t)}; }
    friend constexpr scalar maximum(scalar a, scalar b) { return {ops::maximum(a.t, b.t)}; }
    friend constexpr scalar maximum(scalar a, float b) { return {ops::maximum(a.t, b)}; }
    friend constexpr scalar minimum(scalar a, scalar b) { return {ops::minimum(a.t, b.t)}; }
    friend constexpr scalar minimum(scalar a, float b) { return {ops::minimum(a.t, b)}; }
    friend constexpr scalar greater(scalar a, scalar b) { return {ops::greater(a.t, b.t)}; }
    friend constexpr scalar greater(scalar a, float b) { return {ops::greater(a.t, b)}; }
    friend constexpr scalar greater_equal(scalar a, scalar b) { return {ops::greater_equal(a.t, b.t)}; }
    friend constexpr scalar greater_equal(scalar a, float b) { return {ops::greater_equal(a.t, b)}; }
    friend constexpr scalar less(scalar a, scalar b) { return {ops::less(a.t, b.t)}; }
    friend constexpr scalar less(scalar a, float b) { return {ops::less(a.t, b)}; }
    friend constexpr scalar less_equal(scalar a, scalar b) { return {ops::less_equal(a.t, b.t)}; }
    friend constexpr scalar less_equal(scalar a, float b) { return {ops::less_equal(a.t, b)}; }
    friend constexpr scalar abs(scalar a) { return {ops::abs(a.t)}; }
    friend constexpr scalar sign(scalar a) { return {ops::sign(a.t)}; }
    friend constexpr scalar square(scalar a) { return {ops::square(a.t)}; }
    friend constexpr scalar clip(scalar a, float low, float high) { return {ops::clip(a.t, low, high)}; }
    /// a where the condition is not 0, else b.
    friend constexpr scalar where(scalar condition, scalar a, scalar b) { return {ops::where(condition.t, a.t, b.t)}; }
    friend constexpr scalar where(scalar condition, scalar a, float b) { return {ops::where(condition.t, a.t, b)}; }
    friend constexpr scalar where(scalar condition, float a, scalar b) { return {ops::where(condition.t, a, b.t)}; }
};

} // namespace sinter
