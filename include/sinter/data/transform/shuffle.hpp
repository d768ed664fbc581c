// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/stage.hpp>
#if SINTER_BODIES
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <cstring>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

struct shuffle_step { std::int64_t buffer; std::uint64_t seed; };

/// Shuffles through a buffer of so many examples (1 to 2^31), in another order each pass, the same
/// for equal (seed, pass). option_error for other buffer sizes.
SINTER_APART shuffle_step shuffle(std::int64_t buffer, std::uint64_t seed = 0);
SINTER_APART examples operator|(examples up, shuffle_step s);

struct shuffle_options { std::uint64_t seed = 0; };
struct shuffle_all_step { std::uint64_t seed; };

/// Shuffles a whole pass: each order of all its examples is as likely as any other, another one each pass, the same for
/// equal (seed, pass). option_error where it is not known how many examples there are.
constexpr shuffle_all_step shuffle(shuffle_options o = {}) { return {o.seed}; }
SINTER_SELDOM examples operator|(examples up, shuffle_all_step s);

#if SINTER_BODIES
/// Keeps up to `buffer` examples and yields a random one of them each time. A buffer as large as
/// the pass makes this the Fisher-Yates shuffle: every permutation equally likely.
class shuffle_stage final : public example_stage {
public:
    shuffle_stage(std::unique_ptr<example_stage> up, std::int64_t buffer, std::uint64_t seed)
        : up_(std::move(up)), buffer_(buffer), seed_(seed), key_(base::stream(seed, base::fnv1a("data/shuffle"))),
          row_width_(up_->columns().width()) {
        if (up_->size() >= 0 && up_->size() < buffer_) buffer_ = up_->size() > 0 ? up_->size() : 1;
    }
    const column_list& columns() const override { return up_->columns(); }
    std::int64_t size() const override { return up_->size(); }

    void begin(std::int64_t pass) override {
        up_->begin(pass);
        random_ = random_stream(key_, static_cast<std::uint64_t>(pass));
        held_ = 0;
        filled_ = false;
    }
    bool next(const void** rows) override {
        if (arrays()) return next_in_arrays(rows);
        while (!filled_) {
            filled_ = !pull_into(held_);
            if (!filled_) filled_ = ++held_ == buffer_;
        }
        if (held_ == 0) return false;
        const std::int64_t chosen = random_.below(static_cast<std::uint32_t>(held_));
        give(chosen, rows);
        // The gap is closed by a new example, or at the end of the pass by the last one held.
        if (!pull_into(chosen) && --held_ != chosen) copy_slot(held_, chosen);
        return true;
    }
    SINTER_COLD void describe(description& d) const override {
        up_->describe(d);
        d.stage("shuffle")("seed", seed_)("buffer", buffer_);
    }
    const row_array* arrays() const override { return up_->arrays(); }
    int next_places(std::uint32_t* to, int n) override {
        while (!filled_) fill_slots();
        int got = 0;
        while (got < n && held_ > 0) got += exchange(to + got, n - got < block ? n - got : block);
        return got;
    }

private:
    // Slots hold places where rows stay in memory (then a shuffle moves no data), else the rows
    // themselves.
    SINTER_COLD void fill_slots() {
        constexpr std::int64_t at_once = 1024;
        const std::int64_t capacity = buffer_ - held_ < at_once ? buffer_ - held_ : at_once;
        if (const auto needed = static_cast<std::size_t>(held_ + capacity); places_.size() < needed)
            places_.resize(needed);
        const int got = up_->next_places(places_.data() + held_, static_cast<int>(capacity));
        held_ += got;
        filled_ = got < capacity || held_ == buffer_;
    }
    /// The next n or all that are left, as next() would choose them one after the other, but each
    /// slot is prefetched before the first is read: they may lie in no cache.
    __attribute__((noinline)) int exchange(std::uint32_t* to, int n) {
        std::uint32_t pulled[block], *slot[block];
        const int fresh = up_->next_places(pulled, n);
        if (const std::int64_t all = fresh + held_; all < n) n = static_cast<int>(all);
        for (int i = 0; i < n; ++i) {
            const std::int64_t among = i < fresh ? held_ : held_ - (i - fresh);
            slot[i] = places_.data() + random_.below(static_cast<std::uint32_t>(among));
            __builtin_prefetch(slot[i], 1);
        }
        for (int i = 0; i < n; ++i) {
            to[i] = *slot[i];
            *slot[i] = i < fresh ? pulled[i] : places_[static_cast<std::size_t>(--held_)];
        }
        return n;
    }
    bool pull_into(std::int64_t slot) {
        if (!up_->next(pulled_)) return false;
        const auto s = static_cast<std::size_t>(slot);
        if (numbers_.size() < (s + 1) * row_width_) make_room(s + 1);
        float* to = numbers_.data() + s * row_width_;
        for (std::size_t c = 0; c < columns().size(); ++c) {
            std::memcpy(to, pulled_[c], columns()[c].stored_bytes());
            to += columns()[c].width();
        }
        return true;
    }
    SINTER_COLD void make_room(std::size_t slots) { numbers_.resize(slots * row_width_), given_.resize(row_width_); }
    void give(std::int64_t slot, const void** rows) {
        // A copy, for the slot is about to be overwritten.
        std::memcpy(given_.data(), numbers_.data() + static_cast<std::size_t>(slot) * row_width_, 4 * row_width_);
        const float* from = given_.data();
        for (std::size_t c = 0; c < columns().size(); ++c) {
            rows[c] = from;
            from += columns()[c].width();
        }
    }
    void copy_slot(std::int64_t from, std::int64_t to) {
        std::memcpy(numbers_.data() + static_cast<std::size_t>(to) * row_width_,
                    numbers_.data() + static_cast<std::size_t>(from) * row_width_, 4 * row_width_);
    }

    static constexpr int block = 16;

    std::unique_ptr<example_stage> up_;
    std::int64_t buffer_, held_ = 0;
    std::uint64_t seed_, key_;
    std::size_t row_width_;
    bool filled_ = false;
    random_stream random_{0};
    const void* pulled_[column_list::most];
    std::vector<std::uint32_t> places_;
    std::vector<float> numbers_, given_;   // any four bytes: floats and indices alike
};

SINTER_COLD SINTER_APART shuffle_step shuffle(std::int64_t buffer, std::uint64_t seed) {
    if (buffer < 1 || buffer > (std::int64_t{1} << 31))
        throw option_error("impossible buffer size", "shuffle", to_text({buffer}), "1 to 2^31 examples");
    return {buffer, seed};
}

SINTER_COLD SINTER_APART examples operator|(examples up, shuffle_step s) {
    const int maps = up.maps();
    return examples(new shuffle_stage(up.release(), s.buffer, s.seed), maps);
}

SINTER_SELDOM_BODY examples operator|(examples up, shuffle_all_step s) {
    const std::int64_t n = up.size();
    if (n < 0)
        throw option_error("shuffle() takes all examples of a pass", "shuffle",
                           n == endless ? "a pass without end" : "a pass of unknown size",
                           "shuffle(n), which keeps n examples at a time");
    return std::move(up) | shuffle(n > 0 ? n : 1, s.seed);
}
#endif

} // namespace sinter::data
