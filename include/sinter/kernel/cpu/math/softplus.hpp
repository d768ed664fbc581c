// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/exp.hpp>
#include <sinter/kernel/cpu/math/log.hpp>
#include <sinter/kernel/cpu/math/pieces.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// log(1 + t) in as many pieces as a vector has lanes, each with the least greatest error in units
/// of the last place.
template <int Pieces>
struct log1p_pieces;
template <>
struct log1p_pieces<16> {
    static constexpr float per_unit = 15;
    alignas(64) static constexpr float coefficients[5][16] = {
        {-0.237167433f, -0.193339288f, -0.151686803f, -0.120671883f, -0.0971944854f, -0.0791592747f, -0.0651201159f,
         -0.0540600009f, -0.0452515185f, -0.0381662957f, -0.0324151255f, -0.0277076084f, -0.0238244962f, -0.020598447f,
         -0.0179004371f, -0.0156300645f},
        {0.333069354f, 0.274859518f, 0.22913298f, 0.193012923f, 0.164103314f, 0.140690953f, 0.121528827f, 0.105694585f,
         0.0924960002f, 0.0814067051f, 0.0720216036f, 0.0640254915f, 0.0571706221f, 0.0512604341f, 0.0461376347f,
         0.0416753478f},
        {-0.499998242f, -0.439453006f, -0.389273286f, -0.347222149f, -0.311634302f, -0.28124997f, -0.255102009f,
         -0.232437998f, -0.212665379f, -0.195312485f, -0.179999977f, -0.166420102f, -0.15432097f, -0.143494889f,
         -0.133769318f, -0.124999993f},
        {1.f, 0.93749994f, 0.882352889f, 0.833333313f, 0.789473653f, 0.75f, 0.714285672f, 0.681818187f, 0.652173877f,
         0.625f, 0.599999964f, 0.576923072f, 0.555555522f, 0.535714269f, 0.517241359f, 0.49999997f},
        {0.f, 0.0645385236f, 0.125163153f, 0.182321563f, 0.236388788f, 0.287682086f, 0.336472243f, 0.382992268f,
         0.427444041f, 0.470003635f, 0.510825634f, 0.550046384f, 0.587786674f, 0.624154329f, 0.65924567f, 0.693147182f},
    };
};
template <>
struct log1p_pieces<8> {
    static constexpr float per_unit = 7;
    alignas(32) static constexpr float coefficients[6][8] = {
        {0.172997758f, 0.103156745f, 0.0571774691f, 0.0337343849f, 0.0209333953f, 0.0135422824f, 0.00907239132f,
         0.00626140507f},
        {-0.248367056f, -0.147119835f, -0.091770716f, -0.0601753928f, -0.0410827436f, -0.0289975721f, -0.0210475493f,
         -0.0156449508f},
        {0.333292335f, 0.223305538f, 0.156835079f, 0.114332967f, 0.0859001353f, 0.0661650151f, 0.0520405993f,
         0.0416666307f},
        {-0.499999642f, -0.382811397f, -0.302468598f, -0.244999707f, -0.202479169f, -0.170138791f, -0.144970343f,
         -0.124999955f},
        {1.f, 0.875f, 0.777777791f, 0.699999988f, 0.636363626f, 0.583333313f, 0.538461506f, 0.5f},
        {0.f, 0.133531392f, 0.251314431f, 0.356674969f, 0.451985151f, 0.538996518f, 0.619039237f, 0.693147182f},
    };
};
/// log(1 + t), 0 <= t <= 1. By pieces, or as 1 + t is either near 1 or twice something that is.
SINTER_INLINE vf near_log1p(vf t) {
    if constexpr (picks_lanes) return by_pieces<log1p_pieces<pieces>>(t);
    const vi second = t > splat(0.41421357f);
    return log_of(select(second, splat(1.f), zero()), select(second, fma(t, splat(0.5f), splat(-0.5f)), t));
}

struct whole_softplus {
    static SINTER_INLINE vf far(vf x) { return max(x, zero()) + log1p(whole_exp::far(negative(x))); }
};
/// log(1 + e^x) within 2.5 ULP, also in its tails: x far above, e^x far below zero.
SINTER_INLINE vf softplus(vf x) {
    const vf below = negative(x), y = max(x, zero()) + near_log1p(near_exp(below));
    return with_far<whole_softplus>(x, exceeds(splat(-most_near_exp), below), y);
}

} // namespace sinter::cpu
