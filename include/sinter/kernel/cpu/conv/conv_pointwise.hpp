// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <cstring>

#include <sinter/kernel/cpu/conv/narrow_forward.hpp>
#include <sinter/kernel/cpu/conv/pixel_product.hpp>
#include <sinter/kernel/cpu/conv/sparse_pixels.hpp>
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/gemm/spread_rows.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

/// Convolutions by 1 x 1: products of pixels and weights. A block of pixels stays in the
/// second-level cache while all panels of the weights pass, so that images are read once, whatever
/// the number of channels that come out.
namespace sinter::inline SINTER_TARGET::cpu {

/// Pixels in a block: large tiles, as many as the cache has room for.
constexpr int pointwise_block(int depth) { return std::clamp((1 << 15) / depth / tile_rows, 4, 40) * tile_rows; }

/// y [m, OH, OW, CO] from x [m, H, W, CI], of which every S-th pixel of every S-th row counts:
/// conv_forward's operands and body.
template <int H, int W, int CI, int OH, int OW, int CO, int S, class Body>
struct pointwise_forward {
    static constexpr int phases = 1;
    static constexpr bool follow = S == 1 && OH == H && OW == W;   ///< pixels that count
    static constexpr int block = pointwise_block(CI);
    static constexpr std::int64_t step = spread_step(CI);   ///< from pixel to pixel of a block
    static constexpr bool in_place = follow && step == CI, skips_zeros = follow && sparse_pixels::suits(CI, CO);
    static constexpr std::int64_t columns = in_place ? columns_at_once(CI, CO) : CO;
    static constexpr std::int64_t floats = std::max(skips_zeros ? sparse_pixels::floats(CI) : 0,
                                                    in_place ? 0 : round_up(block * step, 16));
    static constexpr std::int64_t scratch(int parts) { return parts * floats; }
    static void finish(const call&) {}

    static void run(const call& c) {
        static constexpr epilogue f = epilogue_of<Body>();
        const std::int64_t pixels = std::int64_t{c.m} * OH * OW, begin = share(pixels, c.part, c.parts);
        const std::int64_t end = share(pixels, c.part + 1, c.parts);
        producer_rows producer(c, begin);
        if constexpr (skips_zeros) {
            const product q{c.p[conv_operand::source] + begin * CI, CI, 1, c.p[conv_operand::weights], 0,
                            right::panels, end - begin, CO, CI, false, begin * CO, begin};
            product sample = q;   // of what is there
            if (producer) sample.rows = std::min(sample.rows, sparse_pixels::rows(CI));
            producer.make_until(begin + sample.rows);
            if (sparse_pixels::pays(sample))
                return sparse_pixels::run(q, f, c, c.scratch + first_part(c) * floats, producer);
        }
        for (std::int64_t j = 0; j < CO; j += columns)
            for (std::int64_t i = begin; i < end; i += block) {
                const std::int64_t n = std::min<std::int64_t>(block, end - i);
                producer.make_until(i + n);
                const pixel_sources next = j == 0 ? pixel_sources(producer, i + n, n, CI) : pixel_sources();
                const float* x = c.p[conv_operand::source] + i * CI;
                if constexpr (!follow) x = collect(c.p[conv_operand::source], i, n, c.scratch + c.part * floats);
                else if constexpr (!in_place) x = copy_rows(x, CI, n, CI, c.scratch + c.part * floats, step);
                run_pixels({x, step, 1, c.p[conv_operand::weights] + j * CI, 0, right::panels, n,
                            std::min(columns, CO - j), CI, false, i * CO + j, i, CO, static_cast<int>(j)},
                           f, c, next);
            }
    }

private:
    static const float* collect(const float* x, std::int64_t first, std::int64_t n, float* to) {
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t image = (first + i) / (OH * OW), y = (first + i) / OW % OH, at = (first + i) % OW;
            std::memcpy(to + i * step, x + ((image * H + y * S) * W + at * S) * CI, sizeof(float) * CI);
        }
        return to;
    }
};

/// dx [m, H, W, CI] from dy [m, OH, OW, CO]: conv_input_gradient's operands and body. Pixels
/// between those that count are zero.
template <int H, int W, int CI, int OH, int OW, int CO, int S, class Body>
struct pointwise_input_gradient {
    static constexpr int phases = 1;
    static constexpr int rows = std::max(1, pointwise_block(CO) / OW);   ///< of dy, in a block
    static constexpr std::int64_t step = spread_step(CO);                ///< from pixel to pixel of it
    static constexpr std::int64_t products = round_up(std::int64_t{rows} * OW * CI, 16);
    static constexpr std::int64_t floats = products + (step == CO ? 0 : round_up(rows * OW * step, 16));
    static constexpr std::int64_t scratch(int parts) { return parts * floats; }
    static void finish(const call&) {}

    static void keep(const finished& t, const call& c) {
        for (int i = 0; i < t.rows; ++i)
            std::memcpy(c.scratch + t.off + i * t.off_step, t.sums + i * t.width,
                        4 * static_cast<std::size_t>(t.columns));
    }
    static void run(const call& c) {
        static constexpr epilogue f{keep};
        call work = c;
        work.scratch = c.scratch + c.part * floats;
        const std::int64_t all = std::int64_t{c.m} * OH, end = share(all, c.part + 1, c.parts);
        for (std::int64_t i = share(all, c.part, c.parts); i < end; i += rows) {
            const std::int64_t n = std::min<std::int64_t>(rows, end - i);
            const float* dy = c.p[conv_operand::source] + i * OW * CO;
            if constexpr (step != CO) dy = copy_rows(dy, CO, n * OW, CO, work.scratch + products, step);
            if constexpr (prefetches) multiply(n * OW, dy, c.p[conv_operand::weights], i * (S * W * CI), work);
            else
                run_product({dy, step, 1, c.p[conv_operand::weights], 0, right::panels, n * OW, CI, CO, false, 0, 0}, f,
                            work, 0, 1);
            for (std::int64_t k = 0; k < n; ++k) {
                const std::int64_t image = (i + k) / OH, oy = (i + k) % OH, last = oy + 1 < OH ? oy * S + S : H;
                for (std::int64_t y = oy * S; y < last; ++y)
                    emit(y == oy * S ? work.scratch + k * OW * CI : nullptr, (image * H + y) * W, c);
            }
        }
    }

private:
    static constexpr epilogue body = epilogue_of<Body>();
    /// Rows of dx follow each other as dy's do, S * S times as long: the product's iterations can
    /// prefetch what bodies will touch.
    static constexpr bool prefetches =
        lists_lines<Body> && H == OH * S && W == OW * S && CI % panel_width == 0 && OW >= small_tile_rows && CO <= 2048;

    /// Pixels of dy by the weights, to scratch; the block's first element of dx is `off`.
    static void multiply(std::int64_t pixels, const float* dy, const float* weights, std::int64_t off, const call& c) {
        constexpr std::int64_t panels = CI / panel_width;
        const row_cover cover(pixels);
        const std::int64_t of_tile =
            round_up(pixels * (S * S * panel_width) / cover.count, floats_a_line);   // of each array
        for (std::int64_t p = 0; p < panels; ++p)
            for (std::int64_t i = 0; i < cover.count; ++i, off += of_tile) {
                const std::int64_t row = cover.first_row(i);
                tile_lines lines;
                body.list({nullptr, 1, static_cast<int>(of_tile), 0, off, 0, 0, 0}, c, lines);
                lines.repeat_last();
                const std::int64_t n_lines = lines_per_iteration(lines.count, CO);
                const float* const b = weights + p * panel_width * CO;
                (i < cover.large ? pixels_of<tile_rows>
                                 : pixels_of<small_tile_rows>)(n_lines)(c.scratch + row * CI + p * panel_width, CI,
                                                                        dy + row * step, step, b, CO,
                                                                        {lines, 0, b + panel_width * CO, 0});
            }
    }
    /// A row of dx: `from` is what its counting pixels are, null where none counts.
    static void emit(const float* from, std::int64_t pixel, const call& c) {
        for (int x = 0; x < W; ++x) {
            const bool counts = from && x % S == 0 && x / S < OW;
            const float* const at = counts ? from + x / S * CI : nullptr;
            for (int j = 0; j < CI; j += lanes) {
                const std::int64_t off = (pixel + x) * CI + j;
                if (CI - j >= lanes) Body::vector(counts ? load(at + j) : zero(), off, pixel + x, j, c);
                else Body::vector(counts ? load(at + j, CI - j) : zero(), CI - j, off, pixel + x, j, c);
            }
        }
    }
};

template <class Body, int H, int W, int CI, int OH, int OW, int CO, int S>
struct nest<op::conv, Body, H, W, CI, OH, OW, CO, 1, 1, S, 0, 0, 0> {
    using wide = pointwise_forward<H, W, CI, OH, OW, CO, S, Body>;
    using narrow = narrow_forward<H, W, CI, OH, OW, CO, 1, 1, S, 0, 0, Body>;
    using type = std::conditional_t<narrow::pays, narrow, wide>;
};
/// Without strides it is the forward product of the gradient and the exchanged weights.
template <class Body, int H, int W, int CI, int OH, int OW, int CO, int S>
struct nest<op::conv_input_gradient, Body, H, W, CI, OH, OW, CO, 1, 1, S, 0, 0, 0> {
    using in_place = pointwise_forward<OH, OW, CO, H, W, CI, 1, Body>;
    using strided = pointwise_input_gradient<H, W, CI, OH, OW, CO, S, Body>;
    using type = std::conditional_t<S == 1 && OH == H && OW == W, in_place, strided>;
};

} // namespace sinter::cpu
