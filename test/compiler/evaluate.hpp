// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/ops/detail/less_maximum.hpp>
#include <sinter/ops/internal/batch_share.hpp>
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/ops/internal/global_loss_weight.hpp>
#include <sinter/ops/internal/product_sum.hpp>
#include <sinter/ops/over_batch.hpp>
#include <sinter/ops/over_global_batch.hpp>
#include <sinter/ops/cond.hpp>
#include <sinter/ops/erf.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/internal/bfloat16_products.hpp>
#include <sinter/ops/round_to_bfloat16.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/ops/where.hpp>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "compiler/evaluate_arrays.hpp"
#include "compiler/evaluate_unique_rows.hpp"

/// The meaning of a graph's nodes, in double precision and one at a time: written for its clearness, and apart from the
/// library's own rules. Packed weights are plain here. A whole graph is evaluated by walking over
/// it; the interpreter of programs uses the same for kernels of their own.
namespace sinter::test {
using namespace compiler;

/// What does not stand in the graph.
struct surroundings {
    int batch = 1, iteration = 0;   ///< iteration: of the loop whose body is evaluated
    int global_batch = 0;      ///< examples of all shards; 0: these are all
    std::uint64_t shard = 0;
    std::vector<double> loss_weights;   ///< of all shards; none: each mean's own
    std::vector<numbers> ports, parameters, states;
    std::vector<double> scalars;

    int all() const { return global_batch ? global_batch : batch; }
    double weight(int which, double own) const {
        if (loss_weights.empty()) return own;
        constexpr int of_gradient = rule<op::global_loss_weight>::of_gradient;
        return which < of_gradient ? loss_weights.at(static_cast<std::size_t>(which)) : 0;
    }
};

/// Element `index` of random stream `stream` of a shard, in that iteration of a loop; outside of
/// loops the iteration is 0.
inline double random_number(int stream, int index, int iteration, std::uint64_t shard) {
    std::uint64_t x = (static_cast<std::uint64_t>(stream + 1000 * iteration) + shard * 1000000) * 0x9e3779b97f4a7c15u +
        static_cast<std::uint64_t>(index);
    for (int i = 0; i < 3; ++i) x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
    return static_cast<double>(x >> 11) * 0x1p-53;
}

/// Ops that are not below, where a test wants them: evaluate_functions.hpp.
inline double (*more_functions)(op_id, double a, double b, double c) = nullptr;
inline bool (*more_values)(const node&, const shape*, const std::vector<const double*>&, int batch, numbers&) = nullptr;

/// To eight significant bits, ties to even.
inline double rounded_to_bfloat16(double a) {
    if (a == 0 || !std::isfinite(a)) return a;
    const double unit = std::ldexp(1, std::ilogb(a) - 7);
    return std::nearbyint(a / unit) * unit;
}

/// Two numbers that are bfloat16 already, in one place: the first one's bits are the lower half of an integer.
inline double bfloat16_pair(double low, double high) {
    const auto bits = [](double a) { return std::bit_cast<std::uint32_t>(static_cast<float>(a)) >> 16; };
    return static_cast<double>(bits(low) | bits(high) << 16);
}
inline double of_bfloat16_pair(double pair, int which) {
    const auto bits = static_cast<std::uint32_t>(pair);
    return static_cast<double>(std::bit_cast<float>(which ? bits & 0xffff0000u : bits << 16));
}

inline double elementwise(op_id k, double a, double b, double c, const surroundings& o) {
    switch (k) {
        case op::neg: return -a;
        case op::exp: return std::exp(a);
        case op::log: return std::log(a);
        case op::sqrt: return std::sqrt(a);
        case op::tanh: return std::tanh(a);
        case op::sigmoid: return 1 / (1 + std::exp(-a));
        case op::erf: return std::erf(a);
        case op::relu: return a < 0 ? 0 : a;
        case op::over_batch: return a / o.batch;
        case op::over_global_batch: return a / o.all();
        case op::batch_share: return a * o.batch / o.all();
        case op::broadcast:
        case op::loop_begin:
        case op::loop_next:
        case op::to_float: return a;
        case op::add: return a + b;
        case op::sub:
        case op::less_maximum: return a - b;
        case op::mul: return a * b;
        case op::div: return a / b;
        case op::maximum: return a > b ? a : b;
        case op::minimum: return a < b ? a : b;
        case op::equal: return a == b;
        case op::greater: return a > b;
        case op::where: return a != 0 ? b : c;
        case op::relu_gradient: return b <= 0 ? 0 : a;
        case op::round_to_bfloat16: return rounded_to_bfloat16(a);
        default: return more_functions ? more_functions(k, a, b, c) : NAN;
    }
}

/// Where element `i` of `to` is read in `from`, by NumPy's rules; the batch is the first axis of all.
inline int stretched(const shape& from, const shape& to, int i) {
    int at = 0, step = 1;
    for (int k = 1; k <= to.rank; ++k) {
        const int extent = to.d[to.rank - k], own = k <= from.rank ? from.d[from.rank - k] : 1;
        if (own != 1) at += i % extent * step;
        step *= own;
        i /= extent;
    }
    return from.batched ? at + i * step : at;
}

namespace detail {

/// Calls f(output pixel's image, row, column, window row, window column, input row, input column) within the image.
template <class F>
void slide(const shape& x, const shape& y, int batch, int kh, int kw, int down, int right, int above, int left, F f) {
    for (int b = 0; b < batch; ++b)
        for (int r = 0; r < y.d[0]; ++r)
            for (int c = 0; c < y.d[1]; ++c)
                for (int i = 0; i < kh; ++i)
                    for (int j = 0; j < kw; ++j) {
                        const int p = r * down - above + i, q = c * right - left + j;
                        if (p >= 0 && q >= 0 && p < x.d[0] && q < x.d[1]) f(b, r, c, i, j, p, q);
                    }
}
/// Calls f(element of x, of the weights w, of the result y) for every product of a convolution over one to three axes.
template <class F>
void each_product(const int* p, const shape& x, const shape& w, const shape& y, int batch, F f) {
    const int axes = x.rank - 1, gi = w.d[axes], go = y.last() / p[6];
    for (int o = 0; o < count(y, batch); ++o)
        for (int k = 0; k < w.size() / w.last() / gi; ++k) {
            int place = o / y.last(), tap = k, at = 0, step = 1;
            bool inside = true;
            for (int i = axes - 1, a = 2; i >= 0; --i, --a) {
                const int q = place % y.d[i] * (p[a] & 0xffff) - p[3 + a] + tap % w.d[i] * (p[a] >> 16);
                inside = inside && q >= 0 && q < x.d[i];
                at += q * step;
                step *= x.d[i];
                place /= y.d[i];
                tap /= w.d[i];
            }
            const int c = o % y.last();
            for (int i = 0; inside && i < gi; ++i)
                f((place * step + at) * x.last() + c / go * gi + i, (k * gi + i) * w.last() + c, o);
        }
}
inline int pixel(const shape& s, int image, int row, int column) {
    return ((image * s.d[0] + row) * s.d[1] + column) * s.d[2];
}

} // namespace detail

/// The value of node n from its operands'. `winners`: a max-pool's second result, where somebody wants it.
inline numbers value_of(const node& n, const shape* in, const std::vector<const double*>& x, const surroundings& o,
                        numbers* winners = nullptr) {
    const int B = o.batch, size = count(n.s, B);
    numbers y(static_cast<std::size_t>(size));
    auto images = [&](const shape& s) { return s.batched ? B : 1; };
    const shape& s = n.s;
    using detail::each_product;
    using detail::pixel;
    using detail::slide;
    switch (n.k) {
        case op::constant: y[0] = static_cast<double>(n.f); return y;
        case op::global_loss_weight: y[0] = o.weight(n.p[0], x[0][0]); return y;
        case op::runtime_scalar: y[0] = o.scalars.at(static_cast<std::size_t>(n.p[0])); return y;
        case op::column_index:
            for (int i = 0; i < size; ++i) y[i] = i % s.last();
            return y;
        case op::random_uniform:
            for (int i = 0; i < size; ++i) y[i] = random_number(n.p[0], i, n.loop ? o.iteration : 0, o.shard);
            return y;
        case op::row_sum:
        case op::row_max:
            for (int r = 0, c = in[0].last(); r < size; ++r) {
                y[r] = n.k == op::row_sum ? 0 : -INFINITY;
                for (int i = 0; i < c; ++i)
                    y[r] = n.k == op::row_sum ? y[r] + x[0][r * c + i] : std::fmax(y[r], x[0][r * c + i]);
            }
            return y;
        case op::col_sum:
            for (int i = 0; i < count(in[0], B); ++i) y[i % size] += x[0][i];
            return y;
        case op::middle_sum:
        case op::middle_max:
            for (int i = 0; i < size; ++i) {
                const int outer = i / n.p[2], inner = i % n.p[2];
                y[i] = n.k == op::middle_sum ? 0 : -INFINITY;
                for (int j = 0; j < n.p[1] * (in[0].batched && !s.batched ? B : 1); ++j) {
                    const double v = x[0][(outer * n.p[1] + j) * n.p[2] + inner];
                    y[i] = n.k == op::middle_sum ? y[i] + v : std::fmax(y[i], v);
                }
            }
            return y;
        case op::gemm:
            for (int i = 0, N = s.last(), K = in[0].last(); i < size; ++i)
                for (int k = 0; k < K; ++k)
                    y[i] += x[0][i / N * K + k] * x[1][n.p[gemm_attribute::transposed] ? i % N * K + k : k * N + i % N];
            return y;
        case op::product_sum:
            for (int t = 0; t < n.operands; t += 2)
                for (int i = 0, N = s.last(), K = in[t].last(); i < size; ++i)
                    for (int k = 0; k < K; ++k) y[i] += x[t][i / N * K + k] * x[t + 1][k * N + i % N];
            return y;
        case op::bfloat16_weights:
            for (int i = 0, N = s.last(); i < size; ++i) {
                const int row = 2 * (i / N), column = i % N;
                const auto of = [&](int r) { return r < in[0].d[0] ? rounded_to_bfloat16(x[0][r * N + column]) : 0; };
                y[i] = bfloat16_pair(of(row), of(row + 1));
            }
            return y;
        case op::bfloat16_gemm:
            for (int i = 0, N = s.last(), K = in[0].last(); i < size; ++i)
                for (int k = 0; k < K; ++k)
                    y[i] += rounded_to_bfloat16(x[0][i / N * K + k]) * of_bfloat16_pair(x[1][k / 2 * N + i % N], k % 2);
            return y;
        case op::bfloat16_gemm_tn:
        case op::gemm_tn: {
            const int K = s.d[0], N = s.d[1], rows = count(in[0], B) / K;
            const auto of = [&](double a) { return n.k == op::gemm_tn ? a : rounded_to_bfloat16(a); };
            for (int i = 0; i < size; ++i)
                for (int r = 0; r < rows; ++r) y[i] += of(x[0][r * K + i / N]) * of(x[1][r * N + i % N]);
            if (winners && n.p[gemm_tn_attribute::sums_d]) {
                winners->assign(static_cast<std::size_t>(N), 0);
                for (int i = 0; i < rows * N; ++i) (*winners)[i % N] += x[1][i];
            }
            return y;
        }
        case op::matmul: {
            const int M = s.d[s.rank - 2], N = s.last(), K = n.p[0] ? in[0].d[in[0].rank - 2] : in[0].last();
            for (int i = 0; i < size; ++i) {
                const int b = i / (M * N), r = i / N % M, c = i % N;
                for (int k = 0; k < K; ++k)
                    y[i] += x[0][b * M * K + (n.p[0] ? k * M + r : r * K + k)] *
                        x[1][b * K * N + (n.p[1] ? c * K + k : k * N + c)];
            }
            return y;
        }
        case op::weight_transpose:
            for (int i = 0, R = s.d[0], C = s.d[1]; i < size; ++i) y[i] = x[0][i % C * R + i / C];
            return y;
        case op::pack_weights:
        case op::unpack_weights:
        case op::conv_transpose:
        case op::reshape:
        case op::loop_operand:
        case op::stop_gradient: return numbers(x[0], x[0] + size);
        case op::conv:
            slide(in[0], s, images(s), n.p[0], n.p[1], n.p[2], n.p[2], n.p[3], n.p[4],
                  [&](int b, int r, int c, int i, int j, int p, int q) {
                for (int k = 0; k < in[0].d[2]; ++k)
                    for (int f = 0; f < s.d[2]; ++f)
                        y[pixel(s, b, r, c) + f] += x[0][pixel(in[0], b, p, q) + k] *
                                                    x[1][((i * n.p[1] + j) * in[0].d[2] + k) * s.d[2] + f];
            });
            return y;
        case op::conv_input_gradient:
        case op::conv_weight_gradient: {
            const bool input = n.k == op::conv_input_gradient;
            const shape& xs = input ? s : in[0];
            shape ds = in[input ? 0 : 1];
            const double* d = x[input ? 0 : 1];
            numbers spread;
            if (n.operands == 3) {   // the gradient of pooled values, each meant for its window's winner
                const shape ps = ds;
                ds.d[0] = n.p[6];
                ds.d[1] = n.p[7];
                spread.resize(static_cast<std::size_t>(count(ds, B)));
                for (int b = 0; b < images(ps); ++b)
                    for (int r = 0; r < ps.d[0]; ++r)
                        for (int c = 0; c < ps.d[1]; ++c)
                            for (int k = 0; k < ps.d[2]; ++k) {
                                const int at = pixel(ps, b, r, c) + k, w = static_cast<int>(x[2][at]);
                                spread[pixel(ds, b, r * n.p[5] + w / n.p[5], c * n.p[5] + w % n.p[5]) + k] = d[at];
                            }
                d = spread.data();
            }
            slide(xs, ds, images(ds), n.p[0], n.p[1], n.p[2], n.p[2], n.p[3], n.p[4],
                  [&](int b, int r, int c, int i, int j, int p, int q) {
                for (int k = 0; k < xs.d[2]; ++k)
                    for (int f = 0; f < ds.d[2]; ++f) {
                        const int w = ((i * n.p[1] + j) * xs.d[2] + k) * ds.d[2] + f;
                        if (input) y[pixel(s, b, p, q) + k] += d[pixel(ds, b, r, c) + f] * x[1][w];
                        else y[w] += x[0][pixel(xs, b, p, q) + k] * d[pixel(ds, b, r, c) + f];
                    }
            });
            return y;
        }
        case op::max_pool: {
            numbers place(y.size(), -1);
            slide(in[0], s, images(s), n.p[0], n.p[1], n.p[2], n.p[3], n.p[4], n.p[5],
                  [&](int b, int r, int c, int i, int j, int p, int q) {
                for (int k = 0; k < s.d[2]; ++k) {
                    const double v = x[0][pixel(in[0], b, p, q) + k];
                    const int at = pixel(s, b, r, c) + k;
                    if (place[at] < 0 || v > y[at]) y[at] = v, place[at] = i * n.p[1] + j;
                }
            });
            if (winners) *winners = place;
            return y;
        }
        case op::max_pool_gradient:
            slide(s, in[0], images(s), n.p[0], n.p[1], n.p[2], n.p[3], n.p[4], n.p[5],
                  [&](int b, int r, int c, int i, int j, int p, int q) {
                for (int k = 0; k < s.d[2]; ++k) {
                    const int at = pixel(in[0], b, r, c) + k;
                    if (x[1][at] == i * n.p[1] + j) y[pixel(s, b, p, q) + k] += x[0][at];
                }
            });
            return y;
        case op::max_pool_winners:
            slide(in[0], s, images(s), n.p[0], n.p[1], n.p[2], n.p[3], n.p[4], n.p[5],
                  [&](int b, int r, int c, int i, int j, int p, int q) {
                for (int k = 0; k < s.d[2]; ++k) {
                    const int at = pixel(s, b, r, c) + k;
                    if (x[1][at] == i * n.p[1] + j) y[at] = x[0][pixel(in[0], b, p, q) + k];
                }
            });
            return y;
        case op::convolution:
            each_product(n.p, in[0], in[1], s, B, [&](int a, int w, int o) { y[o] += x[0][a] * x[1][w]; });
            return y;
        case op::convolution_input_gradient:
            each_product(n.p, s, in[1], in[0], B, [&](int a, int w, int o) { y[a] += x[0][o] * x[1][w]; });
            return y;
        case op::convolution_weight_gradient:
            each_product(n.p, in[0], s, in[1], B, [&](int a, int w, int o) { y[w] += x[0][a] * x[1][o]; });
            return y;
        case op::avg_pool:
        case op::avg_pool_gradient: {
            const bool forward = n.k == op::avg_pool;
            const shape &xs = forward ? in[0] : s, &ys = forward ? s : in[0];
            std::vector<int> inside(static_cast<std::size_t>(count(ys, B)), 0);
            auto each = [&](auto f) {
                slide(xs, ys, images(s), n.p[0], n.p[1], n.p[2], n.p[3], n.p[4], n.p[5],
                      [&](int b, int r, int c, int, int, int p, int q) {
                    for (int k = 0; k < s.d[2]; ++k) f(pixel(ys, b, r, c) + k, pixel(xs, b, p, q) + k);
                });
            };
            if (n.p[6] == whole_window) inside.assign(inside.size(), n.p[0] * n.p[1]);
            else each([&](int out, int) { ++inside[out]; });
            each([&](int out, int at) { y[forward ? out : at] += x[0][forward ? at : out] / inside[out]; });
            return y;
        }
        case op::gather_rows:
            for (int i = 0, E = s.last(); i < size; ++i) y[i] = x[0][static_cast<int>(x[1][i / E]) * E + i % E];
            return y;
        case op::scatter_rows:
            for (int i = 0, E = s.last(); i < count(in[1], B); ++i)
                y[static_cast<int>(x[0][i / E]) * E + i % E] += x[1][i];
            return y;
        case op::to_steps:
        case op::from_steps:
            for (int i = 0, T = s.d[0], inner = s.size() / T; i < size; ++i) {
                const int b = i / inner / T, t = i / inner % T, plain = i, steps = (t * B + b) * inner + i % inner;
                y[n.k == op::to_steps ? steps : plain] = x[0][n.k == op::to_steps ? plain : steps];
            }
            return y;
        case op::permute:
            for (int i = 0; i < size; ++i) {
                int rest = i, place[max_rank] = {}, at = 0;
                for (int k = s.rank - 1; k >= 0; --k) place[n.p[k]] = rest % s.d[k], rest /= s.d[k];
                for (int k = 0; k < s.rank; ++k) at = at * in[0].d[k] + place[k];
                y[i] = x[0][rest * s.size() + at];
            }
            return y;
        case op::expand:
            for (int i = 0; i < size; ++i) y[i] = x[0][stretched(in[0], s, i)];
            return y;
        default:
            if (array_value(n, in, x, B, y, winners) || unique_value(n, in, x, B, y) ||
                (more_values && more_values(n, in, x, B, y)))
                return y;
            for (int i = 0; i < size; ++i)
                y[i] = elementwise(n.k, x[0][stretched(in[0], s, i)], n.operands > 1 ? x[1][stretched(in[1], s, i)] : 0,
                                   n.operands > 2 ? x[2][stretched(in[2], s, i)] : 0, o);
            return y;
    }
}

/// All nodes of a graph, one after the other.
template <class Nodes>
std::vector<numbers> evaluate(const Nodes& nodes, const surroundings& o) {
    std::vector<numbers> value(static_cast<std::size_t>(nodes.n)), winners(value.size());
    for (int v = 0; v < nodes.n; ++v) {
        const node& n = nodes[v];
        const auto number = static_cast<std::size_t>(n.p[0]);
        if (n.k == op::input) value[v] = o.ports.at(number);
        else if (n.k == op::parameter) value[v] = o.parameters.at(number);
        else if (n.k == op::state) value[v] = o.states.at(number);
        else if (n.k == op::get_output) value[v] = winners[n.in[0]];
        else {
            shape in[max_operands];
            std::vector<const double*> x;
            for (int k = 0; k < n.operands; ++k) in[k] = nodes[n.in[k]].s, x.push_back(value[n.in[k]].data());
            value[v] = value_of(n, in, x, o, &winners[v]);
        }
    }
    return value;
}

} // namespace sinter::test
