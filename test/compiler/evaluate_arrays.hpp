// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/argmin.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/detail/middle_moment.hpp>
#include <sinter/ops/gather_nd.hpp>
#include <sinter/ops/interpolate.hpp>
#include <sinter/ops/pad.hpp>
#include <sinter/ops/prod.hpp>
#include <sinter/ops/roll.hpp>
#include <sinter/ops/top_k.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

/// The meaning of nodes that move elements, in double precision: see evaluate.hpp.
namespace sinter::test {
using namespace compiler;

using numbers = std::vector<double>;

inline int count(const shape& s, int batch) { return s.size() * (s.batched ? batch : 1); }

namespace detail {

/// Calls f(element of small, element of large) for the places that steps p (offset first) name.
template <class F>
void by_steps(const shape& small, const shape& large, const int* p, int batch, F f) {
    for (int i = 0; i < count(small, batch); ++i) {
        int at = p[0] + i / small.size() * large.size();
        for (int k = small.rank - 1, rest = i % small.size(); k >= 0; rest /= small.d[k--])
            at += rest % small.d[k] * p[k + 1];
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

/// Fills y with node n's value if it is one of these; false if it is not. `second`: a second result
/// that somebody wants.
inline bool array_value(const node& n, const shape* in, const std::vector<const double*>& x, int batch, numbers& y,
                        numbers* second) {
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
                const int from = i / large.size() * small.size() +
                    detail::padded_from(small, large, n.p, i % large.size());
                if (forward) y[i] = x[0][from];
                else y[from] += x[0][i];
            }
            return true;
        }
        case op::middle_moment:
            for (int i = 0, outer = 0; i < size; ++i) {
                outer = i / n.p[2];
                for (int j = 0; j < n.p[1]; ++j) {
                    const int at = (outer * n.p[1] + j) * n.p[2] + i % n.p[2];
                    y[i] += (x[0][at] - x[1][i]) * (n.p[3] ? 1 : n.operands > 2 ? x[2][at] : x[0][at] - x[1][i]);
                }
            }
            return true;
        case op::interpolate:
        case op::interpolate_gradient: {
            const bool forward = n.k == op::interpolate;
            const int from = n.p[1], inner = n.p[2], to = n.p[3], lines = size / inner / (forward ? to : from);
            for (int k = 0; k < to; ++k) {
                const double middle = n.p[4] ? to > 1 ? k * (from - 1.0) / (to - 1.0) : 0.0
                    : (k + 0.5) * from / to - 0.5;
                const double place = std::fmin(std::fmax(middle, 0), from - 1);
                for (int i = 0; i < from; ++i)
                    for (int line = 0; line < lines; ++line)
                        for (int j = 0; j < inner; ++j) {
                            const int small = (line * from + i) * inner + j, large = (line * to + k) * inner + j;
                            y[forward ? large : small] +=
                                std::fmax(0, 1 - std::fabs(place - i)) * x[0][forward ? small : large];
                        }
            }
            return true;
        }
        case op::to_int:
        case op::to_index:
            for (int i = 0; i < size; ++i) {
                const double v = std::isnan(x[0][i]) ? 0 : std::trunc(x[0][i]);
                y[i] = n.k == op::to_index ? std::fmin(std::fmax(v, 0), n.p[0] - 1)
                    : std::fmin(std::fmax(v, -2147483648.), 2147483647.);
            }
            return true;
        case op::place_index:
            for (int i = 0, k = in[0].last(); i < size; ++i)
                for (int j = 0; j < k; ++j) y[i] = y[i] * n.p[j] + std::fmin(std::fmax(x[0][i * k + j], 0), n.p[j] - 1);
            return true;
        case op::argmax:
        case op::sort: {
            const bool all = n.k == op::sort, down = n.p[all ? 4 : 3] == (all ? 1 : 0);
            const int length = n.p[1], inner = n.p[2], kept = all ? n.p[3] : 1;
            if (second) second->assign(y.size(), 0);
            for (int row = 0; row < size / kept; ++row) {
                const double* from = x[0] + row / inner * length * inner + row % inner;
                std::vector<int> places(static_cast<std::size_t>(length));
                for (int i = 0; i < length; ++i) places[i] = i;
                std::stable_sort(places.begin(), places.end(), [&](int a, int b) {
                    const double u = from[a * inner], v = from[b * inner];
                    if (std::isnan(u) || std::isnan(v))
                        return all ? (down ? std::isnan(u) && !std::isnan(v) : !std::isnan(u) && std::isnan(v))
                            : std::isnan(u) && !std::isnan(v);
                    return down ? u > v : u < v;
                });
                for (int i = 0; i < kept; ++i) {
                    const int to = row / inner * kept * inner + i * inner + row % inner;
                    y[to] = all ? from[places[i] * inner] : places[i];
                    if (all && second) (*second)[to] = places[i];
                }
            }
            return true;
        }
        case op::gather:
        case op::scatter_add: {
            const bool reads = n.k == op::gather;
            const shape &whole = reads ? in[0] : s, &slices = reads ? s : in[1], &where = in[reads ? 1 : 0];
            const int outer = n.p[0], length = n.p[1], inner = n.p[2], taken = n.p[3];
            for (int i = 0; i < count(slices, batch); ++i) {
                const int j = i % inner, k = i / inner % taken, o = i / inner / taken % outer, b = i / slices.size();
                const int index = (where.batched ? b * where.size() : 0) + o * n.p[4] + k * n.p[5] + j * n.p[6];
                const int at = (whole.batched ? b * whole.size() : 0) +
                    (o * length + static_cast<int>(x[reads ? 1 : 0][index])) * inner + j;
                if (reads) y[i] = x[0][at];
                else y[at] += x[1][i];
            }
            return true;
        }
        case op::cumsum:
        case op::cumprod:
        case op::linear_scan:
            for (int i = 0; i < size; ++i) {   // element by element, from whichever end
                const int inner = n.p[2], own = i / inner % n.p[1], first = i - own * inner;
                double run = n.k == op::cumprod ? 1 : 0, carry = run;
                for (int k = n.p[4] ? n.p[1] - 1 : 0;; k += n.p[4] ? -1 : 1) {
                    const double v = x[0][first + k * inner], c = n.k == op::linear_scan ? x[1][first + k * inner] : 0;
                    const double before = carry;
                    if (n.k == op::linear_scan)
                        run = n.p[3] ? v + carry : v + c * carry, carry = n.p[3] ? c * run : run;
                    else carry = n.k == op::cumprod ? carry * v : carry + v, run = n.p[3] ? before : carry;
                    if (k == own) break;
                }
                y[i] = run;
            }
            return true;
        case op::prod:
            for (int i = 0; i < size; ++i) {
                y[i] = 1;
                for (int k = 0; k < n.p[1]; ++k) y[i] *= x[0][(i / n.p[2] * n.p[1] + k) * n.p[2] + i % n.p[2]];
            }
            return true;
        default: return false;
    }
}

} // namespace sinter::test
