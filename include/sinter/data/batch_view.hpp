// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
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

/// One input or target of a batch, [size, row...]: `values` for floats, `indices` for whole numbers; the other is null.
struct input_view {
    const float* values = nullptr;
    const std::int32_t* indices = nullptr;
    int width = 0;   ///< numbers an example
};

/// What a training step is handed. Every array starts at a multiple of 64 bytes and is good until the next batch.
struct batch_view {
    const float* x = nullptr;               ///< the first float input, [size, extents...]; null if there is none
    const std::int32_t* labels = nullptr;   ///< [size], or several an example, [size, extents...]; null without labels
    const float* y = nullptr;               ///< targets, [size, extents...]; null without (of several: the first)
    int size = 0;                           ///< examples in this batch: at most the batch size
    std::span<const input_view> inputs{};   ///< every input in the order in which the set has them
    /// Labels and numbers of y an example. A pipeline always says; 0, in a batch made by hand, vouches for as many as the
    /// program wants.
    int label_width = 0, y_width = 0;
    /// How much each example counts, [size], or each of its places, [size, extents...]; null without weights.
    const float* weights = nullptr;
    int weight_width = 0;                   ///< as label_width
    /// All labels and targets in the order in which the set has them. A batch made by hand needs them only where a loss takes
    /// several of a kind: labels and y are the first ones.
    std::span<const input_view> targets{};
};

/// Memory of one batch, used again and again. Moving it moves the addresses along.
class batch_buffer {
public:
    static constexpr std::size_t alignment = 64;

    batch_buffer() = default;
    SINTER_COLD batch_buffer(const column_list& columns, int capacity) {
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
            const role use = columns[c].use;
            const int width = columns[c].width();
            if (use == role::label && !view_.labels) view_.labels = i, view_.label_width = width;
            if (use == role::target && !view_.y) view_.y = f, view_.y_width = width;
            if (use == role::weight) view_.weights = f, view_.weight_width = width;
            if (use == role::input && is_float && !view_.x) view_.x = f;
            const input_view all{is_float ? f : nullptr, is_float ? nullptr : i, width};
            if (use == role::input) inputs_[input_count_++] = all;
            else if (use != role::weight) targets_[target_count_++] = all;
        }
        show_own();
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
        std::swap(targets_, o.targets_);
        std::swap(input_count_, o.input_count_);
        std::swap(target_count_, o.target_count_);
        std::swap(view_, o.view_);
        show_own();
        o.show_own();
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
    input_view inputs_[column_list::most], targets_[column_list::most];
    std::size_t columns_ = 0, input_count_ = 0, target_count_ = 0;
    batch_view view_;

    void show_own() {   // of this buffer, wherever it has been moved to
        view_.inputs = {inputs_, input_count_};
        view_.targets = {targets_, target_count_};
    }
};

} // namespace sinter::data
