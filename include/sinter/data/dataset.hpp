// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/column.hpp>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::data {

/// Examples in memory: any number of inputs, of int labels and of float targets, and weights if
/// examples do not count alike. Copies and slices share the numbers, which never change, so that
/// passing a set by value costs nothing.
class dataset {
public:
    dataset() = default;
    /// A set with one float input: `values` holds n rows of `row`, contiguously; n follows.
    dataset(shape row, std::vector<float> values) { input(row, std::move(values)); }

    /// One more input of n rows; data_error if it does not fit `row` or the number of examples so
    /// far.
    dataset& input(shape row, std::vector<float> values) {
        return add(role::input, row, dtype::f32, std::move(values), {});
    }
    dataset& input(shape row, std::vector<std::int32_t> indices) {
        return add(role::input, row, dtype::i32, {}, std::move(indices));
    }
    /// The same of n rows of bytes, which stay bytes in memory, a quarter of what floats take; a
    /// net gets floats in [0, 1], each byte / 255.
    SINTER_SELDOM dataset& pixels(shape row, std::vector<std::byte> bytes);
    SINTER_SELDOM dataset& pixels(shape row, span<const std::uint8_t> bytes);
    /// Class indices, one an example; data_error names the first that is not in [0, classes), if
    /// classes is given.
    dataset& labels(std::vector<std::int32_t> indices, int classes = 0) {
        return labels(extents(1), std::move(indices), classes);
    }
    /// Several an example, n rows of `row`: one for each place of a sequence or an image, say.
    SINTER_SELDOM dataset& labels(shape row, std::vector<std::int32_t> indices, int classes = 0);
    /// Float targets (regression), n rows of `row`.
    dataset& targets(shape row, std::vector<float> values) {
        return add(role::target, row, dtype::f32, std::move(values), {});
    }

    /// How much each example counts in a weighted() loss, 0 not at all.
    dataset& weights(std::vector<float> values) { return weights(extents(1), std::move(values)); }
    /// Several an example, n rows of `row`: one for each place, in a row_weighted() loss.
    dataset& weights(shape row, std::vector<float> values) {
        return add(role::weight, row, dtype::f32, std::move(values), {});
    }

    /// Names the column that was added last, for nets and losses that ask by names (column_list::named):
    /// `data::dataset(extents(4), x).named("flower").labels(kinds, 3).named("kind")`.
    SINTER_SELDOM dataset& named(std::string_view name);
    /// Names all columns, in their order. option_error unless there are as many names, each once.
    SINTER_SELDOM SINTER_COLD dataset& names(std::initializer_list<std::string_view> all);

    std::int64_t size() const { return size_; }
    /// Whether it begins behind another set's first example: then no columns can be added.
    bool is_slice() const { return first_ != 0; }
    const column_list& columns() const { return columns_; }
    /// Address of example i's row in a column: floats, std::int32_t, or bytes.
    const void* row(std::size_t col, std::int64_t i) const {
        return numbers_[col]->address() + (first_ + i) * static_cast<std::int64_t>(columns_[col].stored_bytes());
    }
    /// Examples [first, first + count) of this set; data_error if it has fewer.
    SINTER_SELDOM dataset slice(std::int64_t first, std::int64_t count) const;

    /// The first float input of all examples, [size, extents...]; empty if there is none. Of pixels
    /// the floats are made when they are first asked for, and kept.
    span<const float> x() const { return all<float>(role::input, dtype::f32); }
    span<const std::int32_t> labels() const { return all<std::int32_t>(role::label, dtype::i32); }
    span<const float> targets() const { return all<float>(role::target, dtype::f32); }

private:
    struct numbers {
        std::vector<float> floats;
        std::vector<std::int32_t> ints;
        std::vector<std::byte> bytes;
        mutable std::atomic<const float*> shares{nullptr};   ///< of 255, of all bytes, once somebody has asked

        numbers(std::vector<float> f, std::vector<std::int32_t> i, std::vector<std::byte> b)
            : floats(std::move(f)), ints(std::move(i)), bytes(std::move(b)) {}
        ~numbers() { delete[] shares.load(); }
        SINTER_SELDOM const char* address() const;
        SINTER_SELDOM SINTER_COLD const float* shares_of_255() const;
    };

    SINTER_SELDOM SINTER_COLD dataset& add(role use, shape row, dtype type, std::vector<float> f,
                                           std::vector<std::int32_t> i, std::vector<std::byte> b = {});
    template <class T>
    span<const T> all(role use, dtype type) const {
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const column& found = columns_[c];
            if (found.use != use || found.row.type != type) continue;
            const auto n = static_cast<std::size_t>(size_ * found.width());
            if constexpr (std::is_same_v<T, float>)
                if (found.pixels) return {numbers_[c]->shares_of_255() + first_ * found.width(), n};
            return {static_cast<const T*>(row(c, 0)), n};
        }
        return {};
    }

    std::int64_t first_ = 0, size_ = 0;
    column_list columns_;
    std::shared_ptr<const numbers> numbers_[column_list::most];
};

#if SINTER_BODIES
SINTER_SELDOM_BODY dataset& dataset::pixels(shape row, std::vector<std::byte> bytes) {
    add(role::input, row, dtype::f32, {}, {}, std::move(bytes));
    columns_[columns_.count - 1].pixels = true;
    return *this;
}

SINTER_SELDOM_BODY dataset& dataset::pixels(shape row, span<const std::uint8_t> bytes) {
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
    return pixels(row, std::vector<std::byte>(first, first + bytes.size()));
}

SINTER_SELDOM_BODY dataset& dataset::labels(shape row, std::vector<std::int32_t> indices, int classes) {
    for (std::size_t i = 0; classes > 0 && i < indices.size(); ++i)
        if (indices[i] < 0 || indices[i] >= classes)
            throw data_error("label out of range", to_text({"label ", i}), to_text({indices[i]}),
                             to_text({"0 to ", classes - 1}));
    return add(role::label, row, dtype::i32, {}, std::move(indices));
}

SINTER_SELDOM_BODY dataset& dataset::named(std::string_view name) {
    columns_.named(name);
    return *this;
}

SINTER_SELDOM_BODY dataset& dataset::names(std::initializer_list<std::string_view> all) {
    if (all.size() != columns_.count)
        throw option_error("as many names are needed as columns", "names", to_text({all.size()}),
                           to_text({columns_.count}));
    column_list named = columns_;
    for (column& c : named.at) c.name = nullptr;
    std::size_t c = 0;
    for (const std::string_view name : all) named.name_column(c++, name);
    columns_ = named;
    return *this;
}

SINTER_SELDOM_BODY dataset dataset::slice(std::int64_t first, std::int64_t count) const {
    if (first < 0 || count < 0 || first > size_ - count)
        throw data_error("slice beyond the end", to_text({count, " examples from ", first, " on"}), {},
                         to_text({"at most ", size_}));
    dataset s = *this;
    s.first_ += first;
    s.size_ = count;
    return s;
}

SINTER_SELDOM_BODY const char* dataset::numbers::address() const {
    return !floats.empty() ? reinterpret_cast<const char*>(floats.data())
         : !ints.empty()   ? reinterpret_cast<const char*>(ints.data())
                           : reinterpret_cast<const char*>(bytes.data());
}

SINTER_SELDOM_BODY const float* dataset::numbers::shares_of_255() const {
    if (const float* made = shares) return made;
    float* mine = new float[bytes.size()];
    shares_of_bytes(reinterpret_cast<const std::uint8_t*>(bytes.data()), mine, bytes.size());
    const float* others = nullptr;   // another thread's, if that was faster
    if (shares.compare_exchange_strong(others, mine)) return mine;
    delete[] mine;
    return others;
}

SINTER_SELDOM_BODY dataset& dataset::add(role use, shape row, dtype type, std::vector<float> f,
                                         std::vector<std::int32_t> i, std::vector<std::byte> b) {
    const auto got = static_cast<std::int64_t>(f.size() + i.size() + b.size());   // two of them are empty
    const char* name = use == role::input    ? "input"
                       : use == role::label  ? "labels"
                       : use == role::target ? "targets"
                                             : "weights";
    bool possible = !row.is_too_large();
    std::string said;
    for (int k = 0; k < row.rank; ++k) {
        possible = possible && row.d[k] > 0;
        said += to_text({k ? " x " : "", row.d[k]});
    }
    if (!possible)
        throw data_error("extents that no row can have", name, said, "positive ones, at most 2147483647 numbers");
    if (got % row.size() != 0)
        throw data_error("values do not fill whole rows", name, to_text({got}),
                         to_text({"a multiple of ", row.size()}));
    const std::int64_t n = got / row.size();
    if (columns_.count > 0 && n != size_)
        throw data_error("number of examples differs", name, to_text({n}), to_text({size_}));
    for (const column& c : columns_)
        if (use == role::weight && c.use == use) throw data_error("a set has weights once", name);
    if (first_ != 0)
        throw data_error("columns are added before slicing", name);
    if (columns_.count == column_list::most)
        throw data_error("too many columns", name, {}, to_text({"at most ", column_list::most}));
    row.batched = false;
    row.type = type;
    numbers_[columns_.count].reset(new numbers(std::move(f), std::move(i), std::move(b)));
    size_ = n;   // behind what memory may run out for
    columns_[columns_.count++] = {use, row};
    return *this;
}
#endif

} // namespace sinter::data
