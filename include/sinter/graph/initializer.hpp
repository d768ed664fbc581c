// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/graph.hpp>

/// How parameters start. The numbers are drawn when a trainer is made (train/initialize.hpp), each
/// parameter's from a stream of its own that depends on the seed and on the parameter's path alone.
///
/// fan_in and fan_out are the numbers of values that go into one output and come from one input:
/// for a dense kernel [K, N] K and N, for a convolution's they are multiplied by the window's size.
namespace sinter::inline SINTER_TARGET::compiler {

constexpr float root(float x) {   ///< square root by Newton's method, for constant evaluation
    float r = x > 1 ? x : 1;
    for (int i = 0; i < 40; ++i) {
        const float next = 0.5f * (r + x / r);
        if (next == r) break;
        r = next;
    }
    return r;
}
/// Has this initializer values of a row of a table by itself (initial_row.hpp)? A truncated
/// normal's draws depend on those before, an orthogonal matrix's rows on each other.
constexpr bool draws_rows(init_kind k) {
    return k == init_kind::constant || k == init_kind::uniform || k == init_kind::normal || k == init_kind::identity;
}

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET {

/// Initial values: all the same, uniform in [low, high), or normal.
constexpr initializer constant_of(float a) { return {init_kind::constant, a}; }
inline constexpr initializer zeros{init_kind::constant, 0.f}, ones{init_kind::constant, 1.f};

constexpr initializer uniform_of(float low, float high) {
    return {init_kind::uniform, (high - low) / 2, (high + low) / 2};
}
constexpr initializer normal_of(float deviation, float mean = 0.f) { return {init_kind::normal, deviation, mean}; }
/// Normal, but what lies further than two deviations from the mean is drawn again, so that the
/// deviation that comes out is 0.8796 times the one that is named (Keras' TruncatedNormal;
/// PyTorch's trunc_normal_ has its bounds at -2 and 2 by default).
constexpr initializer truncated_normal_of(float deviation, float mean = 0.f) {
    return {init_kind::truncated_normal, deviation, mean};
}

/// An initialiser that wants fan_in, `he_normal(k)`: its variance is a constant over that.
struct by_fan_in {
    init_kind kind;
    float over;
    constexpr initializer operator()(int fan_in) const {
        return {kind, compiler::root(over / static_cast<float>(fan_in))};
    }
};
/// One that wants both, `glorot_uniform(k, n)`.
struct by_both_fans {
    init_kind kind;
    float over;
    constexpr initializer operator()(int fan_in, int fan_out) const {
        return {kind, compiler::root(over / static_cast<float>(1. * fan_in + fan_out))};
    }
};

/// Uniform in +-sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010); Keras' default.
inline constexpr by_both_fans glorot_uniform{init_kind::uniform, 6.f};
/// Normal with standard deviation sqrt(2 / (fan_in + fan_out)); PyTorch's xavier_normal_. (Keras
/// truncates it, here and in the two below, and widens it so that the deviation is the same.)
inline constexpr by_both_fans glorot_normal{init_kind::normal, 2.f};
/// Normal with standard deviation sqrt(2 / fan_in) (He et al. 2015), for layers followed by relu.
inline constexpr by_fan_in he_normal{init_kind::normal, 2.f};
/// Uniform in +-sqrt(6 / fan_in), of the same variance.
inline constexpr by_fan_in he_uniform{init_kind::uniform, 6.f};
/// Normal with standard deviation sqrt(1 / fan_in) (LeCun et al. 1998), as selu wants it.
inline constexpr by_fan_in lecun_normal{init_kind::normal, 1.f};
/// Uniform in +-sqrt(3 / fan_in), of the same variance.
inline constexpr by_fan_in lecun_uniform{init_kind::uniform, 3.f};

/// As a matrix [all axes but the last, last]: its rows or its columns, whichever are fewer, are
/// orthonormal times `gain`, and it is drawn evenly from all such matrices (Saxe et al. 2014;
/// Keras' Orthogonal. PyTorch's orthogonal_ has the first axis against all others).
constexpr initializer orthogonal_of(float gain) { return {init_kind::orthogonal, gain}; }
inline constexpr initializer orthogonal{init_kind::orthogonal, 1.f};
/// `gain` where the places along the last two axes are equal, else 0, the same for each place along
/// the axes before: [N, N] is the identity. Keras' Identity, which takes matrices only. What has
/// but one axis is all `gain`.
constexpr initializer identity_of(float gain) { return {init_kind::identity, gain}; }
inline constexpr initializer identity{init_kind::identity, 1.f};

} // namespace sinter::compiler
