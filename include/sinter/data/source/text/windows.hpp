// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/stage.hpp>
#if SINTER_BODIES
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#endif

/// Windows of a long sequence of numbers (a text's characters, say) for nets that tell the next
/// one: an example has `length` numbers as its input and, as labels, the same moved on by one.
namespace sinter::inline SINTER_ORDINARY::data {

/// Which windows a pass over a sequence has.
struct window_options {
    /// 0: a pass goes through the sequence once, each number but the first a label at most once.
    /// Else a pass is so many windows that begin anywhere, with equal probability, other ones in
    /// each pass.
    std::int64_t random = 0;
    std::uint64_t seed = 0;   ///< of where they begin
    /// In a pass in order: the sequence is cut into so many equal lanes, and window i is lane i %
    /// lanes' next. In batches of as many, row r of a batch goes on where row r of the one before
    /// ended: for nets that carry a state along.
    int lanes = 1;
};

/// `windows(vocabulary.encode(text), 128, {.random = 1000}) | batch(32)`: an int input and labels,
/// both [length]. option_error for impossible options; data_error where the sequence is too short
/// for one window (in each lane), or longer than 2^31 numbers.
SINTER_APART examples windows(std::vector<std::int32_t> numbers, int length, const window_options& o = {});

#if SINTER_BODIES
class window_stage final : public example_stage {
public:
    window_stage(std::vector<std::int32_t> numbers, int length, const window_options& o)
        : numbers_(std::move(numbers)), length_(length), options_(o),
          key_(base::stream(o.seed, base::fnv1a("data/windows"))) {
        const auto n = static_cast<std::int64_t>(numbers_.size());
        lane_ = (n - 1) / o.lanes;   // labels in a lane
        size_ = o.random ? o.random : lane_ / length_ * o.lanes;
        columns_.indices(extents(length)).labels(extents(length));
        for (std::size_t i = 0; i < 2; ++i)
            arrays_[i] = {numbers_.data() + i, sizeof numbers_[i]};   // a window a place
    }
    const column_list& columns() const override { return columns_; }
    std::int64_t size() const override { return size_; }
    void begin(std::int64_t pass) override {
        pass_ = static_cast<std::uint64_t>(pass);
        at_ = 0;
    }
    bool next(const void** rows) override { return next_in_arrays(rows); }
    const row_array* arrays() const override { return arrays_; }
    int next_places(std::uint32_t* to, int n) override {
        if (size_ - at_ < n) n = static_cast<int>(size_ - at_);
        for (int i = 0; i < n; ++i) to[i] = static_cast<std::uint32_t>(first_of(at_++));
        return n;
    }
    SINTER_COLD void describe(description& d) const override {
        d.stage("windows")("length", length_)("random", options_.random)("seed", options_.seed);
        d("lanes", options_.lanes)("numbers", static_cast<std::int64_t>(numbers_.size()));
        // Not the last window's, which need not be the last numbers: a text that was cut differs there.
        const auto rows = static_cast<std::int64_t>(numbers_.size()) - length_;
        detail::describe_rows(d, columns_, rows, [&](std::size_t c, std::int64_t i) {
            return numbers_.data() + i + static_cast<std::int64_t>(c);
        });
    }
    void skip(std::int64_t n) override {   // where a window begins hangs on its number alone
        at_ = n < size_ - at_ ? at_ + n : size_;
    }

private:
    std::int64_t first_of(std::int64_t i) const {
        if (!options_.random) return i % options_.lanes * lane_ + i / options_.lanes * length_;
        random_stream random(key_ + static_cast<std::uint64_t>(i), pass_);
        return random.below(static_cast<std::uint32_t>(numbers_.size() - static_cast<std::size_t>(length_)));
    }
    std::vector<std::int32_t> numbers_;
    int length_;
    window_options options_;
    std::uint64_t key_, pass_ = 0;
    std::int64_t lane_, size_, at_ = 0;
    column_list columns_;
    row_array arrays_[2];
};

SINTER_APART examples windows(std::vector<std::int32_t> numbers, int length, const window_options& o) {
    const auto needs = [](const char* what, std::int64_t got, const char* needed) {
        throw option_error(what, "windows", std::to_string(got), needed);
    };
    if (length < 1) needs("impossible length", length, "at least 1");
    if (o.random < 0) needs("impossible number of random windows", o.random, "at least 0");
    if (o.lanes < 1) needs("impossible number of lanes", o.lanes, "at least 1");
    if (o.random && o.lanes > 1) needs("lanes are for windows in order", o.lanes, "1 with random windows");
    const std::int64_t least = std::int64_t{length} * o.lanes + 1, n = static_cast<std::int64_t>(numbers.size());
    if (n < least || n > (std::int64_t{1} << 31))
        throw data_error("the sequence does not fit", "windows", std::to_string(n) + " numbers",
                         std::to_string(least) + " to 2^31");
    return examples(new window_stage(std::move(numbers), length, o));
}
#endif

} // namespace sinter::data
