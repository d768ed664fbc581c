// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/row_list.hpp>
#include <sinter/parameter_server/row_store.hpp>
#include <sinter/parameter_server/shard_files.hpp>
#include <sinter/parameter_server/table_changes.hpp>
#include <sinter/parameter_server/merged_push.hpp>
#include <sinter/parameter_server/updater.hpp>
#include <sinter/parameter_server/wrong_number.hpp>
#include <sinter/parameter_server/yielding_mutex.hpp>
#include <deque>
#include <functional>
#include <mutex>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The values of one server, their slots and states, and how they are updated. Any thread may call
/// it: each block of the dense array has a lock, and each table. A reader gets every block as
/// it was at one time, and different blocks as they were at different times.
class shard {
public:
    /// Floats of a block: with its gradient and two slots it fits in a core's cache.
    static constexpr std::int64_t block_floats = std::int64_t{1} << 14;
    using first_row = std::function<void(int table, std::int64_t row, float* to)>;

    SINTER_COLD shard(const shard_layout& l, std::unique_ptr<updater> u, const first_row& first, int servers)
        : layout_(l), updater_(std::move(u)), values_(l.floats), states_(l.states) {
        for (const run& r : l.runs) {
            if (r.group >= 0) slots_ = std::max(slots_, updater_->slots(r.group));
            const std::int64_t most = r.tensor >= 0 ? r.floats : block_floats;
            for (std::int64_t at = 0; at < r.floats; at += most)
                blocks_.emplace_back(r.first + at, std::min(most, r.floats - at), r.group, r.phase);
        }
        if (slots_ > 0) slot_values_ = aligned_floats(l.floats * slots_);
        for (std::size_t i = 0; i < l.tables.size(); ++i) {
            const table_layout& t = l.tables[i];
            row_store_setup setup{.row_floats = t.row_floats, .slots = updater_->slots(t.group), .rows = t.rows,
                                  .options = t.options, .servers = servers};
            if (first)
                setup.first_row = [first, i](std::int64_t key, float* to) { first(static_cast<int>(i), key, to); };
            setup.first_slot = [u = updater_.get(), t](int k, const float* row, float* to) {
                u->first_slot(t.group, k, to, row, t.row_floats);
            };
            for (int k = 0; k < setup.slots; ++k)
                if (updater_->copies_parameter(t.group, k)) setup.copies.push_back(k);
            setups_.push_back(std::move(setup));
        }
        for (const row_store_setup& s : setups_) tables_.emplace_back(s);
    }
    /// All tables are as at the beginning.
    SINTER_COLD void forget_rows() {
        for (std::size_t t = 0; t < tables_.size(); ++t) forget_rows(t);
    }
    /// The same of one table. Who copies its rows (tables_now()) has those of before.
    SINTER_COLD void forget_rows(std::size_t number) {
        table& t = tables_.at(number);
        const std::lock_guard hold(t.mutex);
        if (!t.rows.kept().empty()) {
            const auto before = std::make_shared<row_store>(std::move(t.rows));
            for (const auto& k : before->kept()) k->store = before;
        }
        t.rows = row_store(setups_[number]);
        t.newest = 0;
        t.may_be_wrong();
    }

    const shard_layout& layout() const { return layout_; }
    const updater& optimizer() const { return *updater_; }
    /// Slots of the dense array.
    int slots() const { return slots_; }
    /// Slots of a table's rows.
    int slots_of(std::size_t number) const { return tables_[number].rows.slots(); }
    /// The most slots that an array of this shard has.
    int most_slots() const {
        int n = slots_;
        for (const table& t : tables_) n = std::max(n, t.rows.slots());
        return n;
    }

    /// One update of a phase's part of the dense array. `gradient(first, n)` gives floats of it;
    /// `copy_to`, if not null, gets the new values of all phases.
    template <class Gradient>
    void update(int phase, Gradient gradient, const float* scalars, float square_sum, float* copy_to) {
        for (block& s : blocks_) {
            if (s.group < 0) continue;
            const bool trains = s.phase == phase;
            if (!trains && !copy_to) continue;
            const float* const g = trains ? gradient(s.first, s.floats) : nullptr;
            const std::lock_guard hold(s.mutex);
            if (trains)
                updater_->update(s.group, values_.data() + s.first, g, slot_values_.data() + (slots_ ? s.first : 0),
                                 layout_.floats, s.floats, scalars, square_sum);
            if (copy_to) std::copy_n(values_.data() + s.first, s.floats, copy_to + s.first);
        }
    }
    /// What updates change, to `to`.
    void copy(float* to) {
        for (block& s : blocks_) {
            if (s.group < 0) continue;
            const std::lock_guard hold(s.mutex);
            std::copy_n(values_.data() + s.first, s.floats, to + s.first);
        }
    }
    /// One update of the rows that `rows` has, each once, which makes global step `step`. Gradients
    /// of rows that the table does not keep are left out. `listed`: squares() was called before,
    /// for the same. What is wrong with them; null: nothing.
    const char* update_rows(std::size_t number, staged_rows& rows, const float* scalars, float square_sum,
                            std::int64_t step, bool listed = false) {
        table& t = tables_[number];
        const std::lock_guard hold(t.mutex);
        if (const char* fault = listed ? nullptr : list_of(t, rows, step)) return fault;
        if (t.keys[0] > 0)
            updater_->update_rows(layout_.tables[number].group, t.rows.values(), t.rows.slot(0), t.rows.stride(),
                                  {t.keys.data(), rows.values.data(), rows.row_floats}, scalars, square_sum);
        return nullptr;
    }
    /// The sum of squares of gradients of rows, as the optimizer sums them.
    float squares(std::size_t number, staged_rows& rows, std::int64_t step) {
        table& t = tables_[number];
        const std::lock_guard hold(t.mutex);
        if (const char* fault = list_of(t, rows, step)) throw error(fault, "an update of rows");
        return updater_->squares(row_list{t.keys.data(), rows.values.data(), rows.row_floats});
    }
    /// Keys are in range. To `to`, one row after the other.
    void copy_rows(std::size_t number, span<const std::int64_t> keys, float* to) {
        table& t = tables_[number];
        const std::lock_guard hold(t.mutex);
        t.rows.read(keys, to);
    }
    /// Of all tables (changes_of).
    SINTER_COLD std::vector<table_changes> changes(std::int64_t since, std::int64_t step) {
        std::vector<table_changes> all;
        for (table& t : tables_) {
            const std::lock_guard hold(t.mutex);
            all.push_back(changes_of(t.rows, since, step));
        }
        return all;
    }
    /// By table. By one thread, which does not wait for who uses a table unless it is to: it has the counts of before
    /// then.
    std::vector<row_counts> counts(bool waits) {
        std::vector<row_counts> all;
        for (table& t : tables_) {
            std::unique_lock hold(t.mutex, std::defer_lock);
            if (waits) hold.lock();
            if (waits || hold.try_lock()) t.counted = t.rows.counts();
            all.push_back(t.counted);
        }
        return all;
    }
    /// Of the values and of each slot of each table the wrong number of the lowest key, and the first one of each
    /// slot of the dense array, as far as there are any. Rows that were found sound, and that nothing has
    /// changed since, are not looked at again.
    std::vector<wrong_number> wrong_numbers() {
        std::vector<wrong_number> all;
        for (int k = 0; k < slots_; ++k) {
            const float* const x = slot_values_.data() + k * layout_.floats;
            for (block& s : blocks_) {
                const std::lock_guard hold(s.mutex);
                const std::int64_t i = place_of_wrong_number(x + s.first, s.floats);
                if (i < 0) continue;
                all.push_back({-1, k, 0, s.first + i, x[s.first + i]});
                break;
            }
        }
        for (std::size_t t = 0; t < tables_.size(); ++t) look_at_rows(tables_[t], static_cast<std::int64_t>(t), all);
        return all;
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

    /// Floats of an array by its number (see protocol.hpp), which has been checked: of a table,
    /// whole rows. Slots of new dense values begin anew; of a row those that copy it.
    void write(std::int64_t array, std::int64_t first, span<const float> from) {
        if (array >= table_arrays) return write_rows(array, first, from);
        locked(array, [&] {
            std::copy_n(from.data(), from.size(), address(array) + first);
            if (array == 0) make_slots(first, static_cast<std::int64_t>(from.size()));
        });
    }
    void read(std::int64_t array, std::int64_t first, span<float> to) {
        if (array >= table_arrays) return read_rows(array, first, to);
        locked(array, [&] { std::copy_n(address(array) + first, to.size(), to.data()); });
    }
    /// Floats that are written and read together, of this array.
    std::int64_t unit(std::int64_t array) const {
        return array < table_arrays ? 1 : layout_.tables[static_cast<std::size_t>(array / table_arrays - 1)].row_floats;
    }
    /// How many slots the array that `array` is of has.
    bool has(std::int64_t array) const {
        if (array == states_array) return true;
        const std::int64_t t = array / table_arrays - 1;
        return array >= 0 && t < static_cast<std::int64_t>(tables_.size()) &&
               array % table_arrays <= (t < 0 ? slots_ : tables_[static_cast<std::size_t>(t)].rows.slots());
    }

    /// All memory, for checkpoints. Nobody may update meanwhile.
    shard_view view() {
        shard_view v;
        v.layout = &layout_;
        v.values = values_.data();
        for (int k = 0; k < slots_; ++k) v.slots.push_back(slot_values_.data() + k * layout_.floats);
        v.states = states_.data();
        for (table& of : tables_) {
            table_view t{of.rows.size(), of.rows.keys(), of.rows.steps(), of.rows.values(), {}};
            for (int k = 0; k < of.rows.slots(); ++k) t.slots.push_back(of.rows.slot(k));
            v.tables.push_back(std::move(t));
        }
        return v;
    }

    /// Tables as they are now, for who copies their rows while others go on: until these end, what changes is kept.
    /// Nobody may update during this call.
    SINTER_COLD std::vector<table_view> tables_now() {
        std::vector<table_view> all;
        for (table& t : tables_) {
            const auto rows = std::make_shared<const table_of_a_moment>(t);
            all.push_back({rows->size(), {}, {}, nullptr, {}, rows});
            all.back().slots.resize(static_cast<std::size_t>(t.rows.slots()));
        }
        return all;
    }

    /// A row of a checkpoint. Those of a table that has too many are left out. end_of_rows()
    /// follows the last.
    void restore_row(std::size_t number, std::int64_t key, std::int64_t step, const float* values,
                     const float* const* slots) {
        table& t = tables_.at(number);
        t.rows.restore(key, step, values, slots);
        t.newest = std::max(t.newest, step);
        t.may_be_wrong();
    }
    /// f(rows, newest step of an update) while nobody else uses that table.
    template <class F>
    auto use_rows(std::size_t number, F f) {
        table& t = tables_.at(number);
        const std::lock_guard hold(t.mutex);
        t.may_be_wrong();   // it may write rows of any step
        return f(t.rows, t.newest);
    }
    void end_of_rows() {
        for (table& t : tables_) t.rows.order_by_age();
    }

private:
    struct block {
        block(std::int64_t from, std::int64_t n, int of, int when) : first(from), floats(n), group(of), phase(when) {}
        std::int64_t first, floats;
        int group, phase;
        std::mutex mutex;
    };
    struct table {
        explicit table(row_store_setup s) : rows(std::move(s)) {}
        row_store rows;
        std::int64_t newest = 0;             // the last step of an update
        std::int64_t sound_before = 0;       // rows of earlier steps have no wrong numbers
        std::int64_t doubts = 0;             // how often that was no more
        std::vector<std::int32_t> keys;      // of a row_list
        key_positions seen;
        row_counts counted;                  // by counts()
        yielding_mutex mutex;

        void may_be_wrong() { sound_before = 0, ++doubts; }
    };
    class table_of_a_moment final : public rows_of_a_moment {
    public:
        explicit table_of_a_moment(table& t) : t_(t) {
            const std::lock_guard hold(t_.mutex);
            kept_ = t_.rows.keep_changes();
        }
        ~table_of_a_moment() override {
            const std::lock_guard hold(t_.mutex);
            (kept_->store ? *kept_->store : t_.rows).release(kept_);
        }
        table_of_a_moment(const table_of_a_moment&) = delete;
        table_of_a_moment& operator=(const table_of_a_moment&) = delete;
        std::int64_t size() const { return kept_->rows(); }
        void keys(std::int64_t first, span<std::int64_t> to) const override {
            use([&](const row_store& s) { s.keys_of(*kept_, first, to); });
        }
        void steps(std::int64_t first, span<std::int64_t> to) const override {
            use([&](const row_store& s) { s.steps_of(*kept_, first, to); });
        }
        void floats(int array, std::int64_t first, span<float> to) const override {
            use([&](const row_store& s) { s.floats_of(*kept_, array, first, to); });
        }

    private:
        table& t_;
        std::shared_ptr<kept_rows> kept_;

        template <class F>
        void use(F f) const {
            const std::lock_guard hold(t_.mutex);
            f(kept_->store ? *kept_->store : t_.rows);
        }
    };
    shard_layout layout_;
    std::unique_ptr<updater> updater_;
    int slots_ = 0;
    aligned_floats values_, slot_values_, states_;
    std::deque<block> blocks_;
    std::vector<row_store_setup> setups_;
    std::deque<table> tables_;
    std::mutex states_mutex_;

    /// Others use the table between two blocks of rows: what they change then is looked at again the next time.
    static void look_at_rows(table& t, std::int64_t number, std::vector<wrong_number>& to) {
        const std::lock_guard hold(t.mutex);
        const std::int64_t width = t.rows.row_floats(), newest = t.newest, doubts = t.doubts,
                           of_block = std::max<std::int64_t>(1, (std::int64_t{1} << 18) / width);
        std::vector<std::optional<wrong_number>> first(static_cast<std::size_t>(1 + t.rows.slots()));
        std::int64_t moved = t.rows.counts().expired;
        bool gives_way = true;
        for (std::int64_t from = 0; from < t.rows.size(); from += of_block) {
            const std::int64_t end = std::min(t.rows.size(), from + of_block);
            for (int k = -1; k < t.rows.slots(); ++k)
                look_at_block(t, number, k, from, end, first[static_cast<std::size_t>(k + 1)]);
            if (gives_way) t.mutex.give_way();
            if (std::exchange(moved, t.rows.counts().expired) != moved)   // rows have other numbers: all in one go
                from = -of_block, gives_way = false;
        }
        bool sound = true;
        for (const auto& f : first)
            if (f) to.push_back(*f), sound = false;
        if (sound && t.doubts == doubts) t.sound_before = newest;   // whose rows the same update may still change
    }
    static void look_at_block(table& t, std::int64_t number, int k, std::int64_t from, std::int64_t end,
                              std::optional<wrong_number>& first) {
        const std::int64_t width = t.rows.row_floats();
        const float* const x = k < 0 ? t.rows.values() : t.rows.slot(k);
        for (std::int64_t r = from; r < end; ++r) {
            if (t.rows.steps()[static_cast<std::size_t>(r)] < t.sound_before) continue;
            const std::int64_t i = place_of_wrong_number(x + r * width, width),
                               key = t.rows.keys()[static_cast<std::size_t>(r)];
            if (i >= 0 && (!first || key < first->key)) first = {number, k, key, i, x[r * width + i]};
        }
    }
    /// Makes t.keys, takes out gradients of rows that are not kept, and the zeros after the last
    /// row, as a row_list wants them.
    static const char* list_of(table& t, staged_rows& rows, std::int64_t step) {
        t.newest = std::max(t.newest, step);
        t.rows.expire(t.newest);
        if (!rises(rows.keys)) {
            t.seen.begin(rows.keys.size());
            for (std::int64_t k = 0; k < rows.size(); ++k)
                if (t.seen.place(rows.keys[static_cast<std::size_t>(k)], static_cast<std::int32_t>(k)) != k)
                    return "a row twice in one push";
        }
        t.keys.resize(static_cast<std::size_t>(list_header + rows.size()));
        std::int64_t n = 0;
        t.rows.add(rows.keys, t.newest, [&](std::size_t i, std::int32_t r) {
            if (r < 0) return;
            const auto k = static_cast<std::int64_t>(i);
            if (n != k) std::copy_n(rows.row(k), rows.row_floats, rows.row(n));
            t.keys[static_cast<std::size_t>(list_header + n++)] = r;
        });
        t.keys[0] = static_cast<std::int32_t>(n);
        const std::int64_t end = n * rows.row_floats;
        rows.values.reserve(end + 16, end);
        std::fill_n(rows.values.data() + end, (16 - end % 16) % 16, 0.f);
        return nullptr;
    }
    /// Whether each key is larger than the one before, so that none comes twice.
    static bool rises(const std::vector<std::int64_t>& keys) {
        bool all = true;
        for (std::size_t k = 1; k < keys.size(); ++k) all &= keys[k - 1] < keys[k];
        return all;
    }
    float* address(std::int64_t array) {
        if (array == states_array) return states_.data();
        return array == 0 ? values_.data() : slot_values_.data() + (array - 1) * layout_.floats;
    }
    void write_rows(std::int64_t array, std::int64_t first, span<const float> from) {
        table& t = tables_[static_cast<std::size_t>(array / table_arrays - 1)];
        const std::lock_guard hold(t.mutex);
        const auto k = static_cast<int>(array % table_arrays) - 1;
        const std::int64_t n = t.rows.row_floats();
        t.may_be_wrong();
        std::vector<float> row(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(from.size()); i += n) {
            const std::int64_t key = (first + i) / n;
            if (k < 0) {
                t.rows.write(key, from.data() + i, t.newest);
                continue;
            }
            std::int32_t r = t.rows.find(key);
            if (r < 0) t.rows.read(key, row.data()), r = t.rows.write(key, row.data(), t.newest);
            if (r < 0) continue;
            t.rows.before_change(r);
            std::copy_n(from.data() + i, n, t.rows.slot(k) + r * n);
        }
    }
    void read_rows(std::int64_t array, std::int64_t first, span<float> to) {
        table& t = tables_[static_cast<std::size_t>(array / table_arrays - 1)];
        const std::lock_guard hold(t.mutex);
        const auto k = static_cast<int>(array % table_arrays) - 1;
        const std::int64_t n = t.rows.row_floats();
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(to.size()); i += n) {
            if (k < 0) t.rows.read((first + i) / n, to.data() + i);
            else t.rows.read_slot((first + i) / n, k, to.data() + i);
        }
    }
    template <class F>
    void locked(std::int64_t array, F f) {
        if (array == states_array) {
            const std::lock_guard hold(states_mutex_);
            return f();
        }
        for (block& s : blocks_) s.mutex.lock();
        f();
        for (block& s : blocks_) s.mutex.unlock();
    }
    /// First values of the slots of floats [first, first + n).
    void make_slots(std::int64_t first, std::int64_t n) {
        for (const block& s : blocks_) {
            const std::int64_t from = std::max(first, s.first), to = std::min(first + n, s.first + s.floats);
            for (int k = 0; from < to && s.group >= 0 && k < updater_->slots(s.group); ++k)
                updater_->first_slot(s.group, k, slot_values_.data() + k * layout_.floats + from, values_.data() + from,
                                     to - from);
        }
    }
};

} // namespace sinter::parameter_servers
