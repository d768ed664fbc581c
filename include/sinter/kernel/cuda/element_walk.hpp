// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/body.hpp>
#include <sinter/kernel/cuda/source.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

/// One thread's work in a kernel that needs nothing of its neighbours: the source's value of each
/// element of its column in its share of the rows, handed to the body. Neighbouring threads have
/// neighbouring columns, so that loads and stores are of whole lines, and what is the same for all
/// of a column is read once. Where the source does no more than load, if anything, a thread has
/// some rows at once on their way; sums take them in their order all the same.
template <int S, std::uint64_t... W>
struct element_walk {
    using B = body<W...>;
    using call = typename B::call;
    static constexpr bool flat = S == from_nothing;
    static constexpr int loads = B::loads(flat) + (S == from_memory);
    /// Rows at once: enough loads to wait for together, few enough registers.
    static constexpr int at_once = (S != from_nothing && S != from_memory) || B::size == 0 || loads == 0 || loads > 4
                                       ? 1
                                   : loads <= 2 ? 4
                                                : 2;

    static SINTER_HOST_DEVICE void thread(std::int64_t number, const source_call& s, const call& c) {
        place at;
        at.part = static_cast<int>(number / c.columns);
        at.col = static_cast<int>(number % c.columns);
        at.leads = at.col == 0;
        if (at.part >= c.parts) return;
        float r[B::size + 1], sum[B::sums + 1] = {};
        B::template element<true, flat>(r, sum, 0.f, at, c);
        const std::int64_t rows = rows_of(s, c);
        at.row = at.part;
        if constexpr (at_once > 1)
            for (; at.row + (at_once - 1) * std::int64_t{c.parts} < rows; at.row += at_once * std::int64_t{c.parts})
                some_rows(at, r, sum, s, c);
        for (; at.row < rows; at.row += c.parts) {
            at.off = at.row * c.columns + at.col;
            if (!source<S>::visits(s, at)) continue;
            const float raw = source<S>::value(s, at);
            if constexpr (B::size == 0) s.out[at.off] = raw;
            else if constexpr (requires { source<S>::target(s, at); })
                B::template element<false, flat>(r, sum, raw, source<S>::target(s, at), c);
            else B::template element<false, flat>(r, sum, raw, at, c);
        }
        for (int k = 0; k < B::sums; ++k) c.partial_sum(k, at.part)[at.col] = sum[k];
    }
    static std::int64_t threads(const call& c) { return c.columns * c.parts; }

private:
    /// Row at.row and the next ones of this part. `once`: registers that are the same for all.
    static SINTER_HOST_DEVICE void some_rows(const place& at, const float* once, float* sum, const source_call& s,
                                             const call& c) {
        place of[std::size_t{at_once}];
        float raw[std::size_t{at_once}];
        for (int k = 0; k < at_once; ++k) {
            of[k] = at;
            of[k].row = at.row + k * std::int64_t{c.parts};
            of[k].off = of[k].row * c.columns + at.col;
            raw[k] = source<S>::value(s, of[k]);
        }
        B::template elements<flat, at_once>(once, sum, raw, of, c);
    }
    static SINTER_HOST_DEVICE std::int64_t rows_of(const source_call& s, const call& c) {
        if constexpr (requires { source<S>::rows(s, c.rows); }) return source<S>::rows(s, c.rows);
        else return c.row_count();
    }
};

} // namespace sinter::gpu
