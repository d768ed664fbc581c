// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/row_list.hpp>
#include <sinter/parameter_server/shard_files.hpp>
#include <sinter/parameter_server/joined_push.hpp>
#include <sinter/parameter_server/updater.hpp>
#include <deque>
#include <functional>
#include <mutex>

namespace sinter::inline SINTER_TARGET::sharded {

/// The values of one server, their slots and states, and how they are updated. Any thread may call it:
/// each stretch of the dense array has a lock, and each table. A reader gets every stretch as it was at
/// one time, and different stretches as they were at different times.
class shard {
public:
    /// Floats of a stretch: with its gradient and two slots it fits in a core's cache.
    static constexpr std::int64_t stretch_floats = std::int64_t{1} << 14;
    using first_row = std::function<void(int table, std::int64_t row, float* to)>;

    shard(const shard_layout& l, std::unique_ptr<updater> u, const first_row& first)
        : layout_(l), updater_(std::move(u)), values_(l.floats), states_(l.states) {
        for (const run& r : l.runs) {
            if (r.group >= 0) slots_ = std::max(slots_, updater_->slots(r.group));
            const std::int64_t most = r.tensor >= 0 ? r.floats : stretch_floats;
            for (std::int64_t at = 0; at < r.floats; at += most)
                stretches_.emplace_back(r.first + at, std::min(most, r.floats - at), r.group);
        }
        if (slots_ > 0) slot_values_ = aligned_floats(l.floats * slots_);
        for (const table_layout& t : l.tables) {
            if (t.rows < 0)
                throw option_error("a table that grows is not served yet", t.name, "rows of any key", "a fixed number");
            if (t.rows > INT32_MAX)
                throw option_error("too many rows for one server", t.name, std::to_string(t.rows), "fewer than 2^31");
            table& to = tables_.emplace_back();
            to.values = aligned_floats(t.rows * t.row_floats);
            to.slots = updater_->slots(t.group);
            if (to.slots > 0) to.slot_values = aligned_floats(t.rows * t.row_floats * to.slots);
            const auto number = static_cast<int>(tables_.size() - 1);
            for (std::int64_t r = 0; first && r < t.rows; ++r) first(number, r, to.values.data() + r * t.row_floats);
            make_slots(number, 0, t.rows * t.row_floats);
        }
    }

    const shard_layout& layout() const { return layout_; }
    const updater& optimizer() const { return *updater_; }
    /// Slots of the dense array.
    int slots() const { return slots_; }
    /// The most slots that an array of this shard has.
    int most_slots() const {
        int n = slots_;
        for (const table& t : tables_) n = std::max(n, t.slots);
        return n;
    }

    /// One update of the dense array. `gradient(first, n)` gives floats of it; `copy_to`, if not null, gets
    /// the new values.
    template <class Gradient>
    void update(Gradient gradient, const float* scalars, float square_sum, float* copy_to) {
        for (stretch& s : stretches_) {
            if (s.group < 0) continue;
            const float* const g = gradient(s.first, s.floats);
            const std::lock_guard hold(s.mutex);
            updater_->update(s.group, values_.data() + s.first, g, slot_values_.data() + (slots_ ? s.first : 0),
                             layout_.floats, s.floats, scalars, square_sum);
            if (copy_to) std::copy_n(values_.data() + s.first, s.floats, copy_to + s.first);
        }
    }
    /// What updates change, to `to`.
    void copy(float* to) {
        for (stretch& s : stretches_) {
            if (s.group < 0) continue;
            const std::lock_guard hold(s.mutex);
            std::copy_n(values_.data() + s.first, s.floats, to + s.first);
        }
    }
    /// One update of the rows that `rows` has, each once. What is wrong with them; null: nothing.
    const char* update_rows(std::size_t number, staged_rows& rows, const float* scalars, float square_sum) {
        table& t = tables_[number];
        const table_layout& l = layout_.tables[number];
        const std::lock_guard hold(t.mutex);
        if (const char* fault = list_of(t, rows)) return fault;
        updater_->update_rows(l.group, t.values.data(), t.slot_values.data(), l.rows * l.row_floats,
                              {t.keys.data(), rows.values.data(), l.row_floats}, scalars, square_sum);
        return nullptr;
    }
    /// The sum of squares of gradients of rows, as the optimizer sums them.
    float squares(std::size_t number, staged_rows& rows) {
        table& t = tables_[number];
        const std::lock_guard hold(t.mutex);
        if (list_of(t, rows)) return 0;   // the update will say so
        return updater_->squares(row_list{t.keys.data(), rows.values.data(), rows.row_floats});
    }
    /// Keys are in range. To `to`, one row behind the other.
    void copy_rows(std::size_t number, span<const std::int64_t> keys, float* to) {
        table& t = tables_[number];
        const auto n = layout_.tables[number].row_floats;
        const std::lock_guard hold(t.mutex);
        for (const std::int64_t key : keys) {
            std::copy_n(t.values.data() + key * n, n, to);
            to += n;
        }
    }
    void put_states(const float* from) {
        const std::lock_guard hold(states_mutex_);
        std::copy_n(from, layout_.states, states_.data());
    }
    void add_states(const float* from) {
        const std::lock_guard hold(states_mutex_);
        for (std::int64_t i = 0; i < layout_.states; ++i) states_.data()[i] += from[i];
    }
    void copy_states(float* to) {
        const std::lock_guard hold(states_mutex_);
        std::copy_n(states_.data(), layout_.states, to);
    }

    /// Floats of an array by its number (see protocol.hpp), which has been checked. Slots of new values
    /// begin anew.
    void write(std::int64_t array, std::int64_t first, span<const float> from) {
        locked(array, [&] {
            std::copy_n(from.data(), from.size(), address(array) + first);
            if (array >= 0 && array % table_arrays == 0)
                make_slots(static_cast<int>(array / table_arrays) - 1, first, static_cast<std::int64_t>(from.size()));
        });
    }
    void read(std::int64_t array, std::int64_t first, span<float> to) {
        locked(array, [&] { std::copy_n(address(array) + first, to.size(), to.data()); });
    }
    /// How many slots the array that `array` is of has.
    bool has(std::int64_t array) const {
        if (array == states_array) return true;
        const std::int64_t t = array / table_arrays - 1;
        return array >= 0 && t < static_cast<std::int64_t>(tables_.size()) &&
               array % table_arrays <= (t < 0 ? slots_ : tables_[static_cast<std::size_t>(t)].slots);
    }

    /// All memory, for checkpoints. Nobody may update meanwhile.
    shard_view view() {
        shard_view v;
        v.layout = &layout_;
        v.values = values_.data();
        for (int k = 0; k < slots_; ++k) v.slots.push_back(slot_values_.data() + k * layout_.floats);
        v.states = states_.data();
        for (std::size_t i = 0; i < tables_.size(); ++i) {
            const std::int64_t floats = layout_.tables[i].rows * layout_.tables[i].row_floats;
            table_view t{layout_.tables[i].rows, {}, {}, tables_[i].values.data(), {}};
            for (int k = 0; k < tables_[i].slots; ++k) t.slots.push_back(tables_[i].slot_values.data() + k * floats);
            v.tables.push_back(std::move(t));
        }
        return v;
    }

private:
    struct stretch {
        stretch(std::int64_t from, std::int64_t n, int of) : first(from), floats(n), group(of) {}
        std::int64_t first, floats;
        int group;
        std::mutex mutex;
    };
    struct table {
        aligned_floats values, slot_values;
        int slots = 0;
        std::vector<std::int32_t> keys;
        key_positions seen;
        std::mutex mutex;
    };
    shard_layout layout_;
    std::unique_ptr<updater> updater_;
    int slots_ = 0;
    aligned_floats values_, slot_values_, states_;
    std::deque<stretch> stretches_;
    std::deque<table> tables_;
    std::mutex states_mutex_;

    /// Makes t.keys and the zeros behind the last row, as a row_list wants them.
    static const char* list_of(table& t, staged_rows& rows) {
        t.seen.begin(rows.keys.size());
        t.keys.resize(static_cast<std::size_t>(list_header + rows.size()));
        t.keys[0] = static_cast<std::int32_t>(rows.size());
        for (std::int64_t k = 0; k < rows.size(); ++k) {
            const std::int64_t key = rows.keys[static_cast<std::size_t>(k)];
            if (t.seen.place(key, static_cast<std::int32_t>(k)) != k) return "a row twice in one push";
            t.keys[static_cast<std::size_t>(list_header + k)] = static_cast<std::int32_t>(key);
        }
        const std::int64_t end = rows.size() * rows.row_floats;
        rows.values.reserve(end + 16, end);
        std::fill_n(rows.values.data() + end, (16 - end % 16) % 16, 0.f);
        return nullptr;
    }
    float* address(std::int64_t array) {
        if (array == states_array) return states_.data();
        const std::int64_t t = array / table_arrays - 1, k = array % table_arrays;
        if (t < 0) return k == 0 ? values_.data() : slot_values_.data() + (k - 1) * layout_.floats;
        table& of = tables_[static_cast<std::size_t>(t)];
        const table_layout& l = layout_.tables[static_cast<std::size_t>(t)];
        return k == 0 ? of.values.data() : of.slot_values.data() + (k - 1) * l.rows * l.row_floats;
    }
    template <class F>
    void locked(std::int64_t array, F f) {
        if (array == states_array) {
            const std::lock_guard hold(states_mutex_);
            return f();
        }
        if (array >= table_arrays) {
            const std::lock_guard hold(tables_[static_cast<std::size_t>(array / table_arrays - 1)].mutex);
            return f();
        }
        for (stretch& s : stretches_) s.mutex.lock();
        f();
        for (stretch& s : stretches_) s.mutex.unlock();
    }
    /// First values of the slots of floats [first, first + n) of the dense array (-1) or a table.
    void make_slots(int number, std::int64_t first, std::int64_t n) {
        if (number >= 0) {
            table& t = tables_[static_cast<std::size_t>(number)];
            const table_layout& l = layout_.tables[static_cast<std::size_t>(number)];
            for (int k = 0; k < t.slots; ++k)
                updater_->first_slot(l.group, k, t.slot_values.data() + k * l.rows * l.row_floats + first,
                                     t.values.data() + first, n);
            return;
        }
        for (const stretch& s : stretches_) {
            const std::int64_t from = std::max(first, s.first), to = std::min(first + n, s.first + s.floats);
            for (int k = 0; from < to && s.group >= 0 && k < updater_->slots(s.group); ++k)
                updater_->first_slot(s.group, k, slot_values_.data() + k * layout_.floats + from, values_.data() + from,
                                     to - from);
        }
    }
};

} // namespace sinter::sharded
