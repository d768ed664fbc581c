// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>
#include <sinter/ops/greater_equal.hpp>
#include <sinter/ops/less_equal.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/one_hot.hpp>

/// local_response_norm(x, {size, alpha, beta, k}): x / (k + alpha / size * sum of squares of the `size` channels around)^beta,
/// where size / 2 channels lie before and (size - 1) / 2 behind (Krizhevsky et al. 2012, by PyTorch's and ONNX' alpha;
/// TensorFlow and the paper do not divide by the size: give them size * alpha). ONNX: LRN.
namespace sinter::ops {

struct response {
    int size = 5;
    float alpha = 1e-4f, beta = 0.75f, k = 1.f;
};

constexpr tensor local_response_norm(tensor x, response o = {}) {
    if (!x.ok()) return x;
    x = plain(x);
    const int channels = x.shape().last();
    if (o.size < 1) return fail(x.g, fault_kind::window_out_of_range, op::gemm, extents(o.size), extents(1));
    // which channels (rows) count for which (columns), as a matrix of ones and zeros: the sums are a product
    const tensor row = reshape(make<op::column_index>(x.g, extents(channels), {}), extents(channels, 1));
    const tensor apart = make<op::column_index>(x.g, extents(channels, channels), {}) - row;
    const float before = static_cast<float>(o.size / 2), behind = static_cast<float>((o.size - 1) / 2);
    const tensor near = less_equal(apart, before) * greater_equal(apart, -behind);
    const tensor sums = matmul(x * x, near);
    return x * exp(log(sums * (o.alpha / static_cast<float>(o.size)) + o.k) * -o.beta);
}

} // namespace sinter::ops
