// SPDX-License-Identifier: BSL-1.0
// optimise: sanitized
#define BOOST_TEST_MODULE einsum
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/ops/einsum.hpp>

#include "support/check_net.hpp"
#include "support/einsum.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr auto scaled = [](tensor x, const char* name) {   // so that a gradient goes to inputs, too
    shape s = x.shape();
    s.batched = false;
    return x * parameter(x, name, s, ones);
};
doubles times(const doubles& x, const doubles& p) {
    return map(x, p, [](double a, double b) { return a * b; });
}

/// a [2, 3, 4] and b [2, 4, 5] of each example; w [3, 4] and v [4, 4] of all.
BOOST_AUTO_TEST_CASE(two_operands) {
    constexpr auto net = inputs(array<2, 3, 4>, array<2, 4, 5>) >> [](tensor x, tensor z) {
        const tensor a = scaled(x, "a"), b = scaled(z, "b"), w = parameter(x, "w", extents(3, 4), ones);
        return outputs(einsum<"bij,bjk->bik">(a, b), einsum<"bij,bjk->kb">(a, b), einsum<"hij,hjk->kihj">(a, b),
                       einsum<"bij, ij">(a, w), einsum<"qik,ik->qi">(a, w), einsum<"bij,bkl->jl">(a, b));
    };
    check_net<programs::fused_only, 3>(net, [](const auto& p, const auto& x) {
        const doubles a = times(x[0], p[0]), b = times(x[1], p[1]);
        const doubles& w = p[2];
        return std::vector{plain_einsum("Zbij,Zbjk->Zbik", {a, b}),  plain_einsum("Zbij,Zbjk->Zkb", {a, b}),
                           plain_einsum("Zhij,Zhjk->Zkihj", {a, b}), plain_einsum("Zbij,ij->Zb", {a, w}),
                           plain_einsum("Zqik,ik->Zqi", {a, w}),     plain_einsum("Zbij,Zbkl->Zjl", {a, b})};
    });
}
BOOST_AUTO_TEST_CASE(one_operand_and_several) {
    constexpr auto net = inputs(array<4, 4, 3>, array<2, 4, 1>) >> [](tensor x, tensor z) {
        const tensor a = scaled(x, "a"), b = scaled(z, "b"), w = weights(x, "w", extents(3, 5), ones),
                     v = parameter(x, "v", extents(4, 4), ones);
        return outputs(
            einsum<"iij->ji">(a), einsum<"ii">(v) * einsum<"kji->">(a), einsum<"...i,io->...o">(a, w),
            einsum<"ij,jik,kl->li">(v, a, w), einsum<"bj...,j...->b...">(b, v),
            einsum<"i,j,k,l->ljik">(einsum<"iij->i">(a), einsum<"bj...->b">(b), einsum<"ij->i">(w),
                                    einsum<"ij->j">(v)));
    };
    check_net<programs::fused_only, 2>(net, [](const auto& p, const auto& x) {
        const doubles a = times(x[0], p[0]), b = times(x[1], p[1]);
        const doubles &w = p[2], &v = p[3];
        const doubles trace = plain_einsum("ii->", {v});
        return std::vector{
            plain_einsum("Ziij->Zji", {a}),
            map(plain_einsum("Zkji->Z", {a}), [&](double s) { return s * trace[0]; }),
            plain_einsum("Zmni,io->Zmno", {a, w}), plain_einsum("ij,Zjik,kl->Zli", {v, a, w}),
            plain_einsum("Zbje,je->Zbe", {b, v}),  plain_einsum("Ziin,Zbcd,kx,yl->Zlbik", {a, b, w, v})};
    });
}
