// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/row_cover.hpp>

/// How a call works off its part of a product, or those of its whole thread at once.
namespace sinter::inline SINTER_TARGET::cpu {

/// Does the call for a thread's first part do all of that thread's parts (run_share)? And was this
/// call's part done so?
inline bool does_all_parts(const epilogue& f, const call& c) { return !f.by_part && c.end > c.first; }
inline bool is_done(const epilogue& f, const call& c) { return does_all_parts(f, c) && c.part != c.first; }

/// The rows that this call's part has of a product that is shared by rows, or all that its thread
/// has: whole tiles, `count` in all, of which tile t begins in row begin(t).
template <class Begin>
inline product rows_of_share(const product& q, const epilogue& f, const call& c, std::int64_t count, Begin begin) {
    const auto row = [&](int part) {
        const std::int64_t tile = share(count, part, c.parts);
        return tile < count ? begin(tile) : q.rows;
    };
    const std::int64_t first = row(c.part), end = row(does_all_parts(f, c) ? c.end : c.part + 1);
    product r = q;
    r.a += first * q.row_step;
    r.rows = end - first;
    r.off += first * (q.result_step ? q.result_step : q.columns);
    r.row += first;
    return r;
}

using tiles_function = void (*)(const product&, const epilogue&, const call&, std::int64_t tile, std::int64_t end);

/// The share of this call's part, by `run`; at once that of all parts of this thread, unless the
/// body sums by parts: what is gathered or looked for in the operands is then gathered once.
__attribute__((noinline)) inline void run_share(const product& q, const epilogue& f, const call& c,
                                                tiles_function run) {
    if (is_done(f, c)) return;
    if (q.by_rows) {
        const row_cover cover(q.rows);
        const product r = rows_of_share(q, f, c, cover.count, [&](std::int64_t t) { return cover.begin(t); });
        return run(r, f, c, 0, tiles_of(r));
    }
    const bool together = does_all_parts(f, c);
    const std::int64_t tiles = tiles_of(q);
    run(q, f, c, share(tiles, c.part, c.parts), share(tiles, together ? c.end : c.part + 1, c.parts));
}

} // namespace sinter::cpu
