// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/joined.hpp>
#include <sinter/base/span.hpp>
#include <sinter/expr/shape.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sinter::data {

/// What a column of examples is for.
enum class role : std::uint8_t { input, label, target, weight };

/// One array of an example set or of a batch: a row of `row.size()` numbers (float, or std::int32_t) per example.
struct column {
    role use = role::input;
    shape row;
    int width() const { return row.size(); }
    std::size_t bytes() const { return 4 * static_cast<std::size_t>(row.size()); }   // f32 and i32 alike
};

/// The columns of a set or a pipeline, in order. An array and not a vector: this header is in every program, and each
/// vector of yet another type costs its build time and memory.
struct column_list {
    static constexpr std::size_t most = 16;
    column at[most];
    std::size_t count = 0;

    std::size_t size() const { return count; }
    column& operator[](std::size_t i) { return at[i]; }
    const column& operator[](std::size_t i) const { return at[i]; }
    const column* begin() const { return at; }
    const column* end() const { return at + count; }
    /// Numbers of an example in all columns, and their bytes.
    std::size_t width() const {
        std::size_t n = 0;
        for (std::size_t c = 0; c < count; ++c) n += static_cast<std::size_t>(at[c].width());
        return n;
    }
    std::size_t bytes() const { return 4 * width(); }
};

/// Examples in memory: any number of inputs, of int labels and of float targets, and weights if examples do not count alike.
/// Copies and slices share the numbers, which never change, so that passing a set by value costs nothing.
class example_set {
public:
    example_set() = default;
    /// A set with one float input: `values` holds n rows of `row`, contiguously; n follows.
    example_set(shape row, std::vector<float> values) { input(row, std::move(values)); }

    /// One more input of n rows; data_error if it does not fit `row` or the number of examples so far.
    example_set& input(shape row, std::vector<float> values) {
        return add(role::input, row, dtype::f32, std::move(values), {});
    }
    example_set& input(shape row, std::vector<std::int32_t> indices) {
        return add(role::input, row, dtype::i32, {}, std::move(indices));
    }
    /// Class indices, one an example; data_error names the first that is not in [0, classes), if classes is given.
    example_set& labels(std::vector<std::int32_t> indices, int classes = 0) {
        return labels(extents(1), std::move(indices), classes);
    }
    /// Several an example, n rows of `row`: one for each place of a sequence or an image, say.
    example_set& labels(shape row, std::vector<std::int32_t> indices, int classes = 0) {
        for (std::size_t i = 0; classes > 0 && i < indices.size(); ++i)
            if (indices[i] < 0 || indices[i] >= classes)
                throw data_error("label out of range", joined({"label ", i}), joined({indices[i]}), joined({"0 to ", classes - 1}));
        return add(role::label, row, dtype::i32, {}, std::move(indices));
    }
    /// Float targets (regression), n rows of `row`.
    example_set& targets(shape row, std::vector<float> values) {
        return add(role::target, row, dtype::f32, std::move(values), {});
    }

    /// How much each example counts in a weighted() loss, 0 not at all.
    example_set& weights(std::vector<float> values) { return weights(extents(1), std::move(values)); }
    /// Several an example, n rows of `row`: one for each place, in a row_weighted() loss.
    example_set& weights(shape row, std::vector<float> values) {
        return add(role::weight, row, dtype::f32, std::move(values), {});
    }

    std::int64_t size() const { return size_; }
    const column_list& columns() const { return columns_; }
    /// Address of example i's row in a column.
    const void* row(std::size_t col, std::int64_t i) const {
        return numbers_[col]->address() + (first_ + i) * columns_[col].width() * 4;
    }
    /// Examples [first, first + count) of this set; data_error if it has fewer.
    example_set slice(std::int64_t first, std::int64_t count) const {
        if (first < 0 || count < 0 || first > size_ - count)
            throw data_error("slice beyond the end", joined({"examples ", first, " to ", first + count}), {},
                             joined({"at most ", size_}));
        example_set s = *this;
        s.first_ += first;
        s.size_ = count;
        return s;
    }

    /// The first float input of all examples, [size, extents...]; empty if there is none.
    span<const float> x() const { return all<float>(role::input, dtype::f32); }
    span<const std::int32_t> labels() const { return all<std::int32_t>(role::label, dtype::i32); }
    span<const float> targets() const { return all<float>(role::target, dtype::f32); }

private:
    struct numbers {
        std::vector<float> floats;
        std::vector<std::int32_t> ints;
        const char* address() const {
            return floats.empty() ? reinterpret_cast<const char*>(ints.data())
                                  : reinterpret_cast<const char*>(floats.data());
        }
    };

    SINTER_COLD example_set& add(role use, shape row, dtype type, std::vector<float> f, std::vector<std::int32_t> i) {
        const auto got = static_cast<std::int64_t>(type == dtype::f32 ? f.size() : i.size());
        const char* name = use == role::input ? "input" : use == role::label ? "labels" : use == role::target ? "targets" : "weights";
        if (row.size() <= 0 || got % row.size() != 0)
            throw data_error("values do not fill whole rows", name, joined({got}), joined({"a multiple of ", row.size()}));
        const std::int64_t n = got / row.size();
        if (columns_.count > 0 && n != size_)
            throw data_error("number of examples differs", name, joined({n}), joined({size_}));
        for (const column& c : columns_)
            if (use == role::weight && c.use == use) throw data_error("a set has weights once", name);
        if (first_ != 0)
            throw data_error("columns are added before slicing", name);
        if (columns_.count == column_list::most)
            throw data_error("too many columns", name, {}, joined({"at most ", column_list::most}));
        row.batched = false;
        row.type = type;
        size_ = n;
        numbers_[columns_.count].reset(new numbers{std::move(f), std::move(i)});
        columns_[columns_.count++] = {use, row};
        return *this;
    }
    template <class T>
    span<const T> all(role use, dtype type) const {
        for (std::size_t c = 0; c < columns_.size(); ++c)
            if (columns_[c].use == use && columns_[c].row.type == type)
                return {static_cast<const T*>(row(c, 0)), static_cast<std::size_t>(size_ * columns_[c].width())};
        return {};
    }

    std::int64_t first_ = 0, size_ = 0;
    column_list columns_;
    std::shared_ptr<const numbers> numbers_[column_list::most];
};

} // namespace sinter::data
