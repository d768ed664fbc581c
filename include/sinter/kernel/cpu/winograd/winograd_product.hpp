// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/kernel/cpu/gemm/epilogue.hpp>

/// The products, place by place, of winograd_transform.hpp. Transforms take a fraction of their
/// time if what they touch is in cache, and as long where it comes from memory: so it is prefetched
/// by the iterations of the products before them.
namespace sinter::inline SINTER_TARGET::cpu {

/// What every iteration prefetches: a piece of some floats that follow each other, and one of a
/// list of lines. Rows' floats lie side by side, or (Transposed) those of an iteration.
class winograd_prefetched {
public:
    /// At first these, `step` floats an iteration.
    winograd_prefetched(const float* at, std::int64_t step) : at_(at), step_(step) {
        lines_.line[0] = at, lines_.count = 1;
        lines_.repeat_last();
    }

    /// Also the lines that the body touches in `rows` rows by `columns` from offset `off` on, in
    /// this call of the loop, and in each later one those `move` floats further on; a row's are
    /// `row` apart.
    void body(const epilogue& f, const call& c, std::int64_t rows, int columns, std::int64_t off, std::int64_t row,
              std::int64_t move) {
        f.list({nullptr, static_cast<int>(rows), columns, columns, 0, row, 0, 0}, c, lines_);
        lines_.repeat_last();
        ahead_ = off, move_ = move;
    }
    void body_at(std::int64_t off) { ahead_ = off; }
    /// From now on these, `step` floats an iteration, in place of the first ones.
    void stream(const float* at, std::int64_t step) { at_ = at, step_ = step; }
    /// Also these, `floats` in each call of the loop.
    void floats(const float* from, std::int64_t floats) {
        lines_.count = 0;
        for (std::int64_t i = 0; i < std::max<std::int64_t>(floats, 1) && lines_.count < tile_lines::most;
             i += floats_a_line)
            lines_.line[lines_.count++] = from + i;
        lines_.repeat_last();
        move_ = floats;
    }

    /// to [MR][panel] = the sums over t < n of x[i * step + t] (Transposed: x[i + t * step]) *
    /// b[t][panel], `first` of all or added to what is there, of `tiles` tiles below each other;
    /// and moves on.
    template <int MR, bool Transposed>
    __attribute__((noinline)) void multiply(bool first, float* to, const float* x, std::int64_t x_step, const float* b,
                                            std::int64_t n, std::int64_t tiles) {
        const float* at = at_;
        const std::int64_t step = step_;
        const float* const* const last = lines_.line + lines_.count - 1;
        std::int64_t ahead = ahead_;
        do {
            const float* const from = first ? no_sum : to;
            vf c[std::size_t{MR * 2}];
            unroll<MR * 2>([&](int i) SINTER_ALWAYS { c[i] = load(from + i * lanes); });
            const float* const* line = lines_.line;
            accumulate<MR, 2, iterations_at_once>(
                c, x, Transposed ? 1 : x_step, Transposed ? x_step : 1, b, panel_width, n, [&]() SINTER_ALWAYS {
                    unroll<iterations_at_once>([&](int i) SINTER_ALWAYS {
                        __builtin_prefetch(at + i * step, 0, 2);
                        __builtin_prefetch(line[i] + ahead);
                    });
                    at += iterations_at_once * step;
                    line = line + iterations_at_once < last ? line + iterations_at_once : last;
                });
            unroll<MR * 2>([&](int i) SINTER_ALWAYS { store(to + i * lanes, c[i]); });
            ahead += move_;
            x += MR * (Transposed ? 1 : x_step);
            to += MR * panel_width;
        } while (--tiles > 0);
        at_ = at, ahead_ = ahead;
    }

private:
    const float* at_;
    std::int64_t step_, ahead_ = 0, move_ = 0;
    tile_lines lines_;
};

/// Calls of the loop for so many rows.
constexpr std::int64_t winograd_calls(std::int64_t rows) { return (rows + tile_rows - 1) / tile_rows; }

/// to [rows][panel] = (unless first, to +) the sum over t < depth of a[i * step + t] (Transposed:
/// a[i + t * step]) * b[t][panel], in tiles as equal as can be.
template <bool Transposed>
inline void multiply_rows(bool first, const float* a, std::int64_t step, std::int64_t depth, const float* b, float* to,
                          std::int64_t rows, winograd_prefetched& prefetched) {
    static constexpr auto of = []<int... I>(std::integer_sequence<int, I...>) {
        struct {
            decltype(&winograd_prefetched::multiply<1, Transposed>) f[tile_rows];
        } t{{&winograd_prefetched::multiply<I + 1, Transposed>...}};
        return t;
    }(std::make_integer_sequence<int, tile_rows>{});
    const std::int64_t count = winograd_calls(rows), least = rows / count, larger = rows % count;
    for (std::int64_t t = 0, begin = 0; t < count;) {
        const std::int64_t height = least + (t < larger), alike = (t < larger ? larger : count) - t;
        const std::int64_t tiles =
            registers < 32 ? alike : 1;   // small tiles do with one call: what is around each is a fifth of it
        (prefetched.*of.f[height - 1])(first, to + begin * panel_width, a + begin * (Transposed ? 1 : step), step, b,
                                       depth, tiles);
        t += tiles, begin += tiles * height;
    }
}

} // namespace sinter::cpu
