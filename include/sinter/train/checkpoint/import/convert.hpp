// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/safetensors/contents.hpp>
#include <cstdint>
#include <vector>

/// Tensors of other element types and other layouts, as ours.
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART SINTER_COLD bool is_floating(safetensors::dtype t);
/// The elements as floats, float64 rounded; only for the types of is_floating(). They may lie at
/// any address. data_error where a finite float64 is beyond float32.
SINTER_APART SINTER_COLD std::vector<float> floats_of(const safetensors::tensor_view& t);

/// A tensor on its way from their layout to ours.
struct arranged {
    std::vector<std::int64_t> shape;
    std::vector<float> x;
};

/// Axis i of the result is axis axes[i] of `from`.
SINTER_APART SINTER_COLD arranged permuted(const arranged& from, const std::vector<int>& axes);
/// Is each of 0, 1, ... n - 1 in `axes` once?
SINTER_APART SINTER_COLD bool is_order_of(const std::vector<int>& axes, std::size_t n);
/// [out, in, window...] to [window..., in, out].
SINTER_APART SINTER_COLD arranged output_last(const arranged& from);
/// Rows that count [C, H, W] to rows that count [H, W, C].
SINTER_APART SINTER_COLD arranged rows_channels_last(const arranged& from, const std::vector<std::int64_t>& flattened);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/number_text.hpp>
#include <sinter/io/safetensors/elements.hpp>
#include <cstring>
#include <numeric>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART bool is_floating(safetensors::dtype t) {
    using safetensors::dtype;
    return t == dtype::f32 || t == dtype::f64 || t == dtype::f16 || t == dtype::bf16;
}
SINTER_APART std::vector<float> floats_of(const safetensors::tensor_view& t) {
    std::vector<float> x = t.as<float>();
    for (std::size_t i = 0; t.type == safetensors::dtype::f64 && i < x.size(); ++i) {
        if (x[i] - x[i] == 0) continue;
        double exact;
        std::memcpy(&exact, t.data.data() + i * sizeof exact, sizeof exact);
        if (exact - exact == 0)
            throw data_error("a number does not fit", to_text({"tensor ", io::printable(t.name), ", element ", i}),
                             base::number_text(exact), "what a float32 can hold");
    }
    return x;
}
SINTER_APART arranged permuted(const arranged& from, const std::vector<int>& axes) {
    arranged to;
    std::vector<std::size_t> stride(axes.size()), at(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto axis = static_cast<std::size_t>(axes[i]);
        to.shape.push_back(from.shape[axis]);
        stride[i] = 1;
        for (std::size_t k = axis + 1; k < from.shape.size(); ++k) stride[i] *= static_cast<std::size_t>(from.shape[k]);
    }
    to.x.reserve(from.x.size());
    std::size_t offset = 0;
    for (std::size_t n = 0; n < from.x.size(); ++n) {
        to.x.push_back(from.x[offset]);
        for (std::size_t i = axes.size(); i-- > 0;) {
            offset += stride[i];
            if (++at[i] < static_cast<std::size_t>(to.shape[i])) break;
            offset -= at[i] * stride[i];
            at[i] = 0;
        }
    }
    return to;
}
SINTER_APART bool is_order_of(const std::vector<int>& axes, std::size_t n) {
    std::vector<bool> seen(n);
    for (const int a : axes) {
        if (a < 0 || static_cast<std::size_t>(a) >= n || seen[static_cast<std::size_t>(a)]) return false;
        seen[static_cast<std::size_t>(a)] = true;
    }
    return axes.size() == n;
}
SINTER_APART arranged output_last(const arranged& from) {
    std::vector<int> axes(from.shape.size());
    std::iota(axes.begin(), axes.end(), 2);
    axes[axes.size() - 2] = 1;
    axes.back() = 0;
    return permuted(from, axes);
}
SINTER_APART arranged rows_channels_last(const arranged& from, const std::vector<std::int64_t>& flattened) {
    arranged spread{flattened, from.x};
    spread.shape.push_back(from.shape.back());
    std::vector<int> axes(spread.shape.size());
    std::iota(axes.begin(), axes.end(), 1);
    axes[flattened.size() - 1] = 0;
    axes.back() = static_cast<int>(flattened.size());
    return {from.shape, permuted(spread, axes).x};
}

} // namespace sinter::training_parts
#endif
