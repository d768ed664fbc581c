// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/batch_view.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/prefetch.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/dataset.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

/// Where a pipeline is: passes completed, and examples delivered since in this one.
struct position {
    std::int64_t epoch = 0, index = 0;
    /// Where stages are whose elements come one after the other (data/stages/cursor_bytes.hpp); empty where index says
    /// it. Without it such a stage reads again what comes before.
    std::string cursors{};
    bool operator==(const position&) const = default;
};

using sinter::batch_view;
using sinter::input_view;

/// Memory of one batch, used again and again. It stays where it is when the buffer is moved.
class batch_buffer {
public:
    static constexpr std::size_t alignment = 64;

    batch_buffer() = default;
    SINTER_APART batch_buffer(const column_list& columns, int capacity);

    explicit operator bool() const { return own_ != nullptr; }
    const batch_view& view() const { return own_->view; }
    void clear() { set_part({}, 0); }
    /// Copies one example, given as one row address a column, behind those already here.
    SINTER_APART void append(const void* const* rows);
    /// The same of n at these places of the columns' arrays. Small rows are asked for some before
    /// they are copied: after a shuffle they lie anywhere, and one by one each copy would wait for
    /// its memory. Of large ones processors ask for enough by themselves.
    SINTER_APART void append(const row_array* arrays, const std::uint32_t* places, int n);

    /// Where row i of column c lies, for who writes rows in an order of their own; set_size() then says how many there
    /// are.
    void* row(std::size_t c, int i) {
        return own_->rows[c].at + own_->rows[c].bytes * static_cast<std::size_t>(i);
    }
    void set_size(int n) { own_->view.size = n; }
    /// The rows are these examples alone of a batch of `whole`.
    void set_part(example_range part, int whole) {
        own_->view.size = part.size;
        own_->view.first = part.first;
        own_->view.whole = whole;
    }
    /// Moves the first n rows so many rows back. There is room for them.
    SINTER_SELDOM SINTER_COLD void move_back(int n, int rows);
    /// The view's other examples can be computed so (batch_view::compute).
    void set_compute(void (*f)(void*, example_range), void* by) {
        own_->view.compute = f;
        own_->view.by = by;
    }

    /// So many rows of this size before one is copied it is asked for.
    static constexpr int rows_ahead(std::size_t bytes) {
        constexpr std::size_t worth = 8192, most = 16, large = 4096;
        return bytes > large ? 0 : static_cast<int>(bytes * most > worth ? worth / bytes : most);
    }

    position after;   ///< of the pipeline once this batch has been delivered

private:
    /// Where a column's rows go.
    struct row_place {
        char* at;
        std::size_t bytes, stored_bytes;   ///< of a row here, and where it is copied from
        int ahead;                         ///< so many rows before one is copied it is asked for

        void put(int i, const void* row) const;
        void prefetch(const char* row) const { base::prefetch_lines(row, static_cast<std::int64_t>(stored_bytes)); }
    };
    struct contents {
        char* memory = nullptr;
        row_place rows[column_list::most];
        std::size_t columns = 0;
        input_view inputs[column_list::most], targets[column_list::most];
        batch_view view;

        contents() = default;
        contents(const contents&) = delete;
        contents& operator=(const contents&) = delete;
        ~contents() { ::operator delete(memory, std::align_val_t{alignment}); }
    };
    std::unique_ptr<contents> own_;
};

#if SINTER_BODIES
inline void batch_buffer::row_place::put(int i, const void* row) const {
    unpack(at + bytes * static_cast<std::size_t>(i), row, bytes, stored_bytes != bytes);
}

SINTER_COLD SINTER_APART batch_buffer::batch_buffer(const column_list& columns, int capacity)
    : own_(new contents) {
    contents& o = *own_;
    std::size_t total = 0, offset[column_list::most], inputs = 0, targets = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        offset[c] = total;
        total += (columns[c].bytes() * static_cast<std::size_t>(capacity) + alignment - 1) / alignment * alignment;
    }
    o.memory = static_cast<char*>(::operator new(total + alignment, std::align_val_t{alignment}));
    std::memset(o.memory, 0, total + alignment);   // a vector load of the last row may read a little beyond it
    for (std::size_t c = 0; c < columns.size(); ++c) {
        char* at = o.memory + offset[c];
        const auto* f = reinterpret_cast<const float*>(at);
        const auto* i = reinterpret_cast<const std::int32_t*>(at);
        const bool is_float = columns[c].row.type == dtype::f32;
        o.rows[o.columns++] = {at, columns[c].bytes(), columns[c].stored_bytes(),
                               rows_ahead(columns[c].stored_bytes())};
        const role use = columns[c].use;
        const int width = columns[c].width();
        if (use == role::label && !o.view.labels) o.view.labels = i, o.view.label_width = width;
        if (use == role::target && !o.view.y) o.view.y = f, o.view.y_width = width;
        if (use == role::weight) o.view.weights = f, o.view.weight_width = width;
        if (use == role::input && is_float && !o.view.x) o.view.x = f;
        const input_view all{is_float ? f : nullptr, is_float ? nullptr : i, width, columns[c].name};
        if (use == role::input) o.inputs[inputs++] = all;
        else if (use != role::weight) o.targets[targets++] = all;
    }
    o.view.inputs = {o.inputs, inputs};
    o.view.targets = {o.targets, targets};
}

SINTER_SELDOM_BODY void batch_buffer::move_back(int n, int rows) {
    for (std::size_t c = 0; c < own_->columns; ++c) {
        const row_place& r = own_->rows[c];
        std::memmove(r.at + static_cast<std::size_t>(rows) * r.bytes, r.at, static_cast<std::size_t>(n) * r.bytes);
    }
}

SINTER_APART void batch_buffer::append(const void* const* rows) {
    contents& o = *own_;
    for (std::size_t c = 0; c < o.columns; ++c) o.rows[c].put(o.view.size, rows[c]);
    ++o.view.size;
}

SINTER_APART void batch_buffer::append(const row_array* arrays, const std::uint32_t* places, int n) {
    contents& o = *own_;
    for (std::size_t c = 0; c < o.columns; ++c)
        for (int i = 0; i < o.rows[c].ahead && i < n; ++i) o.rows[c].prefetch(arrays[c].row(places[i]));
    for (std::size_t c = 0; c < o.columns; ++c) {
        const row_place to = o.rows[c];       // copies, for what rows are written to could be any of these
        const row_array from = arrays[c];
        for (int i = 0; i < n; ++i) {
            if (to.ahead > 0 && i + to.ahead < n) to.prefetch(from.row(places[i + to.ahead]));
            to.put(o.view.size + i, from.row(places[i]));
        }
    }
    o.view.size += n;
}
#endif

} // namespace sinter::data
