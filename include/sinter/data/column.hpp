// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/interned.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/graph/shape.hpp>
#include <sinter/data/shares_of_bytes.hpp>
#include <cstdint>
#include <cstring>

namespace sinter::inline SINTER_ORDINARY::data {

/// What a column of examples is for.
enum class role : std::uint8_t { input, label, target, weight };

/// One array of an example set or of a batch: a row of `row.size()` numbers (float, or
/// std::int32_t) per example. As pixels, what a stage hands on are rows of bytes, of which a batch
/// makes floats, each byte / 255.
struct column {
    role use = role::input;
    shape row;
    bool pixels = false;
    const char* name = nullptr;   ///< of base::interned; null: it has none, and is found by its place
    int width() const { return row.size(); }
    std::size_t bytes() const {
        return 4 * static_cast<std::size_t>(row.size());
    }   ///< of a row in a batch; f32 and i32 alike
    std::size_t stored_bytes() const { return pixels ? bytes() / 4 : bytes(); }   ///< of a row that a stage hands on
};

/// The columns of a set or a pipeline, in order. An array and not a vector: this header is in every
/// program, and each vector of yet another type costs its build time and memory.
struct column_list {
    static constexpr std::size_t most = 16;
    column at[most];
    std::size_t count = 0;

    /// One more column; option_error for more than `most`. Rows of labels and indices are of
    /// std::int32_t, all others of floats.
    column_list& input(const shape& row) { return add(role::input, row, dtype::f32); }
    column_list& indices(const shape& row) { return add(role::input, row, dtype::i32); }
    column_list& labels(const shape& row = extents(1)) { return add(role::label, row, dtype::i32); }
    column_list& targets(const shape& row) { return add(role::target, row, dtype::f32); }
    column_list& weights(const shape& row = extents(1)) { return add(role::weight, row, dtype::f32); }
    /// Names the column that was added last: `columns.input(extents(3)).named("place")`. A net whose
    /// inputs have names (input<"place">), or a loss whose targets have (expects<"price">), gets its
    /// columns by them. option_error without a column, for an empty name, or for one that another of
    /// the inputs, or of the labels and targets, has.
    SINTER_APART column_list& named(std::string_view name);
    SINTER_APART column_list& name_column(std::size_t c, std::string_view name);

    std::size_t size() const { return count; }
    column& operator[](std::size_t i) { return at[i]; }
    const column& operator[](std::size_t i) const { return at[i]; }
    const column* begin() const { return at; }
    const column* end() const { return at + count; }
    /// Numbers of an example in all columns, and their bytes in a batch.
    SINTER_APART std::size_t width() const;
    std::size_t bytes() const { return 4 * width(); }

private:
    SINTER_APART column_list& add(role use, shape row, dtype type);
};

/// Rows that lie in memory, a stride of bytes apart: what a column's examples are.
struct row_array {
    const void* first = nullptr;
    std::size_t stride = 0;
    const char* row(std::uint32_t place) const { return static_cast<const char*>(first) + place * stride; }
};

#if SINTER_BODIES
SINTER_APART column_list& column_list::named(std::string_view name) {
    if (count == 0) throw option_error("there is no column to name", "named", base::interned(name), "a column");
    return name_column(count - 1, name);
}

SINTER_COLD SINTER_APART column_list& column_list::name_column(std::size_t c, std::string_view name) {
    const auto is_input = [&](std::size_t i) { return at[i].use == role::input; };
    if (name.empty()) throw option_error("a column's name is empty", to_text({"column ", c}), {}, "a name");
    for (std::size_t i = 0; i < count; ++i)
        if (i != c && at[i].name && at[i].name == name && is_input(i) == is_input(c))
            throw option_error("two columns of one name", to_text({"columns ", i, " and ", c}), at[i].name,
                               "a name of its own for each input, and for each of labels and targets");
    at[c].name = base::interned(name);
    return *this;
}

SINTER_APART std::size_t column_list::width() const {
    std::size_t n = 0;
    for (std::size_t c = 0; c < count; ++c) n += static_cast<std::size_t>(at[c].width());
    return n;
}

SINTER_COLD SINTER_APART column_list& column_list::add(role use, shape row, dtype type) {
    if (count == most) throw option_error("too many columns", "column_list", {}, to_text({"at most ", most}));
    row.batched = false;
    row.type = type;
    at[count++] = {use, row};
    return *this;
}

/// Copies a row that a stage hands on to its place in a batch, where it has so many bytes, a
/// multiple of four.
inline void unpack(void* to, const void* from, std::size_t bytes, bool pixels) {
    constexpr std::size_t piece = 16, worth_a_call = 256;
    if (pixels) return shares_of_bytes(static_cast<const std::uint8_t*>(from), static_cast<float*>(to), bytes / 4);
    if (bytes > worth_a_call) {
        std::memcpy(to, from, bytes);
        return;
    }
    char* t = static_cast<char*>(to);
    const char* f = static_cast<const char*>(from);
    if (bytes < piece) {
        for (std::size_t b = 0; b < bytes; b += 4) std::memcpy(t + b, f + b, 4);
        return;
    }
    for (std::size_t b = 0; b + piece < bytes; b += piece) std::memcpy(t + b, f + b, piece);
    std::memcpy(t + bytes - piece, f + bytes - piece, piece);   // may meet the one before
}
#endif

} // namespace sinter::data
