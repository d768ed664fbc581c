// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/channel_panels.hpp>
#include <sinter/kernel/cpu/general_convolution/source_copies.hpp>
#include <sinter/kernel/cpu/product/tile.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>

/// Gradients of the weights of convolutions of any window and any number of groups.
namespace sinter::cpu {

/// What a strip adds to some rows of one panel's sums, a row for each channel that a tap sees, and those behind it: the products of x,
/// the first row's copied sources, and dy, the panel's gradients, over `rows` rows of `columns` results.
struct summed_rows {
    const float* x;
    std::int64_t step, row_step, term_step;   ///< floats of x from result to result, row to row, and from a row of sums to the next
    const float* dy;
    std::int64_t dy_step, dy_row_step;
    int rows, columns;
};
using tap_sum = void (*)(float* sums, int count, const summed_rows&);

/// A source's channel times the panel's NR vectors of gradients; `count` of the MR rows are wanted.
template <int MR, int NR>
__attribute__((noinline)) void sum_broadcast(float* sums, int count, const summed_rows& s) {
    constexpr int width = NR * lanes;
    vf c[MR * NR];
    unroll<MR>([&](int i) SINTER_ALWAYS {
        unroll<NR>([&](int j) SINTER_ALWAYS { c[i * NR + j] = i < count ? load(sums + i * width + j * lanes) : zero(); });
    });
    for (int r = 0; r < s.rows; ++r)
        accumulate<MR, NR, 1, false>(c, s.x + r * s.row_step, 1, s.step, s.dy + r * s.dy_row_step, s.dy_step, s.columns);
    unroll<MR>([&](int i) SINTER_ALWAYS {
        if (i < count) unroll<NR>([&](int j) SINTER_ALWAYS { store(sums + i * width + j * lanes, c[i * NR + j]); });
    });
}
/// A vector of sources times a vector of gradients, for A channels that a vector's groups see. Several results at a time are summed
/// apart where A sums would wait for each other.
template <int A>
__attribute__((noinline)) void sum_by_lane(float* sums, int, const summed_rows& s) {
    constexpr int apart = A < 2 ? 8 : A < 3 ? 4 : A < 5 ? 3 : 2 * A <= registers - 4 ? 2 : 1, pointers = (A + 2) / 3;
    const std::int64_t step = s.step, term_step = s.term_step, dy_step = s.dy_step;
    vf c[apart * A];
    clear_block(c);
    for (int r = 0; r < s.rows; ++r) {
        const float *x[pointers], *dy = s.dy + r * s.dy_row_step;
        unroll<pointers>([&](int i) SINTER_ALWAYS {
            x[i] = s.x + r * s.row_step + 3 * i * term_step;
            asm("" : "+r"(x[i]));
        });
        const auto add = [&](int set) SINTER_ALWAYS {
            vf d = load(dy);
            pin(d);
            unroll<A>([&](int a) SINTER_ALWAYS { c[set * A + a] = fma(load(x[a / 3] + a % 3 * term_step), d, c[set * A + a]); });
            unroll<pointers>([&](int i) SINTER_ALWAYS { x[i] += step; });
            dy += dy_step;
        };
        int n = s.columns;
        for (; n >= apart; n -= apart) unroll<apart>(add);
        for (; n > 0; --n) add(0);
    }
    unroll<A>([&](int a) SINTER_ALWAYS {
        vf sum = load(sums + a * lanes);
        unroll<apart>([&](int k) SINTER_ALWAYS { sum += c[k * A + a]; });
        store(sums + a * lanes, sum);
    });
}
/// Rows of sums at once: by lane, of two vectors, and of one, whose accumulators are half as many.
inline constexpr int most_narrow_sums = 8, most_wide_sums = tile_rows, most_single_sums = registers >= 32 ? 16 : 12;

template <int NR, int... I>
tap_sum wide_sum_of(int height, std::integer_sequence<int, I...>) {
    static constexpr tap_sum of[] = {sum_broadcast<2 * I + 2, NR>...};
    return of[height / 2 - 1];
}
template <int... I>
tap_sum narrow_sum_of(int height, std::integer_sequence<int, I...>) {
    static constexpr tap_sum of[] = {sum_by_lane<I + 1>...};
    return of[height - 1];
}

/// dw: p[0] = x, p[1] = dy; c.m = images. Body: off in dw, row = tap and channel that it sees, col = channel. Each part has sums of its
/// own, added in the parts' order.
template <bool Narrow, class Body>
struct convolution_weight_sums {
    static constexpr int phases = 2;

    struct plan {
        channel_panels<Narrow, false> panels;
        std::int64_t pixel;
        result_strips<false> strips;
        std::int64_t sums, copy, gradients;   ///< floats of a part's sums, copied sources and copied gradients

        constexpr explicit plan(const std::int64_t* e)
            : panels{convolution_extents(e)}, pixel(panels.pixel()), strips(panels.x, pixel, panels.panel, panels.budget(), 1),
              sums(panels.floats()),
              copy(round_up(strips.pixels() * pixel + most_single_sums, 16)),
              gradients(std::int64_t{strips.rows} * strips.columns * panels.panel) {}
        constexpr std::int64_t room() const { return copy + gradients; }
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const plan q(e);
        return parts * (q.sums + q.room());
    }

    struct worker {
        plan q;
        const call& c;
        float *sums, *copy, *gradients;

        explicit worker(const call& c_)
            : q(c_.e), c(c_), sums(c.scratch + c.part * q.sums), copy(c.scratch + c.parts * q.sums + first_part(c) * q.room()),
              gradients(copy + q.copy) {
            std::fill_n(sums, q.sums, 0.f);
        }
        const float* first_gradient(const result_strip& s) const {
            const auto& st = q.strips;
            return c.p[1] + (((s.image * st.z.out + s.z) * st.y.out + s.y0) * st.x.out + s.x0) * q.panels.results();
        }
        void read_gradients(const result_strip& s) const {
            const std::int64_t row = std::int64_t{q.strips.x.out} * q.panels.results();
            const float* from = first_gradient(s);
            for (int y = s.y0; y < s.y1; ++y, from += row) read_through(from, std::int64_t{s.x1 - s.x0} * q.panels.results());
        }
        /// The strip's gradients of a panel's channels, as x.dy: where they lie, or copied where they do not fill the panel's vectors.
        void find_gradients(const result_strip& s, int col, int there, int width, summed_rows& x) const {
            const auto& st = q.strips;
            const int channels = q.panels.results(), columns = s.x1 - s.x0;
            const std::int64_t row = std::int64_t{st.x.out} * channels;
            const float* from = first_gradient(s) + col;
            x.columns = columns;
            if (there == width) {
                x.dy = from, x.dy_step = channels, x.dy_row_step = row;
                return;
            }
            x.dy = gradients, x.dy_step = width, x.dy_row_step = std::int64_t{columns} * width;
            float* to = gradients;
            for (int y = s.y0; y < s.y1; ++y, from += row)
                for (int i = 0; i < columns; ++i, to += width)
                    for (int j = 0; j < width; j += lanes)
                        store(to + j, there - j >= lanes ? load(from + i * channels + j) : load(from + i * channels + j, there - j));
        }
        /// Adds what one row of taps sees, its sources in rows of `plane`, to its rows of sums. r: the strip's gradients.
        void row_of_taps(const result_strip& s, int plane, int ky, float* to, int width, summed_rows r) const {
            const auto& st = q.strips;
            int first = s.y0, last = s.y1, at = 0;
            const auto outside = [&](int y) { return st.y.meets(y, ky, at), at < 0 || at >= st.y.sources(); };
            while (first < last && outside(first)) ++first;
            while (last > first && outside(last - 1)) --last;
            if (first == last) return;
            st.y.meets(first, ky, at);
            const std::int64_t row = (std::int64_t{plane - s.za} * st.source_rows + at - s.ya) * st.width;
            r.step = st.x.stride * q.pixel;
            r.row_step = std::int64_t{st.y.stride} * st.width * q.pixel;
            r.term_step = q.panels.term_step();
            r.dy += (first - s.y0) * r.dy_row_step;
            r.rows = last - first;
            const bool together = st.x.dilation == 1;   // neighbouring taps see what lies one behind the other
            const int depth = q.panels.depth(), runs = together ? 1 : st.x.k, n = together ? st.x.k * depth : depth;
            const int most = Narrow ? most_narrow_sums : width > lanes ? most_wide_sums : most_single_sums;
            const int pieces = (n + most - 1) / most, size = (n + pieces - 1) / pieces;
            for (int k = 0; k < runs; ++k, to += std::int64_t{n} * width)
                for (int i = 0; i < n; i += size) {
                    const int count = std::min(size, n - i);
                    r.x = copy + (row + k * st.x.dilation) * q.pixel + i * r.term_step;
                    sum_of(count, width)(to + std::int64_t{i} * width, count, r);
                }
        }
        static tap_sum sum_of(int count, int width) {
            const int height = static_cast<int>(round_up(count, 2));
            if constexpr (Narrow) return narrow_sum_of(count, indices<most_narrow_sums>{});
            else if (width > lanes) return wide_sum_of<2>(height, indices<most_wide_sums / 2>{});
            else return wide_sum_of<1>(height, indices<most_single_sums / 2>{});
        }
        void strip(const result_strip& s) const {
            const auto& p = q.panels;
            const auto& z = q.strips.z;
            if (p.x.groups > 1) read_sources(q.strips, s, c.p[0], p.sources());   // of which each panel takes some channels
            read_gradients(s);
            for (int u = 0; u < p.units(); ++u) {
                if (!Narrow) copy_sources(q.strips, s, c.p[0], p.sources(), u * p.depth(), p.depth(), copy);
                for (int j = 0; j < p.columns(); j += p.panel) {
                    const int col = u * p.columns() + j, width = p.width(j), there = std::min(width, p.columns() - j);
                    if (Narrow) spread_sources(q.strips, s, {c.p[0], p.sources(), p.depth(), p.results() / p.x.groups, col, there}, copy);
                    summed_rows r{};
                    find_gradients(s, col, there, width, r);
                    float* const to = sums + u * p.unit_floats() + j * p.rows();
                    for (int kz = 0, plane = 0; kz < z.k; ++kz)
                        if (z.meets(s.z, kz, plane) && plane >= 0 && plane < z.sources())
                            for (int ky = 0; ky < q.strips.y.k; ++ky)
                                row_of_taps(s, plane, ky, to + p.row(kz * q.strips.y.k + ky, 0) * width, width, r);
                }
            }
        }
    };

    static void run(const call& c) {
        worker w(c);
        w.q.strips.share_among(c.m, c.parts);
        const std::int64_t n = w.q.strips.count(c.m), end = share(n, c.part + 1, c.parts);
        for (std::int64_t i = share(n, c.part, c.parts); i < end; ++i) w.strip(w.q.strips.at(i));
    }
    static void finish(const call& c) {
        const plan q(c.e);
        const auto& p = q.panels;
        const std::int64_t end = share(p.rows(), c.part + 1, c.parts);
        for (std::int64_t row = share(p.rows(), c.part, c.parts); row < end; ++row)
            for (int u = 0; u < p.units(); ++u)
                for (int j = 0; j < p.columns(); j += lanes) {
                    const int whole = j / p.panel * p.panel, n = std::min(lanes, p.columns() - j), col = u * p.columns() + j;
                    const float* from = c.scratch + u * p.unit_floats() + whole * p.rows() + row * p.width(whole) + j - whole;
                    vf v = load(from);
                    for (int k = 1; k < c.parts; ++k) v += load(from + k * q.sums);
                    const std::int64_t off = row * p.results() + col;
                    if (n == lanes) Body::vector(v, off, row, col, c);
                    else Body::vector(v, n, off, row, col, c);
                }
    }
};

template <class Body, int... X>
struct nest<op::convolution_weight_gradient, Body, 0, X...> { using type = convolution_weight_sums<false, Body>; };
template <class Body, int... X>
struct nest<op::convolution_weight_gradient, Body, 1, X...> { using type = convolution_weight_sums<true, Body>; };

} // namespace sinter::cpu
