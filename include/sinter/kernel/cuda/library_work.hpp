// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/base/target_namespace.hpp>

/// What a kernel may ask of a library, in plain words.
namespace sinter::inline SINTER_TARGET::gpu {

/// What libraries multiply: float32, or its numbers rounded to TF32 (10 bits of fraction instead of
/// 23), of which sums are float32 all the same. Tensor cores take TF32, ordinary ones float32.
enum class product_precision : std::uint8_t { float32, tf32 };

/// `count` products c[m][n] = op(a) op(b), all row-major; lda and ldb are the steps from one stored
/// row to the next.
struct product {
    const float *a, *b;
    float* c;
    std::int64_t m, n, k, lda, ldb;
    bool transpose_a, transpose_b;
    std::int64_t count = 1, stride_a = 0, stride_b = 0;

    bool operator==(const product&) const = default;
};

/// What may be promised of an address of floats, in bytes: 64, 16 or 4. No more kinds than
/// libraries tell apart: each is a plan of its own, and slices of a loop's iterations begin at any
/// float.
constexpr int alignment_of(std::uintptr_t address) { return address % 64 == 0 ? 64 : address % 16 == 0 ? 16 : 4; }

/// What an algorithm for a product is chosen by: its extents and how its operands are aligned,
/// wherever they lie.
struct product_key {
    product extents;
    int a, b, c;   ///< bytes

    static product_key of(const product& p) {
        product_key k{p, aligned(p.a), aligned(p.b), aligned(p.c)};
        k.extents.a = k.extents.b = k.extents.c = nullptr;
        return k;
    }
    bool operator==(const product_key&) const = default;

private:
    static int aligned(const float* p) { return alignment_of(reinterpret_cast<std::uintptr_t>(p)); }
};

/// Which of a convolution's three operands is computed from the others: y, x or the filter.
enum class convolution_part { results, input_gradient, weights_gradient };

/// Rows (or columns) of zeros in front of a filter's own and behind them, with which padding is as
/// wide on both sides of an image: the same sums, of more terms.
struct filter_margin {
    int front = 0, behind = 0;

    /// Along an axis of an image: `before` is the padding in front.
    static constexpr filter_margin of(int extent, int taps, int out, int stride, int before) {
        const int left_over = extent + 2 * before - taps - (out - 1) * stride;   // behind the last window
        return {left_over < 0 ? -left_over : 0, left_over >= stride ? left_over - stride + 1 : 0};
    }
};

/// x [images][H][W][CI], y [images][OH][OW][CO], filter [CO][KH][KW][CI].
struct convolution {
    convolution_part part;
    std::int64_t images;
    int H, W, CI, OH, OW, CO, KH, KW, stride, above, left;
    float *x, *y, *filter;

    /// Libraries pad both sides alike: true where that gives these extents.
    constexpr bool pads_evenly() const {
        return (H + 2 * above - KH) / stride + 1 == OH && (W + 2 * left - KW) / stride + 1 == OW;
    }
    bool operator==(const convolution&) const = default;
};

} // namespace sinter::gpu
