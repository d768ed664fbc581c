// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/row_list.hpp>
#include <sinter/parameter_server/aligned_floats.hpp>
#include <sinter/parameter_server/protocol.hpp>
#include <cmath>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Gradients of rows of one table.
struct staged_rows {
    std::vector<std::int64_t> keys;
    aligned_floats values;
    int row_floats = 0;

    std::int64_t size() const { return static_cast<std::int64_t>(keys.size()); }
    float* row(std::int64_t k) const { return values.data() + k * row_floats; }
    /// Room for n more rows: the first of them.
    float* grow(std::int64_t n) {
        const std::int64_t before = size() * row_floats;
        values.reserve(before + n * row_floats, before);
        return values.data() + before;
    }
};

/// A push that comes in parts. Only once it is whole does it count.
class staged_push {
public:
    explicit staged_push(const shard_layout& l)
        : layout_(&l), dense_(l.updated()), states_(l.states) {
        for (const table_layout& t : l.tables) {
            tables_.emplace_back();
            tables_.back().row_floats = t.row_floats;
        }
    }
    void clear() {
        dense_here_ = states_here_ = 0;
        for (staged_rows& t : tables_) t.keys.clear();
        info = {};
        number = 0;
        clock = 0;
        incarnation = 0;
    }
    /// Whether any of it has come.
    bool begun() const {
        bool any = dense_here_ > 0 || states_here_ > 0;
        for (const staged_rows& t : tables_) any |= !t.keys.empty();
        return any;
    }
    /// Where floats [first, first + n) of the dense gradient belong.
    float* dense(std::int64_t first, std::int64_t n) {
        dense_here_ += n;
        return dense_.data() + first;
    }
    /// Takes sections out of a frame. What is wrong with them; null: nothing.
    const char* take(span<const std::byte> sections) {
        return read_sections(sections, *layout_, [&](const section& s, auto keys, auto floats) {
            if (s.kind == section::dense) {
                std::memcpy(dense(s.first, s.count), floats.data(), floats.size());
            } else if (s.kind == section::states) {
                std::memcpy(states_.data() + s.first, floats.data(), floats.size());
                states_here_ += s.count;
            } else {
                staged_rows& t = tables_[static_cast<std::size_t>(s.table)];
                std::memcpy(t.grow(s.count), floats.data(), floats.size());
                for (std::int64_t k = 0; k < s.count; ++k)
                    t.keys.push_back(wire::detail::get<std::int64_t>(keys.data() + 8 * k));
            }
        });
    }
    /// Where n rows of a table belong, with their keys after them: row_section_bytes().
    /// take_rows() follows.
    float* rows(std::size_t table, std::int64_t n) {
        staged_rows& t = tables_[table];
        const std::int64_t before = t.size() * t.row_floats;
        t.values.reserve(before + n * (t.row_floats + 2), before);
        return t.values.data() + before;
    }
    /// What is wrong with the rows that are there now; null: nothing.
    const char* take_rows(std::size_t table, std::int64_t n) {
        staged_rows& t = tables_[table];
        const float* const keys = t.values.data() + (t.size() + n) * t.row_floats;
        const std::int64_t rows = layout_->tables[table].rows;
        const std::size_t before = t.keys.size();
        t.keys.resize(before + static_cast<std::size_t>(n));
        std::memcpy(t.keys.data() + before, keys, static_cast<std::size_t>(n) * 8);
        if (rows < 0) return nullptr;
        bool fit = true;
        for (std::size_t k = before; k < t.keys.size(); ++k) fit &= t.keys[k] >= 0 && t.keys[k] < rows;
        return fit ? nullptr : "a row that the table does not have";
    }
    /// Its end, which says what it is.
    void describe(const commit_block& b) {
        info = b.info;
        info.finite = b.info.finite && std::isfinite(b.info.loss);
        number = b.number, clock = b.clock;
        version = b.version, save = b.save;
    }
    /// The same again, but whether its worker pulls.
    commit_block block() const {
        commit_block b;
        b.number = number, b.clock = clock;
        b.info = info;
        b.version = version, b.save = save;
        return b;
    }
    /// What makes it unfit to be applied, as its `info` says; null: nothing.
    const char* fault() const {
        if (dense_here_ != 0 && dense_here_ != layout_->updated(info.phase))
            return "a push of a part of the gradient only";
        for (std::size_t t = 0; t < tables_.size(); ++t)
            if (tables_[t].size() > 0 && layout_->tables[t].phase != info.phase)
                return "gradients of a table that this phase does not train";
        if (states_here_ != 0 && states_here_ != layout_->states) return "a push of a part of the states only";
        return nullptr;
    }

    bool has_dense() const { return dense_here_ != 0; }
    bool has_states() const { return states_here_ != 0; }
    const float* dense() const { return dense_.data(); }
    const float* states() const { return states_.data(); }
    std::vector<staged_rows>& tables() { return tables_; }

    push_info info;
    std::uint64_t number = 0, incarnation = 0;   // incarnation: of the worker's process
    std::int64_t clock = 0;
    std::int64_t version = 0, save = 0;   ///< commit_block

private:
    const shard_layout* layout_;
    aligned_floats dense_, states_;
    std::vector<staged_rows> tables_;
    std::int64_t dense_here_ = 0, states_here_ = 0;
};

} // namespace sinter::parameter_servers
