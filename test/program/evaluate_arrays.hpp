// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/concat.hpp>
#include <sinter/ops/pad.hpp>
#include <sinter/ops/roll.hpp>
#include <cmath>
#include <vector>

/// The meaning of nodes that move elements, in double precision: see evaluate.hpp.
namespace sinter::test {

using numbers = std::vector<double>;

inline int count(const shape& s, int batch) { return s.size() * (s.batched ? batch : 1); }

namespace detail {

/// Calls f(element of small, element of large) for the places that steps p (offset first) name.
template <class F>
void by_steps(const shape& small, const shape& large, const int* p, int batch, F f) {
    for (int i = 0; i < count(small, batch); ++i) {
        int at = p[0] + i / small.size() * large.size();
        for (int k = small.rank - 1, rest = i % small.size(); k >= 0; rest /= small.d[k--]) at += rest % small.d[k] * p[k + 1];
        f(i, at);
    }
}

/// Which element of `small` stands at place i of `large`, around which its own are mirrored or repeated.
inline int padded_from(const shape& small, const shape& large, const int* p, int i) {
    int from = 0, step = 1;
    for (int k = small.rank - 1; k >= 0; step *= small.d[k], i /= large.d[k--]) {
        const int n = small.d[k];
        int j = i % large.d[k] - p[k + 1];
        if (p[0] == static_cast<int>(pad_mode::edge)) j = j < 0 ? 0 : j >= n ? n - 1 : j;
        else j = j < 0 ? -j : j >= n ? 2 * n - 2 - j : j;
        from += j * step;
    }
    return from;
}

} // namespace detail

/// Fills y with node n's value if it is one of these; false if it is not. `second`: a second result that somebody wants.
inline bool array_value(const node& n, const shape* in, const std::vector<const double*>& x, int batch, numbers& y,
                        [[maybe_unused]] numbers* second) {
    const shape& s = n.s;
    const int size = count(s, batch);
    switch (n.k) {
        case op::slice:
            detail::by_steps(s, in[0], n.p, batch, [&](int i, int at) { y[i] = x[0][at]; });
            return true;
        case op::insert:
            y.assign(y.size(), static_cast<double>(n.f));
            detail::by_steps(in[0], s, n.p, batch, [&](int i, int at) { y[at] = x[0][i]; });
            return true;
        case op::concat:
            for (int i = 0, all = n.p[1] + n.p[2] + n.p[3] + n.p[4]; i < size; ++i) {
                int c = i % all, k = 0;
                while (c >= n.p[k + 1]) c -= n.p[++k];
                y[i] = x[k][i / all * n.p[k + 1] + c];
            }
            return true;
        case op::roll:
            for (int i = 0, row = n.p[1]; i < size; ++i) y[i / row * row + (i % row + n.p[2]) % row] = x[0][i];
            return true;
        case op::pad:
        case op::pad_gradient: {
            const bool forward = n.k == op::pad;
            const shape &small = forward ? in[0] : s, &large = forward ? s : in[0];
            for (int i = 0; i < count(large, batch); ++i) {
                const int from = i / large.size() * small.size() + detail::padded_from(small, large, n.p, i % large.size());
                if (forward) y[i] = x[0][from];
                else y[from] += x[0][i];
            }
            return true;
        }
        default: return false;
    }
}

} // namespace sinter::test
