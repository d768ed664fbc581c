// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product.hpp>

/// The only part of a matrix product that is compiled for each body: it walks a finished tile.
///
/// A body has `static void vector(vf acc, std::int64_t off, std::int64_t row, int col, const call&)` for a whole vector
/// of sums and the same with `int n` after `acc` for the first n lanes. It may have
/// `static void prefetch(std::int64_t off, const call&)`, which is called for every vector before the tile's sums are
/// computed: worth it where the body reads what is not in L2, as an optimizer's moments.
namespace sinter::cpu {

template <class Body>
__attribute__((noinline)) void finish_tile(const finished& done, const call& by) {
    const finished t = done;   // copies: the body's stores cannot be seen to leave the originals alone
    const call c = by;
    for (int i = 0; i < t.rows; ++i) {
        const float* sums = t.sums + i * t.width;
        const std::int64_t off = t.off + i * t.off_step;
        if (t.columns == panel_width) {
            Body::vector(load(sums), off, t.row + i, t.col, c);
            Body::vector(load(sums + lanes), off + lanes, t.row + i, t.col + lanes, c);
            continue;
        }
        for (int j = 0; j < t.columns; j += lanes)
            Body::vector(load(sums + j), t.columns - j < lanes ? t.columns - j : lanes, off + j, t.row + i, t.col + j,
                         c);
    }
}

template <class Body>
void prefetch_tile(const finished& t, const call& c) {
    for (int i = 0; i < t.rows; ++i)
        for (int j = 0; j < t.columns; j += 16) Body::prefetch(t.off + i * t.off_step + j, c);
}

template <class Body>
constexpr finisher finisher_of() {
    if constexpr (requires(const call& c) { Body::prefetch(std::int64_t{}, c); })
        return {finish_tile<Body>, prefetch_tile<Body>};
    else
        return {finish_tile<Body>, nullptr};
}

} // namespace sinter::cpu
