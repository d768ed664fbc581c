// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/scalar.hpp>
#include <sinter/ops/acos.hpp>
#include <sinter/ops/acosh.hpp>
#include <sinter/ops/asin.hpp>
#include <sinter/ops/asinh.hpp>
#include <sinter/ops/atan.hpp>
#include <sinter/ops/atan2.hpp>
#include <sinter/ops/atanh.hpp>
#include <sinter/ops/ceil.hpp>
#include <sinter/ops/cos.hpp>
#include <sinter/ops/cosh.hpp>
#include <sinter/ops/digamma.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/erfc.hpp>
#include <sinter/ops/expm1.hpp>
#include <sinter/ops/floor.hpp>
#include <sinter/ops/floor_div.hpp>
#include <sinter/ops/isfinite.hpp>
#include <sinter/ops/isinf.hpp>
#include <sinter/ops/isnan.hpp>
#include <sinter/ops/lgamma.hpp>
#include <sinter/ops/log1p.hpp>
#include <sinter/ops/logical_and.hpp>
#include <sinter/ops/logical_not.hpp>
#include <sinter/ops/logical_or.hpp>
#include <sinter/ops/logical_xor.hpp>
#include <sinter/ops/mod.hpp>
#include <sinter/ops/not_equal.hpp>
#include <sinter/ops/pow.hpp>
#include <sinter/ops/reciprocal.hpp>
#include <sinter/ops/round.hpp>
#include <sinter/ops/rsqrt.hpp>
#include <sinter/ops/sin.hpp>
#include <sinter/ops/sinh.hpp>
#include <sinter/ops/squared_difference.hpp>
#include <sinter/ops/tan.hpp>
#include <sinter/ops/trunc.hpp>

/// Every other op of one element as a function of symbolic scalars, for users' own elementwise ops.
namespace sinter::inline SINTER_TARGET {

constexpr scalar acos(scalar a) { return {ops::acos(a.t)}; }
constexpr scalar acosh(scalar a) { return {ops::acosh(a.t)}; }
constexpr scalar asin(scalar a) { return {ops::asin(a.t)}; }
constexpr scalar asinh(scalar a) { return {ops::asinh(a.t)}; }
constexpr scalar atan(scalar a) { return {ops::atan(a.t)}; }
constexpr scalar atanh(scalar a) { return {ops::atanh(a.t)}; }
constexpr scalar ceil(scalar a) { return {ops::ceil(a.t)}; }
constexpr scalar cos(scalar a) { return {ops::cos(a.t)}; }
constexpr scalar cosh(scalar a) { return {ops::cosh(a.t)}; }
constexpr scalar digamma(scalar a) { return {ops::digamma(a.t)}; }
constexpr scalar erfc(scalar a) { return {ops::erfc(a.t)}; }
constexpr scalar expm1(scalar a) { return {ops::expm1(a.t)}; }
constexpr scalar floor(scalar a) { return {ops::floor(a.t)}; }
constexpr scalar isfinite(scalar a) { return {ops::isfinite(a.t)}; }
constexpr scalar isinf(scalar a) { return {ops::isinf(a.t)}; }
constexpr scalar isnan(scalar a) { return {ops::isnan(a.t)}; }
constexpr scalar lgamma(scalar a) { return {ops::lgamma(a.t)}; }
constexpr scalar log1p(scalar a) { return {ops::log1p(a.t)}; }
constexpr scalar logical_not(scalar a) { return {ops::logical_not(a.t)}; }
constexpr scalar reciprocal(scalar a) { return {ops::reciprocal(a.t)}; }
constexpr scalar round(scalar a) { return {ops::round(a.t)}; }
constexpr scalar rsqrt(scalar a) { return {ops::rsqrt(a.t)}; }
constexpr scalar sin(scalar a) { return {ops::sin(a.t)}; }
constexpr scalar sinh(scalar a) { return {ops::sinh(a.t)}; }
constexpr scalar tan(scalar a) { return {ops::tan(a.t)}; }
constexpr scalar trunc(scalar a) { return {ops::trunc(a.t)}; }
constexpr scalar atan2(scalar a, scalar b) { return {ops::atan2(a.t, b.t)}; }
constexpr scalar atan2(scalar a, float b) { return {ops::atan2(a.t, b)}; }
constexpr scalar atan2(float a, scalar b) { return {ops::atan2(a, b.t)}; }
constexpr scalar equal(scalar a, scalar b) { return {ops::equal(a.t, b.t)}; }
constexpr scalar equal(scalar a, float b) { return {ops::equal(a.t, b)}; }
constexpr scalar equal(float a, scalar b) { return {ops::equal(a, b.t)}; }
constexpr scalar floor_div(scalar a, scalar b) { return {ops::floor_div(a.t, b.t)}; }
constexpr scalar floor_div(scalar a, float b) { return {ops::floor_div(a.t, b)}; }
constexpr scalar floor_div(float a, scalar b) { return {ops::floor_div(a, b.t)}; }
constexpr scalar mod(scalar a, scalar b) { return {ops::mod(a.t, b.t)}; }
constexpr scalar mod(scalar a, float b) { return {ops::mod(a.t, b)}; }
constexpr scalar mod(float a, scalar b) { return {ops::mod(a, b.t)}; }
constexpr scalar not_equal(scalar a, scalar b) { return {ops::not_equal(a.t, b.t)}; }
constexpr scalar not_equal(scalar a, float b) { return {ops::not_equal(a.t, b)}; }
constexpr scalar not_equal(float a, scalar b) { return {ops::not_equal(a, b.t)}; }
constexpr scalar pow(scalar a, scalar b) { return {ops::pow(a.t, b.t)}; }
constexpr scalar pow(scalar a, float b) { return {ops::pow(a.t, b)}; }
constexpr scalar pow(float a, scalar b) { return {ops::pow(a, b.t)}; }
constexpr scalar logical_and(scalar a, scalar b) { return {ops::logical_and(a.t, b.t)}; }
constexpr scalar logical_or(scalar a, scalar b) { return {ops::logical_or(a.t, b.t)}; }
constexpr scalar logical_xor(scalar a, scalar b) { return {ops::logical_xor(a.t, b.t)}; }
constexpr scalar squared_difference(scalar a, scalar b) { return {ops::squared_difference(a.t, b.t)}; }

} // namespace sinter
