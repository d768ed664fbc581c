// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/collective/algorithm/tree.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Lists of bytes whose lengths differ (row_slot): first all lengths along the ring, then what is
/// used of each slot. A length that a slot cannot have is an error before any of it is awaited.
inline void gather_rows(workshop& w, const job& j) {
    const int members = w.size(), rank = w.rank();
    constexpr std::int64_t head = sizeof(row_slot);
    const auto wrapped = [&](std::int64_t k) { return static_cast<int>((k % members + members) % members); };
    const int to = wrapped(rank + 1), from = wrapped(rank - 1);
    const auto place = [&](int slot, std::int64_t at, std::int64_t bytes) {
        return workshop::incoming{slot * j.n + at, {j.data + slot * j.n + at, static_cast<std::size_t>(bytes)}};
    };
    const auto used = [&](int slot) {
        row_slot s;
        std::memcpy(&s, j.data + slot * j.n, sizeof s);
        if (s.bytes < 0 || s.bytes > j.n - head)
            throw cluster_error(slot, "", "", name_of(j.what), j.what.step,
                                "its slot of " + std::to_string(j.n) + " bytes says that " + std::to_string(s.bytes) +
                                    " follow");
        return s.bytes;
    };
    used(rank);
    const auto outgoing = [](const workshop::incoming& i) { return workshop::outgoing{i.offset, i.bytes}; };
    w.exchange(
        j, to, members - 1, [&](std::int64_t k) { return outgoing(place(wrapped(rank - k), 0, head)); }, from,
        members - 1, [&](std::int64_t k) { return place(wrapped(rank - 1 - k), 0, head); },
        [](std::int64_t k, std::int64_t received) { return received >= k; },
        [&](std::int64_t k) { used(wrapped(rank - 1 - k)); });
    const std::int64_t piece = w.piece_bytes();
    const auto count = [&](int slot) { return (used(slot) + piece - 1) / piece; };
    const auto cut = [&](int slot, std::int64_t k) {
        return place(slot, head + k * piece, std::min(piece, used(slot) - k * piece));
    };
    for (int step = 0; step < members - 1; ++step) {
        const int out = wrapped(rank - step), in = wrapped(rank - 1 - step);
        w.exchange(
            j, to, count(out), [&](std::int64_t k) { return outgoing(cut(out, k)); }, from, count(in),
            [&](std::int64_t k) { return cut(in, k); }, detail::at_once, detail::nothing_more);
    }
}

}   // namespace sinter::inline SINTER_ORDINARY::collective
