// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE convolution_transpose
#include <boost/test/unit_test.hpp>

#include <sinter/ops/convolution_transpose.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

/// Every product of the convolution that leads back, from the result to x.
template <shape X, shape W, window O, int Height, int Width, per_axis OutputPadding = 0>
struct op_of {
    static constexpr shape operands[] = {X, W};
    static constexpr tensor apply(tensor x, tensor w) { return ops::convolution_transpose(x, w, O, OutputPadding); }
    static doubles reference(const doubles& x, const doubles& w) {
        const int co = w.d[w.rank() - 2] * O.groups, ci = w.d.back(), gi = ci / O.groups, go = co / O.groups,
            axes = x.rank() - 2;
        std::vector<int> d{x.d[0], Height, Width, co};
        doubles y(d);
        std::vector<int> k(w.d.begin(), w.d.end() - 2);
        while (k.size() < 3) k.insert(k.begin(), 1);
        each_window(as_volume(y), k, of_axes(O, axes), [&](int from, int to, int tap) {
            for (int i = 0; i < ci; ++i)
                for (int j = 0; j < go; ++j)
                    y[to * co + i / gi * go + j] += x[from * ci + i] * w[(tap * go + j) * ci + i];
        });
        if (axes == 1) y.d.erase(y.d.begin() + 1);
        return y;
    }
};
template <class Case>
void check() {
    check_op<Case, programs::fused_only, 4>();
}
BOOST_AUTO_TEST_CASE(by_the_dense_kernels) {
    check_op<op_of<batch_of(3, 4, 3), packed(extents(3, 3, 2, 3)), window{.stride = 2}, 6, 8>, programs::all, 4>();
    check<op_of<batch_of(3, 2, 2), packed(extents(4, 3, 5, 2)), window{.stride = 2, .padding = 1}, 6, 4,
                per_axis(0, 1)>>();
    // gaps
    check<op_of<batch_of(5, 2), packed(extents(2, 3, 2)), window{.stride = 3, .padding = padding::valid}, 1, 14>>();
}
BOOST_AUTO_TEST_CASE(by_the_general_ones) {
    check<op_of<batch_of(3, 2, 4), extents(2, 3, 3, 4),
                window{.stride = {1, 2}, .padding = padding::valid, .groups = 2}, 4, 6, per_axis(0, 1)>>();
    check<op_of<batch_of(4, 3), extents(3, 2, 3), window{.padding = {1, 2}, .dilation = 2}, 1, 5>>();
}
