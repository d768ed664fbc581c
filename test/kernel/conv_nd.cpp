// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
#define BOOST_TEST_MODULE general_convolution
#include <boost/test/unit_test.hpp>

#include <sinter/kernel/cpu/conv_nd/convolution_results.hpp>
#include <sinter/kernel/cpu/conv_nd/convolution_weight_sums.hpp>
#include <sinter/kernel/cpu/conv_nd/depthwise_results.hpp>
#include <sinter/kernel/cpu/conv_nd/depthwise_weight_sums.hpp>

#include "conv_reference.hpp"

// Extents are told at run time: so many windows, groups and paddings are tried, beside loops in double that scatter.
using namespace conv_test;
using namespace sinter::cpu;
using sinter::convolution_extents;

/// Adds up every product that the convolution of m images consists of: f(index into x, into y, into w).
template <class F>
void each_grouped_product(const convolution_extents& c, int m, F f) {
    const auto &z = c.axis[0], &y = c.axis[1], &x = c.axis[2];
    const int inputs = c.group_inputs(), outputs = c.group_outputs();
    for (std::int64_t at = 0; at < m * c.out_pixels(); ++at)
        for (int tap = 0; tap < c.taps(); ++tap) {
            const std::int64_t place[] = {at / x.out / y.out % z.out, at / x.out % y.out, at % x.out};
            const int k[] = {tap / x.k / y.k, tap / x.k % y.k, tap % x.k};
            std::int64_t from = at / c.out_pixels();
            bool inside = true;
            for (int a = 0; a < 3; ++a) {
                const std::int64_t i = place[a] * c.axis[a].stride - c.axis[a].before + k[a] * c.axis[a].dilation;
                inside = inside && i >= 0 && i < c.axis[a].extent;
                from = from * c.axis[a].extent + i;
            }
            if (!inside) continue;
            for (int o = 0; o < c.outputs; ++o)
                for (int i = 0; i < inputs; ++i)
                    f(from * c.inputs + o / outputs * inputs + i, at * c.outputs + o,
                      (std::int64_t{tap} * inputs + i) * c.outputs + o);
        }
}

/// Kind: 0 where an input is broadcast, 1 where groups are narrow, 2 of depthwise ones.
template <int Kind>
void check(const convolution_extents& c, int m, const std::vector<int>& all_parts) {
    std::int64_t e[sinter::compiler::extent::count] = {};
    c.write(e);
    const auto sized = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    const auto x = noise(sized(m * c.in_pixels() * c.inputs), 1), dy = noise(sized(m * c.out_pixels() * c.outputs), 2),
               w = noise(sized(std::int64_t{c.depth()} * c.outputs), 3);
    std::vector<double> y(dy.size()), dx(x.size()), dw(w.size());
    each_grouped_product(c, m, [&](std::int64_t i, std::int64_t o, std::int64_t k) {
        y[o] += double(x[i]) * w[k];
        dx[i] += double(dy[o]) * w[k];
        dw[k] += double(x[i]) * dy[o];
    });
    const buffer xb(x), db(dy), wb(w);
    std::vector<float> y1, dx1;
    for (const int parts : all_parts) {
        buffer yb(y.size()), dxb(dx.size()), dwb(dw.size());
        run<typename nest<sinter::op::convolution, store_raw, Kind>::type>(
            {xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, static_cast<int>(m * c.out_pixels()), parts,
            parts % 2 == 0, e);
        run<typename nest<sinter::op::convolution_input_gradient, store_raw, Kind>::type>(
            {db.at.get(), wb.at.get(), nullptr, dxb.at.get()}, static_cast<int>(m * c.in_pixels()), parts,
            parts % 2 == 0, e);
        run<typename nest<sinter::op::convolution_weight_gradient, store_raw, Kind>::type>(
            {xb.at.get(), db.at.get(), nullptr, dwb.at.get()}, m, parts, parts % 2 == 0, e);
        if (y1.empty()) y1 = yb.values(), dx1 = dxb.values();
        BOOST_TEST(error(yb.values(), y, c.depth()) < 1);
        BOOST_TEST(error(dxb.values(), dx, c.taps() * c.group_outputs()) < 1);
        BOOST_TEST(error(dwb.values(), dw, static_cast<int>(m * c.out_pixels())) < 1);
        BOOST_TEST((y1 == yb.values()));   // however the work is shared
        BOOST_TEST((dx1 == dxb.values()));
    }
}

/// A window on one axis, of a convolution that has `out` places of it.
sinter::sliding axis(int extent, int k, int stride = 1, int dilation = 1, int before = 0, int after = 0) {
    sinter::sliding a;
    a.extent = extent, a.k = k, a.stride = stride, a.dilation = dilation, a.before = before;
    a.out = (extent + before + after - a.reach()) / stride + 1;
    return a;
}
convolution_extents convolution_of(sinter::sliding z, sinter::sliding y, sinter::sliding x, int inputs, int outputs,
                                   int groups) {
    const std::int64_t none[sinter::compiler::extent::count] = {};
    convolution_extents c(none);
    c.axis[0] = z, c.axis[1] = y, c.axis[2] = x;
    c.inputs = inputs, c.outputs = outputs, c.groups = groups;
    return c;
}
void check_all(const convolution_extents& c, int m, const std::vector<int>& parts) {
    const auto &z = c.axis[0], &y = c.axis[1], &x = c.axis[2];
    BOOST_TEST_CONTEXT(m << " of " << z.extent << 'x' << y.extent << 'x' << x.extent << 'x' << c.inputs << " to "
                         << z.out << 'x' << y.out << 'x' << x.out << 'x' << c.outputs << ", groups " << c.groups
                         << ", windows " << z.k << 'x' << y.k << 'x' << x.k
                         << ", strides " << z.stride << ' ' << y.stride << ' ' << x.stride
                         << ", dilations " << z.dilation << ' ' << y.dilation << ' ' << x.dilation
                         << ", padding " << z.before << ' ' << y.before << ' ' << x.before) {
        check<0>(c, m, parts);
        check<1>(c, m, parts);
        if (c.depthwise()) check<2>(c, m, parts);
    }
}

std::mt19937 random_numbers(5);
int below(int n) { return static_cast<int>(random_numbers() % static_cast<unsigned>(n)); }
sinter::sliding any_axis(int most, int most_taps) {
    const int k = 1 + below(most_taps), dilation = 1 + below(2), stride = 1 + below(3), before = below(4),
        after = below(4);
    return axis(std::max(1 + below(most), (k - 1) * dilation + 1 - before - after), k, stride, dilation, before, after);
}

BOOST_AUTO_TEST_CASE(any_window) {
    for (int i = 0; i < 120; ++i) {
        const int groups = 1 + below(i % 3 == 0 ? 20 : 4), depth = 1 + below(i % 3 == 0 ? 3 : 20),
            outputs = 1 + below(i % 3 == 1 ? 50 : 3);
        check_all(convolution_of(i % 4 ? axis(1, 1) : any_axis(4, 3), any_axis(7, 3), any_axis(20, 5), groups * depth,
                                 groups * outputs, groups),
                   1 + below(3), {1 + below(3), 4});
    }
}
BOOST_AUTO_TEST_CASE(depthwise) {
    for (int i = 0; i < 60; ++i) {
        const int channels = 2 + below(70);
        check_all(convolution_of(i % 4 ? axis(1, 1) : any_axis(4, 3), any_axis(9, 5),
                                 any_axis(i % 5 ? 20 : 90, i % 7 ? 5 : 11), channels, channels,
                                 channels), 1 + below(3), {1 + below(3), 4});
    }
    for (const int channels : {2, 16, 40, 700})
        for (const int stride : {1, 2})
            check_all(convolution_of(axis(1, 1), axis(9, 3, stride, 1, 1, 1), axis(31, 3, stride, 1, 1, 1), channels,
                                     channels, channels), 2, {1, 3});
}
/// Arrays so long that they come from memory, whose rows of sources stay in the second-level cache;
/// one with rows too long for that.
BOOST_AUTO_TEST_CASE(depthwise_far) {
    for (const int stride : {1, 2})
        check_all(convolution_of(axis(1, 1), axis(97, 3, stride, 1, 1, 1), axis(96, 3, stride, 1, 1, 1), 72, 72, 72), 2,
                  {1, 3});
    check_all(convolution_of(axis(1, 1), axis(4, 3, 1, 1, 1, 1), axis(400, 5, 1, 1, 2, 2), 700, 700, 700), 1, {2});
}
/// Rows that are cut, and images that are cut into several strips of rows.
BOOST_AUTO_TEST_CASE(long_rows_and_many) {
    check_all(convolution_of(axis(1, 1), axis(1, 1), axis(9000, 3, 1, 4, 8), 8, 8, 8), 1, {3, 7});
    check_all(convolution_of(axis(1, 1), axis(2, 1), axis(2000, 5, 3, 1, 2, 1), 24, 24, 1), 1, {2, 7});
    check_all(convolution_of(axis(1, 1), axis(150, 3, 2, 1, 1, 1), axis(40, 2, 1, 1, 0, 1), 16, 8, 4), 1, {1, 5});
    check_all(convolution_of(axis(3, 2, 1, 1, 1), axis(60, 3, 1, 2, 2, 2), axis(33, 3, 2, 1, 1, 1), 20, 36, 1), 1, {4});
}
