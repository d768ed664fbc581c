// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/stage.hpp>
#include <cstring>

namespace sinter::inline SINTER_ORDINARY::data {

/// One example as a mapped function gets it: the first float input, the label (where there are
/// several, the first one's address), the targets. What an example does not have is empty or null;
/// further columns pass through unchanged.
struct example_view {
    span<const float> x;
    shape row;   ///< extents of x
    const std::int32_t* label = nullptr;
    span<const float> y;
};
/// The same to write to; it starts as a copy of what came in.
struct example {
    span<float> x;
    shape row;
    std::int32_t* label = nullptr;
    span<float> y;
};

/// What all maps share: rows of their own, and a random stream for each example that depends on the
/// seed, the pass and the example's place in it, so that augmentation is the same after a restart.
class map_stage : public example_stage {
public:
    SINTER_APART map_stage(std::unique_ptr<example_stage> up, const shape* row, std::uint64_t key);
    const column_list& columns() const override { return columns_; }
    std::int64_t size() const override { return up_->size(); }
    SINTER_APART void begin(std::int64_t pass) override;
    SINTER_APART bool next(const void** rows) override;
    SINTER_APART void skip(std::int64_t n) override;
    SINTER_APART void describe(description& d) const override;

private:
    virtual void describe_function(description& d) const = 0;
    virtual void apply(const example_view& in, example& out, random_stream& random) = 0;
    bool is_x(std::size_t c) const {
        return columns_[c].use == role::input && columns_[c].row.type == dtype::f32 && x_ == columns_.size();
    }

    std::unique_ptr<example_stage> up_;
    column_list columns_;
    std::uint64_t key_, pass_ = 0, index_ = 0;
    const void* pulled_[column_list::most];
    std::size_t x_ = columns_.size(), label_ = column_list::most,
                y_ = column_list::most;   // columns of what a function sees
    bool reshapes_ = false;
    std::vector<float> numbers_;        // one example; rows_ says where each column's row is
    std::vector<float> unpacked_;       // its x as it came in, if that is pixels
    float* rows_[column_list::most];
    example_view in_;
    example out_;
};

template <class F>
struct map_step {
    F function;
    std::uint64_t seed;
    bool reshapes = false;
    shape row{};
};

/// Calls `f(example&)` or `f(example&, random_stream&)` on each example; it may change values,
/// label and targets. Of a function that several processes must share its type is compared; an object
/// that has `void describe(description& d) const` names its settings there, too (base/description.hpp).
template <class F>
map_step<F> map(F f, std::uint64_t seed = 0) { return {std::move(f), seed}; }
/// The same for functions that change the extents of x to `row`: `f(const example_view& in,
/// example& out)`, or with a random_stream& as third argument. `out` has room for `row`; label and
/// targets are already copied.
template <class F>
map_step<F> map(shape row, F f, std::uint64_t seed = 0) { return {std::move(f), seed, true, row}; }

template <class F>
class map_function final : public map_stage {
public:
    map_function(std::unique_ptr<example_stage> up, const shape* row, std::uint64_t key, F f, std::uint64_t seed = 0)
        : map_stage(std::move(up), row, key), function_(std::move(f)), seed_(seed) {}

private:
    void describe_function(description& d) const override {
        d("function", type_text<F>())("seed", seed_);
        if constexpr (base::tells_settings<F>) function_.describe(d);
    }
    void apply(const example_view& in, example& out, random_stream& random) override {
        if constexpr (requires { function_(in, out, random); }) function_(in, out, random);
        else if constexpr (requires { function_(in, out); }) function_(in, out);
        else if constexpr (requires { function_(out, random); }) function_(out, random);
        else function_(out);
    }
    F function_;
    std::uint64_t seed_;
};

template <class F>
examples operator|(examples up, map_step<F> s) {
    const int maps = up.maps();
    const std::uint64_t key = base::stream(s.seed, base::fnv1a("data/map") + static_cast<std::uint64_t>(maps));
    return examples(new map_function<F>(up.release(), s.reshapes ? &s.row : nullptr, key,
                                                      std::move(s.function), s.seed), maps + 1);
}

#if SINTER_BODIES
SINTER_APART map_stage::map_stage(std::unique_ptr<example_stage> up, const shape* row, std::uint64_t key)
    : up_(std::move(up)), columns_(up_->columns()), key_(key) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const bool packed = std::exchange(columns_[c].pixels, false);   // what a map gives are numbers
        if (!is_x(c)) continue;
        x_ = c;
        if (packed) unpacked_.resize(static_cast<std::size_t>(columns_[c].width()));
        if (row) columns_[c].row = *row, columns_[c].row.type = dtype::f32;
        reshapes_ = up_->columns()[c].row != columns_[c].row;
    }
    if (x_ == columns_.size()) throw data_error("there is no float input to map", "map");
    for (int a = 0; a < columns_[x_].row.rank; ++a)
        if (columns_[x_].row.d[a] < 1)
            throw option_error("impossible extents", "map, axis " + std::to_string(a),
                               std::to_string(columns_[x_].row.d[a]), "at least 1");
    numbers_.resize(columns_.width());
    in_.row = up_->columns()[x_].row;
    out_.row = columns_[x_].row;
    float* at = numbers_.data();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const auto width = static_cast<std::size_t>(columns_[c].width());
        if (c == x_) out_.x = {at, width};
        if (columns_[c].use == role::label && label_ == column_list::most)
            label_ = c, out_.label = reinterpret_cast<std::int32_t*>(at);
        if (columns_[c].use == role::target && y_ == column_list::most) y_ = c, out_.y = {at, width};
        rows_[c] = at;
        at += width;
    }
}

SINTER_APART void map_stage::begin(std::int64_t pass) {
    up_->begin(pass);
    pass_ = static_cast<std::uint64_t>(pass);
    index_ = 0;
}

SINTER_APART bool map_stage::next(const void** rows) {
    if (!up_->next(pulled_)) return false;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        rows[c] = rows_[c];
        const column& from = up_->columns()[c];
        if (c == x_ && from.pixels) {   // apart from out, for a function may read one and write the other
            unpack(unpacked_.data(), pulled_[c], from.bytes(), true);
            pulled_[c] = unpacked_.data();
        }
        const auto* f = static_cast<const float*>(pulled_[c]);
        if (c == x_) in_.x = {f, static_cast<std::size_t>(in_.row.size())};
        if (c == label_) in_.label = static_cast<const std::int32_t*>(pulled_[c]);
        if (c == y_) in_.y = {f, static_cast<std::size_t>(columns_[c].width())};
        if (c != x_ || !reshapes_) unpack(rows_[c], pulled_[c], columns_[c].bytes(), c != x_ && from.pixels);
    }
    const base::philox_block b = base::philox_at(key_, index_++, pass_);
    random_stream random((std::uint64_t{b.word[1]} << 32) | b.word[0]);
    example out = out_;
    apply(in_, out, random);
    return true;
}

SINTER_APART void map_stage::skip(std::int64_t n) {
    up_->skip(n);   // nothing is computed: what an example draws depends on its place alone
    index_ += static_cast<std::uint64_t>(n);
}

SINTER_APART void map_stage::describe(description& d) const {
    up_->describe(d);
    d.stage("map")("columns", detail::text_of(columns_));
    describe_function(d);
}
#endif

} // namespace sinter::data
