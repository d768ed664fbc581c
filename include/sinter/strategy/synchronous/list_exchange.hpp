// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/collective/communicator.hpp>
#include <sinter/compiler/buckets.hpp>
#include <sinter/strategy/joined_rows.hpp>
#include <cstring>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The gradient of one table, as lists of rows: those of this process's shards are joined, sent to
/// all members (collective::kind::all_gather_rows), and joined with theirs. Rows are added up in
/// the order of the shards' tree, so that the sum does not depend on who has which shard.
class list_exchange {
public:
    /// `members`: 0 where nothing is sent. `copies`: lists are in memory that the host does not
    /// read.
    SINTER_COLD list_exchange(int shards, int members, int most_rows, int table_rows, int width, bool copies)
        : lists_(static_cast<std::size_t>(std::max(shards, members))), none_(list_header + 1),
          here_(shards, most_rows, table_rows, width), all_(std::max(members, 1), here_.most_rows(), table_rows, width),
          shards_(shards), members_(members) {
        if (members_) slots_.resize(static_cast<std::size_t>(slot_bytes() / 8 * members_));
        if (!copies) return;
        const auto rows = static_cast<std::size_t>(most_rows);
        copied_keys_.assign(static_cast<std::size_t>(shards), std::vector<std::int32_t>(list_header + rows));
        copied_rows_.assign(static_cast<std::size_t>(shards), std::vector<float>(floats_of(rows)));
    }

    /// Where a copy of this shard's list is put, which has memory for its most rows.
    row_list copy(int shard) {
        const auto i = static_cast<std::size_t>(shard);
        return {copied_keys_[i].data(), copied_rows_[i].data(), here_.width()};
    }
    /// Of the list that all updates read.
    int most_rows() const { return members_ ? all_.most_rows() : here_.most_rows(); }
    int width() const { return here_.width(); }
    void set(int shard, row_list l) { lists_[static_cast<std::size_t>(shard)] = l; }
    void set_empty(int shard) { set(shard, {none_.data(), nullptr, 0}); }
    /// The sum over this process's shards.
    const row_list& join_shards() {
        joined_ = shards_ == 1 && lists_[0].rows
                      ? lists_[0]
                      : here_.join({lists_.data(), static_cast<std::size_t>(shards_)}, runtime::row_order::tree);
        return joined_;
    }

    /// Of each member's slot; a multiple of 8.
    std::int64_t slot_bytes() const {
        const std::int64_t most = here_.most_rows();
        return static_cast<std::int64_t>(sizeof(collective::row_slot)) +
               round_up(4 * (list_header + most + most * here_.width()), 8);
    }
    void* slots() { return slots_.data(); }
    /// Fills this member's slot with the joined list.
    void pack(int rank) {
        std::byte* to = slot(rank);
        const std::int64_t keys = 4 * std::int64_t{list_header + joined_.size()},
                           rows = 4 * std::int64_t{joined_.size()} * here_.width();
        const collective::row_slot head{keys + rows};
        std::memcpy(to, &head, sizeof head);
        std::memcpy(to + sizeof head, joined_.keys, static_cast<std::size_t>(keys));
        if (rows) std::memcpy(to + sizeof head + keys, joined_.rows, static_cast<std::size_t>(rows));
    }
    /// The sum over all members, once all slots are here. Throws data_error where one holds no list
    /// of this table.
    const row_list& join_members() {
        for (int r = 0; r < members_; ++r) {
            collective::row_slot head;
            std::byte* const from = slot(r);
            std::memcpy(&head, from, sizeof head);
            auto* const keys = reinterpret_cast<std::int32_t*>(from + sizeof head);
            const std::int64_t n = head.bytes >= 4 * list_header ? *keys : -1;
            if (n < 0 || n > here_.most_rows() || head.bytes != 4 * (list_header + n * (1 + here_.width())))
                throw data_error("a list of rows is not as long as it says", to_text({"rows of member ", r}),
                                 to_text({head.bytes, " bytes"}),
                                 to_text({n, " rows, ", here_.most_rows(), " at most"}));
            lists_[static_cast<std::size_t>(r)] = {keys, reinterpret_cast<float*>(keys + list_header + n),
                                                   here_.width()};
        }
        joined_ = all_.join({lists_.data(), static_cast<std::size_t>(members_)}, runtime::row_order::tree);
        return joined_;
    }

private:
    std::vector<row_list> lists_;        ///< of the shards, then of the members
    std::vector<std::int32_t> none_;     ///< a list without rows
    sinter::runtime::joined_rows here_, all_;
    std::vector<double> slots_;          ///< bytes, aligned
    std::vector<std::vector<std::int32_t>> copied_keys_;   ///< of the shards
    std::vector<std::vector<float>> copied_rows_;
    row_list joined_;
    int shards_, members_;

    std::size_t floats_of(std::size_t rows) const {
        return static_cast<std::size_t>(base::round_up(static_cast<std::int64_t>(rows) * here_.width(), 16));
    }
    std::byte* slot(int r) { return reinterpret_cast<std::byte*>(slots_.data()) + r * slot_bytes(); }
};

/// One for each list of training program P, by their numbers.
template <class P>
SINTER_COLD std::vector<list_exchange> lists_of_program(int shards, int members, bool copies) {
    std::vector<list_exchange> all;
    for (int number = 0; number < P::v.n_lists; ++number)
        for (int k = 0; k < P::v.n_buckets; ++k) {
            const gradient_bucket& b = P::v.buckets[k];
            if (b.list == number)
                all.emplace_back(shards, members, b.most_rows, P::v.parameters[b.parameter].s.d[0], b.row_floats,
                                 copies);
        }
    return all;
}

} // namespace sinter::strategy_parts
