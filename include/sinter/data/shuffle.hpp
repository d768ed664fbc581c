// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/data/stage.hpp>
#include <cstring>

namespace sinter::data {

/// Keeps up to `buffer` examples and yields a random one of them each time. A buffer as large as the pass makes this
/// the Fisher-Yates shuffle: every permutation equally likely.
class shuffle_stage final : public example_stage {
public:
    shuffle_stage(std::unique_ptr<example_stage> up, std::int64_t buffer, std::uint64_t seed)
        : up_(std::move(up)), buffer_(buffer), key_(stream(seed, fnv1a("data/shuffle"))), width_(up_->columns().size()) {
        for (const column& c : up_->columns()) row_bytes_ += c.bytes();
        if (up_->size() >= 0 && up_->size() < buffer_) buffer_ = up_->size() > 0 ? up_->size() : 1;
        pulled_.resize(width_);
    }
    const std::vector<column>& columns() const override { return up_->columns(); }
    std::int64_t size() const override { return up_->size(); }
    bool rows_last() const override { return up_->rows_last(); }

    void begin(std::int64_t pass) override {
        up_->begin(pass);
        random_ = random_stream(key_, static_cast<std::uint64_t>(pass));
        held_ = 0;
        filled_ = false;
    }
    bool next(const void** rows) override {
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

private:
    // Slots hold row addresses where those last (then a shuffle moves no data), else the rows themselves.
    bool pull_into(std::int64_t slot) {
        if (!up_->next(pulled_.data())) return false;
        const auto s = static_cast<std::size_t>(slot);
        if (rows_last()) {
            if (addresses_.size() < (s + 1) * width_) addresses_.resize((s + 1) * width_);
            for (std::size_t c = 0; c < width_; ++c) addresses_[s * width_ + c] = pulled_[c];
            return true;
        }
        if (bytes_.size() < (s + 1) * row_bytes_) bytes_.resize((s + 1) * row_bytes_);
        char* to = bytes_.data() + s * row_bytes_;
        for (std::size_t c = 0; c < width_; ++c) {
            std::memcpy(to, pulled_[c], columns()[c].bytes());
            to += columns()[c].bytes();
        }
        return true;
    }
    void give(std::int64_t slot, const void** rows) {
        const auto s = static_cast<std::size_t>(slot);
        if (rows_last()) {
            for (std::size_t c = 0; c < width_; ++c) rows[c] = addresses_[s * width_ + c];
            return;
        }
        given_.resize(row_bytes_);   // the slot is about to be overwritten
        std::memcpy(given_.data(), bytes_.data() + s * row_bytes_, row_bytes_);
        const char* from = given_.data();
        for (std::size_t c = 0; c < width_; ++c) {
            rows[c] = from;
            from += columns()[c].bytes();
        }
    }
    void copy_slot(std::int64_t from, std::int64_t to) {
        const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
        if (rows_last())
            for (std::size_t c = 0; c < width_; ++c) addresses_[t * width_ + c] = addresses_[f * width_ + c];
        else
            std::memcpy(bytes_.data() + t * row_bytes_, bytes_.data() + f * row_bytes_, row_bytes_);
    }

    std::unique_ptr<example_stage> up_;
    std::int64_t buffer_, held_ = 0;
    std::uint64_t key_;
    std::size_t width_, row_bytes_ = 0;
    bool filled_ = false;
    random_stream random_{0};
    std::vector<const void*> pulled_, addresses_;
    std::vector<char> bytes_, given_;
};

struct shuffle_step { std::int64_t buffer; std::uint64_t seed; };

/// Shuffles through a buffer of so many examples (1 to 2^31), in another order each pass, the same for equal
/// (seed, pass). option_error for other buffer sizes.
inline shuffle_step shuffle(std::int64_t buffer, std::uint64_t seed = 0) {
    if (buffer < 1 || buffer > (std::int64_t{1} << 31))
        throw option_error("impossible buffer size", "shuffle", std::to_string(buffer), "1 to 2^31 examples");
    return {buffer, seed};
}
inline examples operator|(examples up, shuffle_step s) {
    const int maps = up.maps();
    return examples(std::make_unique<shuffle_stage>(up.release(), s.buffer, s.seed), maps);
}

} // namespace sinter::data
