// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/gamma.hpp>
#include <sinter/kernel/cpu/math/log.hpp>
#include <sinter/kernel/cpu/math/pieces.hpp>

/// The logarithm of the gamma function in floats.
namespace sinter::inline SINTER_TARGET::cpu {

/// lgamma(x) / ((x - 1) (x - 2)), in which the zeros at 1 and 2 are gone, of t = x - 1/2: as many
/// pieces as a vector has lanes.
template <int Pieces>
struct gamma_quotient_pieces;
template <>
struct gamma_quotient_pieces<16> {
    static constexpr float per_unit = 4;
    alignas(64) static constexpr float coefficients[7][16] = {
        {2.33642364f, 0.411802173f, 0.0686171949f, 0.0171313062f, 0.00551466877f, 0.00211480632f, 0.00092183426f,
         0.000443111436f, 0.00023008608f, 0.00012717137f, 7.40083997e-05f, 4.49742656e-05f, 2.8357259e-05f,
         1.84562195e-05f, 1.23496302e-05f, 8.46548755e-06f},
        {-2.40366507f, -0.354887933f, -0.0789519325f, -0.0246373117f, -0.00951409806f, -0.00425535161f, -0.00211927085f,
         -0.00114575203f, -0.000660868769f, -0.000401684199f, -0.000254935265f, -0.000167777835f, -0.000113882015f,
         -7.93842191e-05f, -5.66335875e-05f, -4.12335539e-05f},
        {1.63195884f, 0.307034612f, 0.0922175869f, 0.036155358f, 0.0167963263f, 0.00877615251f, 0.00499856798f,
         0.00304109091f, 0.00194904581f, 0.00130290096f, 0.000901798659f, 0.000642678642f, 0.000469548628f,
         0.000350490503f, 0.00026654909f, 0.000206062585f},
        {-1.04714334f, -0.288809359f, -0.11513371f, -0.0562708303f, -0.0313077942f, -0.0190537293f, -0.0123841055f,
         -0.00846398808f, -0.0060187513f, -0.00441947952f, -0.00333227613f, -0.00256904587f, -0.0020185092f,
         -0.00161206233f, -0.0013059004f, -0.00107119163f},
        {0.717806458f, 0.294086218f, 0.15543434f, 0.0945657492f, 0.0629114062f, 0.0445204489f, 0.0329650007f,
         0.0252683554f, 0.0199051537f, 0.0160309952f, 0.0131490482f, 0.0109521886f, 0.00924264267f, 0.0078885993f,
         0.00679959776f, 0.00591196073f},
        {-0.582937837f, -0.352359593f, -0.245251387f, -0.184558392f, -0.145959899f, -0.119481586f, -0.100317299f,
         -0.0858808458f, -0.074663572f, -0.0657293499f, -0.0584682189f, -0.0524667017f, -0.0474351645f, -0.0431650318f,
         -0.0395025387f, -0.036331974f},
        {0.763153255f, 0.650499046f, 0.577215672f, 0.524116457f, 0.483128965f, 0.450139314f, 0.422784328f, 0.399589479f,
         0.37957716f, 0.362068325f, 0.346573591f, 0.332729578f, 0.320259631f, 0.308948696f, 0.298626572f, 0.289156497f},
    };
};
template <>
struct gamma_quotient_pieces<8> {
    static constexpr float per_unit = 2;
    alignas(32) static constexpr float coefficients[8][8] = {
        {-1.82214427f, -0.0669133291f, -0.00340143056f, -0.000418985641f, -8.29956116e-05f, -2.21527862e-05f,
         -7.25815153e-06f, -2.76204423e-06f},
        {2.87209105f, 0.0738115236f, 0.00569487922f, 0.000938622572f, 0.000232759849f, 7.46037986e-05f, 2.85244314e-05f,
         1.24048747e-05f},
        {-2.42883706f, -0.0768729225f, -0.00941542909f, -0.00210742024f, -0.00065854931f, -0.000254320214f,
         -0.00011368133f, -5.6557401e-05f},
        {1.62553525f, 0.0919555798f, 0.0167872887f, 0.00499772746f, 0.00194891216f, 0.000901768857f, 0.000469540246f,
         0.000266546296f},
        {-1.04629612f, -0.115155682f, -0.0313086957f, -0.012384207f, -0.00601877039f, -0.00333228125f, -0.00201851083f,
         -0.00130590098f},
        {0.717771053f, 0.155437857f, 0.0629115254f, 0.0329650119f, 0.0199051555f, 0.0131490491f, 0.00924264267f,
         0.00679959776f},
        {-0.58293736f, -0.245251313f, -0.145959899f, -0.100317299f, -0.074663572f, -0.0584682189f, -0.0474351645f,
         -0.0395025387f},
        {0.763153255f, 0.577215672f, 0.483128965f, 0.422784328f, 0.37957716f, 0.346573591f, 0.320259631f, 0.298626572f},
    };
};

struct whole_lgamma {
    static SINTER_INLINE vf far(vf x) { return lgamma_by_doubles(x); }
};
#if defined(__FMA__) || defined(__AVX512F__)
/// The logarithm of a positive normal number, what its first float loses in the second: log_of's
/// sum, the last step of which is left out.
SINTER_INLINE two_floats log_as_pair(vf x) {
    const split_float s = split(x);
    const vf n = __builtin_convertvector(s.n, vf), f = s.m - 1.f, main = n * splat(0.693359375f), high = main + f;
    return {high, ((main - high) + f) + log_rest(n, f)};
}
/// log |gamma(x)| within 2.8 ULP, but within 1e-15 of its zeros below 0; infinite at 0, -1, -2, ...
/// and at infinities. Up to 4.2 by pieces, below 1/2 those of lgamma(x + 1) = lgamma(x) + log x;
/// beyond by Stirling's series (Abramowitz and Stegun 6.1.40), whose product is a pair of floats;
/// not above 0 by doubles.
SINTER_INLINE vf lgamma(vf x) {
    if constexpr (!picks_lanes) return lgamma_by_doubles(x);
    const two_floats l = log_as_pair(x);
    const vi small = x < 0.5f;
    const vf u = select(small, x + 1.f, x), a = u - 1.f, b = u - 2.f;
    const vf quotient = by_pieces<gamma_quotient_pieces<pieces>>(min(u - 0.5f, splat(3.7f)));
    vf ab = a * b;
    pin(ab);
    const vf piece = fma(ab, quotient, fma(a, b, -ab) * quotient);
    const vf near = select(small, (piece - l.low) - l.high, piece);

    const vf g = x - 0.5f, less = l.high - 1.f;   // (x - 1/2) (log x - 1) + ...; exact, as log x is more than 1/2 here
    vf product = g * less;
    pin(product);
    const vf product_low = fma(g, l.low, fma(g, less, -product));
    const vf w = 1.f / x;
    const vf series = fma(w, polynomial(w * w, splat(1.f / 1260), -1.f / 360, 1.f / 12), splat(0.418938533f));
    const vf y = select(x < 4.2f, near, product + (product_low + series));
    return with_far<whole_lgamma>(x, beyond_log(x, 0x7b4097ce), y);   // 1e36
}
#else
SINTER_INLINE vf lgamma(vf x) { return lgamma_by_doubles(x); }
#endif

} // namespace sinter::cpu
