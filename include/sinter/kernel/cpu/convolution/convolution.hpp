// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/cpu/convolution/unfold.hpp>
#include <sinter/kernel/cpu/product/finish.hpp>
#include <sinter/kernel/cpu/product/run_tiles.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>

/// Convolutions of any window and any number of groups, as products of unfolded images, slab by slab. All extents are told
/// at run time (ops/convolution.hpp), so that all of them share these kernels; weights lie plain, [taps][CI / groups][CO].
namespace sinter::cpu {

/// A slab of windows: few enough to stay in the second-level cache, enough to make up for gathering the weights.
constexpr std::int64_t slab_pixels(const convolution_extents& c) {
    return std::clamp<std::int64_t>((1 << 16) / c.depth(), 16, 512);
}
constexpr std::int64_t slab_floats(const convolution_extents& c) {
    return round_up(slab_pixels(c) * c.depth(), 16);
}
/// Hands v, row-major [rows][columns], to the body, rows numbered from `row` on.
template <class Body>
inline void emit_rows(const float* v, std::int64_t rows, int columns, std::int64_t row, const call& c) {
    for (std::int64_t i = 0; i < rows; ++i, ++row, v += columns)
        for (int j = 0; j < columns; j += lanes) {
            const int n = columns - j;
            if (n >= lanes) Body::vector(load(v + j), row * columns + j, row, j, c);
            else Body::vector(load(v + j, n), n, row * columns + j, row, j, c);
        }
}

/// y: p[0] = x, p[1] = weights; c.m = pixels of all results. Body: off in y, row = pixel, col = channel.
template <class Body>
struct convolution {
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return parts * slab_floats(convolution_extents(e));
    }
    static void run(const call& c) {
        static constexpr finisher f = finisher_of<Body>();
        const convolution_extents x(c.e);
        const int depth = x.depth(), columns = x.group_outputs();
        float* const windows = c.scratch + c.part * slab_floats(x);
        const std::int64_t end = share(c.m, c.part + 1, c.parts), slab = slab_pixels(x);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; i += slab) {
            const std::int64_t n = std::min(slab, end - i);
            for (int g = 0; g < x.groups; ++g) {
                unfold(x, c.p[0], i, i + n, g, windows);
                run_product({windows, depth, 1, c.p[1] + g * columns, x.outputs, right::rows, n, columns, depth, false,
                             i * x.outputs + g * columns, i, x.outputs, g * columns}, f, c, 0, 1);
            }
        }
    }
};

/// dx: p[0] = dy, p[1] = weights; c.m = pixels of all images. Body: off in dx, row = pixel, col = channel.
template <class Body>
struct convolution_input_gradient {
    static constexpr std::int64_t image_floats(const convolution_extents& x) { return round_up(x.in_pixels() * x.inputs, 16); }
    static constexpr std::int64_t floats(const convolution_extents& x) { return slab_floats(x) + image_floats(x); }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return parts * floats(convolution_extents(e));
    }
    /// Keeps a product's tile at c.scratch.
    static void keep(const finished& t, const call& c) {
        for (int i = 0; i < t.rows; ++i)
            std::memcpy(c.scratch + t.off + i * t.off_step, t.sums + i * t.width, 4 * static_cast<std::size_t>(t.columns));
    }
    static void run(const call& c) {
        static constexpr finisher f{keep};
        const convolution_extents x(c.e);
        const std::int64_t images = c.m / x.in_pixels(), slab = slab_pixels(x), pixels = x.out_pixels();
        const int depth = x.depth(), rows = x.group_outputs();
        call work = c;
        work.scratch = c.scratch + c.part * floats(x);
        float* const dx = work.scratch + slab_floats(x);
        for (std::int64_t image = share(images, c.part, c.parts); image < share(images, c.part + 1, c.parts); ++image) {
            std::fill_n(dx, x.in_pixels() * x.inputs, 0.f);
            const float* const dy = c.p[0] + image * pixels * x.outputs;
            for (std::int64_t i = 0; i < pixels; i += slab) {
                const std::int64_t n = std::min(slab, pixels - i);
                for (int g = 0; g < x.groups; ++g) {
                    run_product({dy + i * x.outputs + g * rows, x.outputs, 1, c.p[1] + g * rows, x.outputs, right::columns, n,
                                 depth, rows, false, 0, 0}, f, work, 0, 1);
                    fold(x, work.scratch, i, i + n, g, dx);
                }
            }
            emit_rows<Body>(dx, x.in_pixels(), x.inputs, image * x.in_pixels(), c);
        }
    }
};

/// Sums of weights' gradients, a copy for each part at the beginning of the scratch space, added in the parts' order.
template <class Body>
struct weight_sums {
    static constexpr std::int64_t floats(const convolution_extents& x) { return round_up(std::int64_t{x.depth()} * x.outputs, 16); }
    static void finish(const call& c) {
        const convolution_extents x(c.e);
        const int columns = x.outputs;
        const std::int64_t end = share(x.depth(), c.part + 1, c.parts), step = floats(x);
        for (std::int64_t row = share(x.depth(), c.part, c.parts); row < end; ++row)
            for (int j = 0; j < columns; j += lanes) {
                const int n = std::min(lanes, columns - j);
                const float* from = c.scratch + row * columns + j;
                vf v = load(from, n);
                for (int p = 1; p < c.parts; ++p) v += load(from + p * step, n);
                if (n == lanes) Body::vector(v, row * columns + j, row, j, c);
                else Body::vector(v, n, row * columns + j, row, j, c);
            }
    }
};

/// dw: p[0] = x, p[1] = dy; c.m = images. Body: off in dw, row = row of the weights, col = channel.
template <class Body>
struct convolution_weight_gradient {
    using sums = weight_sums<Body>;
    static constexpr int phases = 2;
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const convolution_extents x(e);
        return parts * (sums::floats(x) + slab_floats(x));
    }
    static void add(const finished& t, const call& c) {
        for (int i = 0; i < t.rows; ++i) {
            float* to = c.scratch + t.off + i * t.off_step;
            for (int j = 0; j < t.columns; ++j) to[j] += t.sums[i * t.width + j];
        }
    }
    static void run(const call& c) {
        static constexpr finisher f{add};
        const convolution_extents x(c.e);
        const int depth = x.depth(), columns = x.group_outputs();
        call work = c;
        work.scratch = c.scratch + c.part * sums::floats(x);
        float* const windows = c.scratch + c.parts * sums::floats(x) + c.part * slab_floats(x);
        std::fill_n(work.scratch, sums::floats(x), 0.f);
        const std::int64_t pixels = c.m * x.out_pixels(), end = share(pixels, c.part + 1, c.parts), slab = slab_pixels(x);
        for (std::int64_t i = share(pixels, c.part, c.parts); i < end; i += slab) {
            const std::int64_t n = std::min(slab, end - i);
            for (int g = 0; g < x.groups; ++g) {
                unfold(x, c.p[0], i, i + n, g, windows);
                run_product({windows, 1, depth, c.p[1] + i * x.outputs + g * columns, x.outputs, right::rows, depth, columns, n,
                             false, g * columns, 0, x.outputs, 0}, f, work, 0, 1);
            }
        }
    }
    static void finish(const call& c) { sums::finish(c); }
};

template <class Body, int... X>
struct nest<op::convolution, Body, 0, X...> { using type = convolution<Body>; };
template <class Body, int... X>
struct nest<op::convolution_input_gradient, Body, 0, X...> { using type = convolution_input_gradient<Body>; };
template <class Body, int... X>
struct nest<op::convolution_weight_gradient, Body, 0, X...> { using type = convolution_weight_gradient<Body>; };

} // namespace sinter::cpu
