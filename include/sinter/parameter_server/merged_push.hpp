// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/staged_push.hpp>
#include <sinter/parameter_server/update_order.hpp>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The position of each 64-bit key in the order in which keys come first. Emptied without touching
/// all of it.
class key_positions {
public:
    /// Empties it, and makes room for so many keys.
    void begin(std::size_t most) {
        std::size_t size = 64;
        while (size < 2 * most) size *= 2;
        if (cells_.size() < size) cells_.assign(size, {}), now_ = 0;
        if (++now_ == 0) std::fill(cells_.begin(), cells_.end(), cell{}), now_ = 1;
    }
    /// Where the key is; `next` if it is new, and then it is there.
    std::int32_t place(std::int64_t key, std::int32_t next) {
        const std::size_t mask = cells_.size() - 1;
        std::uint64_t h = static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u;
        for (std::size_t i = static_cast<std::size_t>(h >> 32) & mask;; i = (i + 1) & mask) {
            cell& c = cells_[i];
            if (c.used != now_) {
                c = {key, next, now_};
                return next;
            }
            if (c.key == key) return c.at;
        }
    }

private:
    struct cell {
        std::int64_t key = 0;
        std::int32_t at = 0;
        std::uint32_t used = 0;
    };
    std::vector<cell> cells_;
    std::uint32_t now_ = 0;
};

/// Adds n floats of several workers, each times its weight, in a stated order; null: nothing comes
/// from that one. The result is multiplied by `scale`.
class ordered_sum {
public:
    void operator()(span<const float* const> parts, span<const float> weights, sum_order order, float scale,
                    std::int64_t n, float* to) {
        std::int64_t at = 0;
        for (; at < n; at += most) chunk(parts, weights, order, scale, at, std::min(most, n - at), to + at);
    }

private:
    static constexpr std::int64_t most = 2048;
    aligned_floats scratch_;
    std::vector<float*> held_;

    void chunk(span<const float* const> parts, span<const float> weights, sum_order order, float scale,
               std::int64_t from, std::int64_t n, float* to) {
        const auto count = parts.size();
        if (order == sum_order::ranks) {
            bool any = false;
            for (std::size_t r = 0; r < count; ++r) {
                if (!parts[r]) continue;
                const float* const x = parts[r] + from;
                const float w = weights[r];
                if (!any) for (std::int64_t i = 0; i < n; ++i) to[i] = x[i] * w;
                else for (std::int64_t i = 0; i < n; ++i) to[i] += x[i] * w;
                any = true;
            }
            if (!any) std::fill_n(to, n, 0.f);
        } else {
            scratch_.reserve(static_cast<std::int64_t>(count) * most);
            held_.assign(count, nullptr);
            for (std::size_t r = 0; r < count; ++r) {
                if (!parts[r]) continue;
                float* const mine = scratch_.data() + static_cast<std::int64_t>(r) * most;
                for (std::int64_t i = 0; i < n; ++i) mine[i] = parts[r][from + i] * weights[r];
                held_[r] = mine;
            }
            for (std::size_t stride = 1; stride < count; stride *= 2)
                for (std::size_t i = 0; i + stride < count; i += 2 * stride) {
                    float* const b = held_[i + stride];
                    if (!b) continue;
                    if (!held_[i]) held_[i] = b;
                    else for (std::int64_t k = 0; k < n; ++k) held_[i][k] += b[k];
                }
            if (held_[0]) std::copy_n(held_[0], n, to);
            else std::fill_n(to, n, 0.f);
        }
        if (scale != 1.f)
            for (std::int64_t i = 0; i < n; ++i) to[i] *= scale;
    }
};

/// Several workers' pushes of one clock as one gradient. Nothing is allocated once it has been
/// used.
class merged_push {
public:
    merged_push(const shard_layout& l, const update_order& o)
        : layout_(l), order_(o), dense_(l.updated()), states_(l.states) {
        for (const table_layout& t : l.tables) {
            tables_.emplace_back();
            tables_.back().row_floats = t.row_floats;
        }
    }
    /// By rank; null: not in this clock. They must stay as they are while this is used.
    void begin(span<staged_push* const> by_rank) {
        pushes_.assign(by_rank.begin(), by_rank.end());
        weights_.assign(pushes_.size(), 1.f);
        double sum = 0;
        has_dense_ = has_states_ = false;
        bool means = false;
        states_count_ = 0;
        for (std::size_t r = 0; r < pushes_.size(); ++r) {
            if (!pushes_[r]) continue;
            const push_info& i = pushes_[r]->info;
            sum += i.weight;
            means |= order_.join == gradient_join::mean && !i.adds;
            if (order_.join == gradient_join::mean && !i.adds) weights_[r] = static_cast<float>(i.weight);
            has_dense_ |= pushes_[r]->has_dense();
            if (pushes_[r]->has_states()) has_states_ = true, states_count_ += i.states_count;
        }
        scale_ = means && sum > 0 ? static_cast<float>(1 / sum) : 1.f;
        ones_.assign(pushes_.size(), 1.f);
    }
    bool has_dense() const { return has_dense_; }
    bool has_states() const { return has_states_; }
    /// Floats [first, first + n) of the gradient, computed now.
    const float* dense(std::int64_t first, std::int64_t n) {
        gather([&](staged_push& p) { return p.has_dense() ? p.dense() + first : nullptr; });
        sum_(parts_, weights_, order_.order, scale_, n, dense_.data() + first);
        return dense_.data() + first;
    }
    const float* states() {
        gather([&](staged_push& p) { return p.has_states() ? p.states() : nullptr; });
        const float scale = states_count_ > 0 ? 1.f / static_cast<float>(states_count_) : 1.f;
        sum_(parts_, ones_, order_.order, scale, layout_.states, states_.data());
        return states_.data();
    }
    /// The same, where rows() has made them.
    staged_rows& table(std::size_t number) { return tables_[number]; }
    /// The rows of a table that any of them has, in the order in which they come first.
    staged_rows& rows(std::size_t table) {
        staged_rows& to = tables_[table];
        to.keys.clear();
        std::size_t most = 0;
        for (staged_push* p : pushes_)
            if (p) most += p->tables()[table].keys.size();
        positions_.begin(most);
        where_.assign(most * pushes_.size(), -1);   // [row][rank]
        for (std::size_t r = 0; r < pushes_.size(); ++r) {
            if (!pushes_[r]) continue;
            const staged_rows& from = pushes_[r]->tables()[table];
            for (std::int64_t k = 0; k < from.size(); ++k) {
                const std::int64_t key = from.keys[static_cast<std::size_t>(k)];
                const std::int32_t at = positions_.place(key, static_cast<std::int32_t>(to.keys.size()));
                if (at == static_cast<std::int32_t>(to.keys.size())) to.keys.push_back(key);
                where_[static_cast<std::size_t>(at) * pushes_.size() + r] = static_cast<std::int32_t>(k);
            }
        }
        to.values.reserve(to.size() * to.row_floats);
        for (std::size_t i = 0; i < to.keys.size(); ++i) {
            parts_.assign(pushes_.size(), nullptr);
            for (std::size_t r = 0; r < pushes_.size(); ++r)
                if (const std::int32_t k = where_[i * pushes_.size() + r]; k >= 0)
                    parts_[r] = pushes_[r]->tables()[table].row(k);
            sum_(parts_, weights_, order_.order, scale_, to.row_floats, to.row(static_cast<std::int64_t>(i)));
        }
        return to;
    }

private:
    const shard_layout& layout_;
    update_order order_;
    std::vector<staged_push*> pushes_;
    std::vector<float> weights_, ones_;
    std::vector<const float*> parts_;
    std::vector<std::int32_t> where_;
    aligned_floats dense_, states_;
    std::vector<staged_rows> tables_;
    ordered_sum sum_;
    key_positions positions_;
    float scale_ = 1;
    double states_count_ = 0;
    bool has_dense_ = false, has_states_ = false;

    template <class Get>
    void gather(Get get) {
        parts_.assign(pushes_.size(), nullptr);
        for (std::size_t r = 0; r < pushes_.size(); ++r)
            if (pushes_[r]) parts_[r] = get(*pushes_[r]);
    }
};

} // namespace sinter::parameter_servers
