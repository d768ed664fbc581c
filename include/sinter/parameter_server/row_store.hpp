// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/hashed_options.hpp>
#include <sinter/base/span.hpp>
#include <sinter/parameter_server/counters.hpp>
#include <sinter/parameter_server/key_counter.hpp>
#include <sinter/parameter_server/kept_rows.hpp>
#include <sinter/parameter_server/key_places.hpp>
#include <sinter/parameter_server/lazy_array.hpp>
#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What a store of rows is made from.
struct row_store_setup {
    int row_floats = 0;
    int slots = 0;                 ///< of the optimizer, each a row beside a row
    std::int64_t rows = -1;        ///< of the table that this server has; -1: keys are any 64-bit numbers
    hashed_options options{};      ///< of those
    int servers = 1;               ///< among which keys are dealt out, and so options.most_rows
    /// The values that a row begins with; null: zeros.
    std::function<void(std::int64_t key, float* to)> first_row = nullptr;
    /// Those of a slot, by the row's; null: zeros.
    std::function<void(int slot, const float* row, float* to)> first_slot = nullptr;
    std::vector<int> copies{};   ///< slots that begin anew with a row that is written: averages of it
};

/// A server's rows of one table, with the optimizer's slots. A row is made when it is first
/// updated; until then it is read as what it begins with, and takes no memory. Rows lie one after
/// the other, numbered from 0 in the order in which they were made: the keys of a row_list that
/// updates them. Not for several threads at once.
///
/// Of a hashed table a row is made by the `admit_after`-th update that names its key. It is given
/// up when no update has named it for `expire_after` global steps. Under when_full::evict the row
/// that has rested longest is given up when another needs its place, too. Then another row may get
/// its number: the numbers that add() gave are good until an add() of another step, or expire().
class row_store {
public:
    /// Throws option_error for numbers that make no sense.
    SINTER_COLD explicit row_store(row_store_setup s)
        : s_(std::move(s)), most_(most_rows(s_)), stride_((most_ * s_.row_floats + 15) / 16 * 16),
          seen_(s_.rows < 0 && s_.options.admit_after > 1 ? most_ : 0),
          numbers_(hashed() ? 0 : at(most_), true), values_(floats(1), true), slots_(floats(s_.slots), true),
          keys_(at(most_), true), steps_(at(most_), true), links_(hashed() ? at(most_) : 0) {}

    bool hashed() const { return s_.rows < 0; }
    std::int64_t size() const { return n_; }                ///< rows that are there
    std::int64_t capacity() const { return most_; }
    int row_floats() const { return s_.row_floats; }
    int slots() const { return s_.slots; }
    float* values() const { return values_.data(); }        ///< [size, row_floats]
    float* slot(int k) const { return slots_.data() + k * stride_; }
    std::int64_t stride() const { return stride_; }         ///< floats from one slot to the next
    span<const std::int64_t> keys() const { return {keys_.data(), at(n_)}; }
    span<const std::int64_t> steps() const { return {steps_.data(), at(n_)}; }   ///< when each was last updated
    row_counts counts() const {
        row_counts c = counts_;
        c.rows = n_;
        return c;
    }

    /// The number of this key's row, or -1.
    std::int32_t find(std::int64_t key) const {
        if (hashed()) return places_.find(key, keys_.data());
        return has(key) ? numbers_[key] - 1 : -1;
    }
    /// The same of several keys, none more than `batch`; the rows are on their way to the cache
    /// then.
    static constexpr std::size_t batch = 64;
    void find(span<const std::int64_t> keys, std::int32_t* numbers) const {
        for (std::size_t k = 0; k < keys.size(); ++k) {
            if (hashed()) places_.prefetch(keys[k]);
            else if (has(keys[k])) __builtin_prefetch(numbers_.data() + keys[k]);
        }
        for (std::size_t k = 0; k < keys.size(); ++k) {
            const std::int32_t r = numbers[k] = find(keys[k]);
            if (r < 0) continue;
            prefetch(row(r));
            for (int i = 0; i < s_.slots; ++i) prefetch(slot(i) + std::int64_t{r} * s_.row_floats);
        }
    }
    /// The row's number, for an update that makes global step `step`: steps never fall. -1: it has
    /// none, and this gradient is left out.
    std::int32_t add(std::int64_t key, std::int64_t step) {
        std::int32_t r = find(key);
        if (r < 0 && hashed() && s_.options.admit_after > 1 && seen_.count(key) < s_.options.admit_after) {
            ++counts_.waiting;
            return -1;
        }
        if (r < 0) r = make(key, step);
        if (r >= 0) touch(r, step);
        return r;
    }
    /// The same of several rows, some at a time, so that the computer fetches them together. f(k,
    /// number) in order.
    template <class F>
    void add(span<const std::int64_t> keys, std::int64_t step, F f) {
        std::int32_t numbers[batch];
        for (std::size_t from = 0; from < keys.size(); from += batch) {
            const auto some = keys.subspan(from, std::min(batch, keys.size() - from));
            find(some, numbers);
            for (std::size_t k = 0; k < some.size(); ++k)
                if (numbers[k] >= 0) __builtin_prefetch(&steps_[numbers[k]]);
            for (std::size_t k = 0; k < some.size(); ++k) f(from + k, add(some[k], step));
        }
    }
    /// Copies rows, or what they would begin with, one after the other.
    void read(span<const std::int64_t> keys, float* to) const {
        std::int32_t numbers[batch];
        for (std::size_t from = 0; from < keys.size(); from += batch) {
            const auto some = keys.subspan(from, std::min(batch, keys.size() - from));
            find(some, numbers);
            for (std::size_t k = 0; k < some.size(); ++k, to += s_.row_floats)
                if (numbers[k] >= 0) std::copy_n(row(numbers[k]), s_.row_floats, to);
                else begin_row(some[k], to);
        }
    }
    /// What the row holds, or would begin with.
    void read(std::int64_t key, float* to) const {
        if (const std::int32_t r = find(key); r >= 0) std::copy_n(row(r), s_.row_floats, to);
        else begin_row(key, to);
    }
    /// Slot k of the row, or what it would begin with.
    void read_slot(std::int64_t key, int k, float* to) const {
        if (const std::int32_t r = find(key); r >= 0) {
            std::copy_n(slot(k) + std::int64_t{r} * s_.row_floats, s_.row_floats, to);
        } else {
            std::vector<float> first(at(s_.row_floats));
            begin_row(key, first.data());
            begin_slot(k, first.data(), to);
        }
    }
    /// Gives the row values; it is made if need be, whatever would have to be seen before. -1:
    /// full.
    std::int32_t write(std::int64_t key, const float* values, std::int64_t step) {
        std::int32_t r = find(key);
        if (r < 0) r = make(key, step);
        if (r < 0) return r;
        before_change(r);
        std::copy_n(values, s_.row_floats, row(r));
        for (const int k : s_.copies) std::copy_n(values, s_.row_floats, slot(k) + std::int64_t{r} * s_.row_floats);
        touch(r, step);
        return r;
    }
    /// A row as it was saved; `slots`: of each slot its row. Keys come in any order, and none
    /// twice. When all are there, order_by_age() must follow. False: the table is full. Where there
    /// may be more than it holds, the newest come first.
    bool restore(std::int64_t key, std::int64_t step, const float* values, const float* const* slots) {
        const std::int32_t r = n_ < most_ ? make(key, step) : -1;
        if (r < 0) return false;
        std::copy_n(values, s_.row_floats, row(r));
        steps_[r] = step;
        for (int k = 0; k < s_.slots; ++k)
            std::copy_n(slots[k], s_.row_floats, slot(k) + std::int64_t{r} * s_.row_floats);
        return true;
    }
    void order_by_age() {
        removed_.clear();
        if (!hashed()) {
            removed_from_ = 0;
            for (std::int64_t r = 0; r < n_; ++r) removed_from_ = std::max(removed_from_, steps_[r] + 1);
            return;
        }
        std::vector<std::int32_t> rows(at(n_));
        for (std::int32_t r = 0; r < n_; ++r) rows[at(r)] = r;
        std::stable_sort(rows.begin(), rows.end(),
                         [&](std::int32_t a, std::int32_t b) { return steps_[a] < steps_[b]; });
        links_.clear();
        for (const std::int32_t r : rows) links_.append(r);
        removed_from_ = n_ > 0 ? steps_[links_.newest()] + 1 : 0;   // what was given up before is not known
    }
    /// Gives up the rows that no update has named since `options.expire_after` steps before `step`.
    void expire(std::int64_t step) {
        if (!hashed() || s_.options.expire_after <= 0) return;
        while (n_ > 0 && steps_[links_.oldest()] < step - s_.options.expire_after) {
            remove(links_.oldest(), step);
            ++counts_.expired;
        }
    }
    /// Gives up all rows, and what was counted.
    void clear() {
        while (n_ > 0) remove(static_cast<std::int32_t>(n_ - 1), 0);
        seen_.clear(), removed_.clear();
        counts_ = {}, removed_from_ = 0;
    }

    // ---- a copy that is made while others go on
    /// From now on each row that is there is kept as it is before it changes, until release().
    std::shared_ptr<kept_rows> keep_changes() {
        kept_.push_back(std::make_shared<kept_rows>(n_, at(s_.row_floats) * at(1 + s_.slots)));
        return kept_.back();
    }
    void release(const std::shared_ptr<kept_rows>& k) { std::erase(kept_, k); }
    const std::vector<std::shared_ptr<kept_rows>>& kept() const { return kept_; }
    /// The row is about to be changed: whoever does that by its number, and has it not from add(), says so.
    void before_change(std::int32_t r) {   // of each row of each push: small enough to be inlined
        if (!kept_.empty()) keep(r);
    }
    SINTER_COLD void keep(std::int32_t r) {
        for (const auto& k : kept_) {
            if (!k->lacks(r)) continue;
            float* to = std::copy_n(row(r), s_.row_floats, k->add(r, keys_[r], steps_[r]));
            for (int i = 0; i < s_.slots; ++i)
                to = std::copy_n(slot(i) + std::int64_t{r} * s_.row_floats, s_.row_floats, to);
        }
    }
    /// Keys, steps, and floats of an array (0: values, 1 + k: slot k), as they were when `k` was begun.
    void keys_of(const kept_rows& k, std::int64_t first, span<std::int64_t> to) const {
        numbers_of(k, first, to, keys_, &kept_rows::row::key);
    }
    void steps_of(const kept_rows& k, std::int64_t first, span<std::int64_t> to) const {
        numbers_of(k, first, to, steps_, &kept_rows::row::step);
    }
    void floats_of(const kept_rows& k, int array, std::int64_t first, span<float> to) const {
        const std::int64_t width = s_.row_floats, end = first + std::ssize(to);
        std::copy_n((array == 0 ? values() : slot(array - 1)) + first, to.size(), to.data());
        for (std::int64_t r = first / width; r * width < end; ++r)
            if (const kept_rows::row* const was = k.find(r)) {
                const std::int64_t from = std::max(first, r * width), until = std::min(end, (r + 1) * width);
                std::copy_n(was->floats + array * width + (from - r * width), until - from, to.data() + (from - first));
            }
    }

    // ---- what has changed
    /// f(number, key) of each row updated at `step` or later; of a hashed table the newest first.
    template <class F>
    void for_each_since(std::int64_t step, F f) const {
        for (std::int32_t r = 0; !hashed() && r < n_; ++r)
            if (steps_[r] >= step) f(r, keys_[r]);
        for (std::int32_t r = links_.newest(); r >= 0 && steps_[r] >= step; r = links_.older(r)) f(r, keys_[r]);
    }
    /// The keys whose rows were given up at `step` or later, and are not there. False: that is too
    /// long ago, more have been given up since than are remembered (as many as the table has rows
    /// at the most).
    bool removed_since(std::int64_t step, std::vector<std::int64_t>& to) const {
        to.clear();
        if (step < removed_from_) return false;
        for (const removal& r : removed_)
            if (r.step >= step && find(r.key) < 0) to.push_back(r.key);
        std::sort(to.begin(), to.end());
        to.erase(std::unique(to.begin(), to.end()), to.end());
        return true;
    }

private:
    struct removal { std::int64_t key, step; };
    row_store_setup s_;
    std::int64_t most_, stride_, n_ = 0;
    key_places places_;                 ///< of hashed keys
    key_counter seen_;
    lazy_array<std::int32_t> numbers_;  ///< of known rows, by key: the row's number + 1; 0: none
    lazy_array<float> values_, slots_;
    lazy_array<std::int64_t> keys_, steps_;
    age_list links_;                    ///< of a hashed table, whose rows may have to make way
    row_counts counts_;
    std::vector<std::shared_ptr<kept_rows>> kept_;
    std::vector<removal> removed_;
    std::int64_t removed_from_ = 0;   ///< removals of earlier steps are forgotten

    static void numbers_of(const kept_rows& k, std::int64_t first, span<std::int64_t> to,
                           const lazy_array<std::int64_t>& now, std::int64_t kept_rows::row::* then) {
        for (std::size_t i = 0; i < to.size(); ++i) {
            const std::int64_t r = first + static_cast<std::int64_t>(i);
            const kept_rows::row* const was = k.find(r);
            to[i] = was ? was->*then : now[r];
        }
    }
    /// Of a table of known rows: whether this is one.
    bool has(std::int64_t key) const { return key >= 0 && key < most_; }
    void prefetch(const float* row) const {
        for (int i = 0; i < s_.row_floats; i += 16) __builtin_prefetch(row + i);
    }
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    std::size_t floats(int arrays) const { return at(stride_) * at(arrays); }
    float* row(std::int32_t r) const { return values_.data() + std::int64_t{r} * s_.row_floats; }
    static std::int64_t most_rows(const row_store_setup& s) {
        const std::int64_t share = s.servers < 1 ? 0 : (std::int64_t{s.options.most_rows} + s.servers - 1) / s.servers;
        const std::int64_t most = s.rows >= 0 ? s.rows : share, top = std::numeric_limits<std::int32_t>::max();
        if (s.row_floats < 1 || s.slots < 0 || s.servers < 1 || most < 0 || most > top)
            throw option_error("a table's numbers make no sense", "row_store",
                               std::to_string(most) + " rows of " + std::to_string(s.row_floats) + " floats",
                               "0 to 2^31 - 1 rows of 1 or more");
        if (s.rows < 0 && (s.options.most_rows < 1 || s.options.admit_after < 1 || s.options.expire_after < 0))
            throw option_error("options of a hashed table make no sense", "hashed_options",
                               "most_rows " + std::to_string(s.options.most_rows) + ", admit_after " +
                                   std::to_string(s.options.admit_after) + ", expire_after " +
                                   std::to_string(s.options.expire_after),
                               "at least 1, 1 and 0");
        return most;
    }
    void begin_row(std::int64_t key, float* to) const {
        if (s_.first_row) s_.first_row(key, to);
        else std::fill_n(to, s_.row_floats, 0.f);
    }
    void begin_slot(int k, const float* row, float* to) const {
        if (s_.first_slot) s_.first_slot(k, row, to);
        else std::fill_n(to, s_.row_floats, 0.f);
    }
    std::int32_t make(std::int64_t key, std::int64_t step) {
        std::int32_t r = static_cast<std::int32_t>(n_);
        if (n_ < most_ && (hashed() || has(key))) {
            ++n_;
        } else {
            if (n_ > 0) r = links_.oldest();
            if (!hashed() || s_.options.full == when_full::refuse || steps_[r] >= step) {   // one of this step stays
                ++counts_.refused;
                return -1;
            }
            give_up(r, step);   // its place is the new one's: all others keep their numbers
            ++counts_.evicted;
        }
        before_change(r);
        keys_[r] = key;
        if (hashed()) {
            places_.insert(key, r, keys_.data(), n_);
            links_.append(r);
        } else {
            numbers_[key] = r + 1;
        }
        begin_row(key, row(r));
        for (int k = 0; k < s_.slots; ++k) begin_slot(k, row(r), slot(k) + std::int64_t{r} * s_.row_floats);
        seen_.forget(key);
        ++counts_.made;
        return r;
    }
    /// Makes it the newest.
    void touch(std::int32_t r, std::int64_t step) {
        before_change(r);
        steps_[r] = step;
        if (!hashed()) return;
        links_.unlink(r);
        links_.append(r);
    }
    void give_up(std::int32_t r, std::int64_t step) {
        note_removal(keys_[r], step);
        if (!hashed()) return void(numbers_[keys_[r]] = 0);
        places_.erase(keys_[r], keys_.data());
        links_.unlink(r);
    }
    /// The last row gets the number of the one that is removed.
    void remove(std::int32_t r, std::int64_t step) {
        const std::int32_t last = static_cast<std::int32_t>(n_ - 1);
        give_up(r, step);
        if (r != last) {
            before_change(r);
            std::copy_n(row(last), s_.row_floats, row(r));
            const std::int64_t from = std::int64_t{last} * s_.row_floats, to = std::int64_t{r} * s_.row_floats;
            for (int k = 0; k < s_.slots; ++k) std::copy_n(slot(k) + from, s_.row_floats, slot(k) + to);
            if (hashed()) places_.move(keys_[last], r, keys_.data()), links_.move(last, r);
            else numbers_[keys_[last]] = r + 1;
            keys_[r] = keys_[last];
            steps_[r] = steps_[last];
        }
        --n_;
    }
    void note_removal(std::int64_t key, std::int64_t step) {
        if (std::int64_t(removed_.size()) >= most_) {   // the older half is forgotten
            const std::size_t half = removed_.size() / 2;
            removed_from_ = removed_[half].step + 1;
            removed_.erase(removed_.begin(), removed_.begin() + static_cast<std::ptrdiff_t>(half + 1));
        }
        removed_.push_back({key, step});
    }
};

} // namespace sinter::parameter_servers
