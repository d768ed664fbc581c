// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/round_up.hpp>
#include <sinter/base/row_list.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_TARGET::runtime {

/// In which order rows of one key are added up: ((a + b) + c) + d, or (a + b) + (c + d) and so on,
/// by the lists' places in the tree. A list without the key adds nothing.
enum class row_order { ranks, tree };

/// Sums of several row lists of one table [V, E], as a list in memory of its own. Keys come in the
/// order in which they first occur, list by list: joined lists may be joined again with those that
/// follow them, and the result is that of all at once (under `ranks` what comes first in rank
/// order, under `tree` whole branches of it). Nothing is allocated but by the constructor.
class joined_rows {
public:
    /// Joins up to `members` lists of at most `most_rows` rows each.
    SINTER_COLD joined_rows(int members, int most_rows, int table_rows, int row_floats)
        : members_(members), table_rows_(table_rows), width_(row_floats),
          capacity_(static_cast<int>(std::min<std::int64_t>(table_rows, std::int64_t{members} * most_rows))),
          slots_(static_cast<std::int64_t>(std::bit_ceil(2 * static_cast<std::uint64_t>(capacity_) + 2))),
          keys_(size(list_header + capacity_)), table_(size(slots_)), from_(size(std::int64_t{capacity_} * members)),
          rows_(size(base::round_up(std::int64_t{capacity_} * row_floats, 16))),
          partial_(size(std::int64_t{64} * row_floats)) {}

    int most_rows() const { return capacity_; }   ///< of a joined list: min(V, members times most rows)
    int width() const { return width_; }           ///< floats of a row

    /// The sum of `lists`, in rank order; good until the next call. Throws data_error where a list
    /// is not one of this table: a key that is none of its rows, or twice in a list, or too many.
    row_list join(span<const row_list> lists, row_order order = row_order::ranks) {
        const int n = static_cast<int>(lists.size());
        if (n > members_) fail("too many lists", n - 1, std::to_string(n), std::to_string(members_) + " at most");
        std::fill(table_.begin(), table_.end(), -1);
        const row_list to{keys_.data(), rows_.data(), width_};
        *to.keys = 0;
        for (int r = 0; r < n; ++r) enter(lists, r, to);
        const unsigned leaves = std::bit_ceil(static_cast<unsigned>(n));
        for (int k = 0; k < to.size(); ++k) {
            const std::int32_t* const from = from_.data() + std::int64_t{k} * members_;
            if (order == row_order::ranks) fold(lists, from, to.row(k));
            else std::copy_n(sum_of(lists, from, 0, leaves, partial_.data()), width_, to.row(k));
        }
        std::fill(rows_.begin() + std::int64_t{to.size()} * width_, rows_.begin() + 16 * to.lines(), 0.f);
        return to;
    }

private:
    int members_, table_rows_, width_, capacity_;
    std::int64_t slots_;
    std::vector<std::int32_t> keys_;    ///< of the joined list
    std::vector<std::int32_t> table_;   ///< hash table of places in it, by keys
    std::vector<std::int32_t> from_;    ///< of each place, the row of each member, or -1
    std::vector<float> rows_, partial_;

    static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    void enter(span<const row_list> lists, int r, const row_list& to) {
        const row_list& l = lists[at(r)];
        if (l.size() < 0 || l.size() > capacity_)
            fail("too many rows", r, std::to_string(l.size()), std::to_string(capacity_) + " at most");
        for (int k = 0; k < l.size(); ++k) {
            const std::int32_t key = l.key(k);
            if (key < 0 || key >= table_rows_)
                fail("a key that is no row of the table", r, std::to_string(key),
                     "a row below " + std::to_string(table_rows_));
            std::int64_t s = (static_cast<std::uint32_t>(key) * 2654435761u >> 7) & (slots_ - 1);
            while (table_[size(s)] >= 0 && to.key(table_[size(s)]) != key) s = (s + 1) & (slots_ - 1);
            std::int32_t& place = table_[size(s)];
            if (place < 0) {
                if (*to.keys == capacity_)
                    fail("too many rows in all", r, "more", std::to_string(capacity_) + " at most");
                place = (*to.keys)++;
                to.key(place) = key;
                std::fill_n(from_.begin() + std::int64_t{place} * members_, members_, -1);
            }
            std::int32_t& from = from_[size(std::int64_t{place} * members_ + r)];
            if (from >= 0) fail("a key that is twice in one list", r, std::to_string(key), "each key once");
            from = k;
        }
    }
    void add(float* to, const float* row) const {
        for (int j = 0; j < width_; ++j) to[j] += row[j];
    }
    void fold(span<const row_list> lists, const std::int32_t* from, float* to) const {
        bool first = true;
        for (std::size_t r = 0; r < lists.size(); ++r) {
            if (from[r] < 0) continue;
            const float* const row = lists[r].row(from[r]);
            if (std::exchange(first, false)) std::copy_n(row, width_, to);
            else add(to, row);
        }
    }
    /// The sum over the lists [first, first + n) of those that have the row, n a power of two;
    /// null: none has. `workspace`: two rows for each level.
    const float* sum_of(span<const row_list> lists, const std::int32_t* from, int first, unsigned n,
                        float* workspace) const {
        if (first >= static_cast<int>(lists.size())) return nullptr;
        if (n == 1) return from[first] < 0 ? nullptr : lists[at(first)].row(from[first]);
        const float* const a = sum_of(lists, from, first, n / 2, workspace + 2 * width_);
        if (a) std::copy_n(a, width_, workspace);   // the other half works where a may lie
        const float* const b =
            sum_of(lists, from, first + static_cast<int>(n / 2), n / 2, workspace + 2 * width_);
        if (!a) return b;
        if (b) add(workspace, b);
        return workspace;
    }
    [[noreturn]] SINTER_COLD static void fail(const char* what, int member, std::string_view got,
                                              std::string_view needed) {
        throw data_error(what, "rows of member " + std::to_string(member), got, needed);
    }
};

} // namespace sinter::runtime
