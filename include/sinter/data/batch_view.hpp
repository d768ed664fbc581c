// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/example_set.hpp>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace sinter::data {

/// Where a pipeline is: passes completed, and examples delivered since in this one.
struct position {
    std::int64_t epoch = 0, index = 0;
    bool operator==(const position&) const = default;
};

/// One input of a batch, [size, row...]: `values` for float inputs, `indices` for int ones; the other is null.
struct input_view {
    const float* values = nullptr;
    const std::int32_t* indices = nullptr;
    int width = 0;   ///< numbers an example
};

/// What a training step is handed. Every array starts at a multiple of 64 bytes and is good until the next batch.
struct batch_view {
    const float* x = nullptr;               ///< the first float input, [size, extents...]; null if there is none
    const std::int32_t* labels = nullptr;   ///< [size], or several an example, [size, extents...]; null without labels
    const float* y = nullptr;               ///< targets, [size, extents...]; null without
    int size = 0;                           ///< examples in this batch: at most the batch size
    std::span<const input_view> inputs{};   ///< every input in the order in which the set has them
    /// Labels and numbers of y an example. A pipeline always says; 0, in a batch made by hand, vouches for as many as the
    /// program wants.
    int label_width = 0, y_width = 0;
};

/// Memory of one batch, used again and again. Moving it moves the addresses along.
class batch_buffer {
public:
    static constexpr std::size_t alignment = 64;

    batch_buffer() = default;
    batch_buffer(const column_list& columns, int capacity) {
        std::size_t total = 0, offset[column_list::most];
        for (std::size_t c = 0; c < columns.size(); ++c) {
            offset[c] = total;
            total += (columns[c].bytes() * static_cast<std::size_t>(capacity) + alignment - 1) / alignment * alignment;
        }
        memory_ = static_cast<char*>(::operator new(total + alignment, std::align_val_t{alignment}));
        std::memset(memory_, 0, total + alignment);   // a vector load of the last row may read a little beyond it
        for (std::size_t c = 0; c < columns.size(); ++c) {
            char* at = memory_ + offset[c];
            const auto* f = reinterpret_cast<const float*>(at);
            const auto* i = reinterpret_cast<const std::int32_t*>(at);
            const bool is_float = columns[c].row.type == dtype::f32;
            rows_[columns_++] = {at, columns[c].bytes()};
            if (columns[c].use == role::label) view_.labels = i, view_.label_width = columns[c].width();
            if (columns[c].use == role::target) view_.y = f, view_.y_width = columns[c].width();
            if (columns[c].use != role::input) continue;
            inputs_[input_count_++] = {is_float ? f : nullptr, is_float ? nullptr : i, columns[c].width()};
            if (is_float && !view_.x) view_.x = f;
        }
        view_.inputs = {inputs_, input_count_};
    }
    batch_buffer(batch_buffer&& o) noexcept { swap(o); }
    batch_buffer& operator=(batch_buffer&& o) noexcept {
        swap(o);
        return *this;
    }
    ~batch_buffer() {
        if (memory_) ::operator delete(memory_, std::align_val_t{alignment});
    }
    void swap(batch_buffer& o) noexcept {
        std::swap(memory_, o.memory_);
        std::swap(rows_, o.rows_);
        std::swap(columns_, o.columns_);
        std::swap(inputs_, o.inputs_);
        std::swap(input_count_, o.input_count_);
        std::swap(view_, o.view_);
        view_.inputs = {inputs_, input_count_};   // each view shows its own buffer's
        o.view_.inputs = {o.inputs_, o.input_count_};
        std::swap(after, o.after);
    }

    explicit operator bool() const { return memory_ != nullptr; }
    const batch_view& view() const { return view_; }
    void clear() { view_.size = 0; }
    /// Copies one example, given as one row address a column, behind those already here.
    void append(const void* const* rows) {
        for (std::size_t c = 0; c < columns_; ++c)
            std::memcpy(rows_[c].at + rows_[c].bytes * static_cast<std::size_t>(view_.size), rows[c], rows_[c].bytes);
        ++view_.size;
    }

    position after;   ///< of the pipeline once this batch has been delivered

private:
    struct row_place {
        char* at;
        std::size_t bytes;
    };
    char* memory_ = nullptr;
    row_place rows_[column_list::most]{};
    input_view inputs_[column_list::most];
    std::size_t columns_ = 0, input_count_ = 0;
    batch_view view_;
};

} // namespace sinter::data
