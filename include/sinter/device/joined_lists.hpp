// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/round_up.hpp>
#include <sinter/base/row_list.hpp>
#include <sinter/compiler/plan/gradient_layout.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::runtime {

/// Memory for lists of rows that come from elsewhere, on a device whose memory is not the host's:
/// the sums over all replicas, which may be longer than a replica's own. `Arena`: the device's.
template <class Arena>
class joined_lists {
public:
    /// List `number` will have at most `rows` rows of `width` floats. True if addresses have
    /// changed.
    SINTER_COLD bool reserve(int number, int rows, int width) {
        if (all_.size() <= static_cast<std::size_t>(number)) {
            all_.resize(static_cast<std::size_t>(number) + 1);
            lists_.resize(all_.size());
        }
        one& l = all_[static_cast<std::size_t>(number)];
        if (l.rows >= rows) return false;
        l.rows = rows;
        const std::int64_t keys = compiler::floats_of_keys(rows);
        l.memory = Arena(keys + base::round_up(std::int64_t{rows} * width, 16));
        lists_[static_cast<std::size_t>(number)] = {reinterpret_cast<std::int32_t*>(l.memory.data()),
                                                    l.memory.data() + keys, width};
        return true;
    }
    const row_list* lists() const { return lists_.data(); }   ///< null where none has been reserved
    /// Of all lists together.
    std::int64_t floats() const {
        std::int64_t n = 0;
        for (const one& l : all_) n += l.memory.size();
        return n;
    }

    /// Copies lists to this memory, by `copy(to, from, how many words)`.
    template <class Copy>
    void assign(const row_list* from, Copy copy) const {
        for (std::size_t k = 0; k < lists_.size(); ++k) {
            copy(lists_[k].keys, from[k].keys, std::int64_t{list_header} + from[k].size());
            if (from[k].size()) copy(lists_[k].rows, from[k].rows, 16 * from[k].lines());
        }
    }

private:
    struct one {
        Arena memory;   ///< keys, then rows
        int rows = 0;
    };
    std::vector<one> all_;
    std::vector<row_list> lists_;
};

} // namespace sinter::runtime
