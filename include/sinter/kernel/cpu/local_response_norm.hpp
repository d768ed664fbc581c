// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/math/math.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/local_response_norm.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// What value and gradient share: rows of channels. A part copies some rows' values into buffers
/// with zeros on both sides, whose windows are then plain loads; it takes several rows at a time,
/// so that none is read back while its stores are still under way.
template <int Before, int Behind, int Quarters>
struct response_rows {
    static constexpr std::int64_t margin = (std::max(Before, Behind) + lanes - 1) / lanes * lanes, at_once = 64 * lanes;
    const std::int64_t channels, stride;
    const float scale, beta, k;

    explicit response_rows(const call& c)
        : channels(c.e[response_extent::channels]), stride(stride_of(c.e)), scale(number(c, response_extent::scale)),
          beta(number(c, response_extent::beta)), k(number(c, response_extent::k)) {}

    static constexpr std::int64_t stride_of(const std::int64_t* e) {
        return (e[response_extent::channels] + lanes - 1) / lanes * lanes + 2 * margin;
    }
    static constexpr std::int64_t rows_at_once(const std::int64_t* e) {
        return stride_of(e) < at_once ? at_once / stride_of(e) : 1;
    }
    /// Floats of one buffer.
    static constexpr std::int64_t size(const std::int64_t* e) { return rows_at_once(e) * stride_of(e); }

    /// f(first row, rows) for this part's share.
    template <class F>
    static void for_rows(const call& c, F f) {
        const std::int64_t n = rows_at_once(c.e), end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t row = share(c.m, c.part, c.parts); row < end; row += n) f(row, std::min(n, end - row));
    }
    /// f(row of the buffers, channel, lanes that count; whole?) for each vector of `rows` rows.
    template <class F>
    SINTER_INLINE void for_vectors(std::int64_t rows, F f) const {
        for (std::int64_t i = 0; i < rows; ++i) {
            std::int64_t j = 0;
            for (; j + lanes <= channels; j += lanes) f(i, j, lanes, std::true_type{});
            if (j < channels) f(i, j, static_cast<int>(channels - j), std::false_type{});
        }
    }
    template <class Full>
    static SINTER_INLINE vf read(const float* p, int n, Full) {
        if constexpr (Full::value) return load(p);
        else return load(p, n);
    }
    SINTER_INLINE std::int64_t at(std::int64_t row, std::int64_t channel) const {
        return row * stride + margin + channel;
    }

    void keep_squares(const float* x, std::int64_t rows, float* to) const {
        for_vectors(rows, [&](std::int64_t i, std::int64_t j, int n, auto full) SINTER_ALWAYS {
            const vf v = read(x + i * channels + j, n, full);
            __builtin_prefetch(x + (i + rows) * channels + j);
            store(to + at(i, j), v * v);
        });
    }
    /// The sum of the vectors from `From` elements ahead of p to `To` after it.
    template <int From, int To>
    static SINTER_INLINE vf around(const float* p) {
        vf sum = load(p - From);
        for (int i = 1 - From; i <= To; ++i) sum += load(p + i);
        return sum;
    }
    struct powers {
        vf response, inverse;   ///< s^-beta, 1 / s
    };
    SINTER_INLINE powers of(vf squares) const {
        const vf s = fma(squares, splat(scale), splat(k));
        if constexpr (Quarters == 0) return {exp(log(s) * splat(-beta)), 1.f / s};
        const vf r = reciprocal_sqrt(s), inverse = r * r;
        const vf f = Quarters == 2 ? r : Quarters == 3 ? inverse * reciprocal_sqrt(r) : inverse;
        const vi finite = ~(s > splat(0x1p120f));   // else the estimates make NaN of infinity
        return {select(finite, f, zero()), select(finite, inverse, zero())};
    }

private:
    static float number(const call& c, int i) { return std::bit_cast<float>(static_cast<std::int32_t>(c.e[i])); }
};

/// Operands: x. Body: off in y, row, col = channel.
template <int Before, int Behind, int Quarters, class Body>
struct local_response_norm {
    using rows_of = response_rows<Before, Behind, Quarters>;
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return parts * rows_of::size(e);
    }

    static void run(const call& c) {
        const rows_of r(c);
        float* const squares = c.scratch + c.part * rows_of::size(c.e);
        std::memset(squares, 0, 4 * static_cast<std::size_t>(rows_of::size(c.e)));
        rows_of::for_rows(c, [&](std::int64_t first, std::int64_t rows) {
            const float* const x = c.p[response_operand::x] + first * r.channels;
            r.keep_squares(x, rows, squares);
            r.for_vectors(rows, [&](std::int64_t i, std::int64_t j, int n, auto full) SINTER_ALWAYS {
                const vf f = r.of(rows_of::template around<Before, Behind>(squares + r.at(i, j))).response;
                const std::int64_t off = i * r.channels + j;
                emit<Body>(rows_of::read(x + off, n, full) * f, n, first * r.channels + off, first + i,
                           static_cast<int>(j), c, full);
            });
        });
    }
    template <class B, class Full>
    static SINTER_INLINE void emit(vf v, int n, std::int64_t off, std::int64_t row, int col, const call& c, Full) {
        if constexpr (Full::value) B::vector(v, off, row, col, c);
        else B::vector(v, n, off, row, col, c);
    }
};

/// dx = d f - x V(d x e), see ops/local_response_norm.hpp.
template <int Before, int Behind, int Quarters, class Body>
struct local_response_norm_gradient {
    using rows_of = response_rows<Before, Behind, Quarters>;
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return 3 * parts * rows_of::size(e);
    }

    static void run(const call& c) {
        const rows_of r(c);
        const std::int64_t size = rows_of::size(c.e);
        float *const squares = c.scratch + 3 * c.part * size, *const spread = squares + size,
                     *const own = spread + size;
        std::memset(squares, 0, 8 * static_cast<std::size_t>(size));
        // s^-beta / s is below all floats where x is large: it is summed a power of two larger.
        const float larger = r.k > 0x1p-30f ? 0x1p60f : 1.f;
        const vf factor = splat(2 * r.scale * r.beta * larger), back = splat(-1 / larger);
        rows_of::for_rows(c, [&](std::int64_t first, std::int64_t rows) {
            const float *const d = c.p[response_gradient_operand::d] + first * r.channels;
            const float *const x = c.p[response_gradient_operand::x] + first * r.channels;
            r.keep_squares(x, rows, squares);
            r.for_vectors(rows, [&](std::int64_t i, std::int64_t j, int n, auto full) SINTER_ALWAYS {
                const auto [f, inverse] = r.of(rows_of::template around<Before, Behind>(squares + r.at(i, j)));
                const std::int64_t off = i * r.channels + j;
                const vf df = rows_of::read(d + off, n, full) * f;
                __builtin_prefetch(d + rows * r.channels +
                                   off);   // alternating passes keep the processor from foreseeing any of them
                if constexpr (requires { Body::prefetch(0, 0, 0, 0, c); })
                    Body::prefetch(1, n, first * r.channels + off, r.channels, c);
                store(own + r.at(i, j), df);
                const vf all = df * (rows_of::read(x + off, n, full) * (inverse * factor));
                if constexpr (full) store(spread + r.at(i, j), all);
                else store(spread + r.at(i, j), all, n);   // with k = 0 there is NaN behind the last channel
            });
            r.for_vectors(rows, [&](std::int64_t i, std::int64_t j, int n, auto full) SINTER_ALWAYS {
                const std::int64_t off = i * r.channels + j;
                const vf sum = rows_of::template around<Behind, Before>(spread + r.at(i, j));
                const vf dx = fma(rows_of::read(x + off, n, full) * back, sum, load(own + r.at(i, j)));
                local_response_norm<Before, Behind, Quarters, Body>::template emit<Body>(
                    dx, n, first * r.channels + off, first + i, static_cast<int>(j), c, full);
            });
        });
    }
};

template <class Body, int Before, int Behind, int Quarters, int... X>
struct nest<op::local_response_norm, Body, Before, Behind, Quarters, X...> {
    using type = local_response_norm<Before, Behind, Quarters, Body>;
};
template <class Body, int Before, int Behind, int Quarters, int... X>
struct nest<op::local_response_norm_gradient, Body, Before, Behind, Quarters, X...> {
    using type = local_response_norm_gradient<Before, Behind, Quarters, Body>;
};

} // namespace sinter::cpu
