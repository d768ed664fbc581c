// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/description.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/batch_view.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/data/type_text.hpp>
#include <cstdint>
#include <memory>

/// What the parts of an input pipeline promise each other. Every part is pulled: nothing happens
/// until somebody asks.
namespace sinter::inline SINTER_ORDINARY::data {

/// In place of a number of examples.
inline constexpr std::int64_t unknown_size = -1, endless = -2;

/// A part that yields examples, in passes over the data. The sequence of a pass is a pure function
/// of the pass's number, which is what makes pipelines restartable without saving their buffers.
class example_stage {
public:
    virtual ~example_stage() = default;
    virtual const column_list& columns() const = 0;
    /// Examples in a pass, or unknown_size or endless.
    virtual std::int64_t size() const = 0;
    /// Goes to the first example of pass 0, 1, ...
    virtual void begin(std::int64_t pass) = 0;
    /// Writes one row address per column; false, for good, at the end of the pass. A row is good
    /// until the next call.
    virtual bool next(const void** rows) = 0;
    /// If all rows lie in memory as long as the stage does: the columns' arrays. Then next_places()
    /// may stand for next().
    virtual const row_array* arrays() const { return nullptr; }
    /// Writes up to n places of the next examples in arrays(); fewer at the end of the pass.
    virtual int next_places(std::uint32_t*, int) { return 0; }
    /// Leaves out n examples, as if they had been pulled; cheaper where a part can.
    SINTER_APART virtual void skip(std::int64_t n);
    /// Says what of this part the members of a job must share, who read the same data: its kind and its settings
    /// (base/description.hpp). One behind another part begins with `up->describe(d)`. What is told must never
    /// change, for another thread may pull meanwhile. Without it: the class's name.
    SINTER_APART virtual void describe(description& d) const;

protected:
    /// next() by next_places().
    SINTER_SELDOM bool next_in_arrays(const void** rows);
};

/// A part that yields batches.
class batch_stage {
public:
    virtual ~batch_stage() = default;
    virtual const column_list& columns() const = 0;
    virtual std::int64_t size() const = 0;   ///< examples in a pass, or unknown_size or endless
    virtual int batch_size() const = 0;
    /// Fills the buffer with the next batch and its `after`; false, with `after` alone, at the end
    /// of a pass. The next call then starts the next pass. May swap the buffer for another of the
    /// same kind.
    virtual bool fill(batch_buffer& into) = 0;
    virtual void seek(position to) = 0;
    /// format_error where this cannot be a place of this pipeline; it may come from a damaged file.
    SINTER_APART SINTER_COLD virtual void need_place(const position& at) const;
    /// Which examples of its batches are computed from now on, where a part can leave the others out: then the next
    /// fill() may first have to compute anew what was prepared. By default all of them always.
    SINTER_COLD virtual void share(batch_share) {}
    /// The caller is worker number `index` of `count` from now on. By default that changes nothing.
    SINTER_COLD virtual void be_worker([[maybe_unused]] int index, [[maybe_unused]] int count) {}
    /// Computes these examples of the batch that fill() gave last as well. Only where share() has effect, and neither
    /// seek() nor share() came since.
    SINTER_APART SINTER_COLD virtual void refill(batch_buffer& into, example_range examples);
    SINTER_APART virtual void describe(description& d) const;   ///< as example_stage's
};

namespace detail {
/// format_error for a place that has cursors, among data that are found by their index.
SINTER_SELDOM SINTER_COLD void need_no_cursors(const position& at);
/// "input 28 x 28 x 1 (pixels), labels 1"
SINTER_SELDOM SINTER_COLD std::string text_of(const column_list& columns);
} // namespace detail

/// The examples' half of a pipeline, before batch(): what source() gives, and what shuffle, map and
/// repeat take and give. A dataset converts to it implicitly.
class examples {
public:
    SINTER_APART examples(dataset set);
    /// Takes it over. option_error where columns have types that their roles do not; the stage is
    /// deleted then, too.
    SINTER_APART explicit examples(example_stage* last, int maps = 0);

    const column_list& columns() const { return last_->columns(); }
    std::int64_t size() const { return last_->size(); }
    int maps() const { return maps_; }   ///< how many maps so far: each draws from a random stream of its own
    std::unique_ptr<example_stage> release() { return std::move(last_); }

private:
    std::unique_ptr<example_stage> last_;
    int maps_ = 0;
};

/// Starts a pipeline: `source(set) | shuffle(10'000) | batch(64)`. The set is shared, not copied.
SINTER_SELDOM examples source(dataset set);

#if SINTER_BODIES
SINTER_COLD SINTER_APART void example_stage::describe(description& d) const { d.stage(class_text(*this)); }
SINTER_COLD SINTER_APART void batch_stage::describe(description& d) const { d.stage(class_text(*this)); }
SINTER_COLD SINTER_APART void batch_stage::need_place(const position& at) const { detail::need_no_cursors(at); }
SINTER_COLD SINTER_APART void batch_stage::refill(batch_buffer&, example_range) {
    throw option_error("these batches are always whole", class_text(*this), "other examples of one", "none");
}

SINTER_APART void example_stage::skip(std::int64_t n) {
    constexpr int most = 256;
    const void* rows[column_list::most];
    std::uint32_t places[most];
    if (!arrays()) {
        while (n > 0 && next(rows)) --n;
        return;
    }
    for (int got = most; n > 0 && got == most; n -= got)
        got = next_places(places, n < most ? static_cast<int>(n) : most);
}

SINTER_SELDOM_BODY bool example_stage::next_in_arrays(const void** rows) {
    std::uint32_t place;
    if (next_places(&place, 1) == 0) return false;
    for (std::size_t c = 0; c < columns().size(); ++c) rows[c] = arrays()[c].row(place);
    return true;
}

namespace detail {
SINTER_SELDOM_BODY void need_no_cursors(const position& at) {
    if (!at.cursors.empty())
        throw format_error("a place among other data", "where a pipeline was",
                           to_text({at.cursors.size(), " bytes of cursors"}), "none: its elements are found by number");
}

SINTER_SELDOM_BODY std::string text_of(const column_list& columns) {
    constexpr const char* uses[] = {"input", "labels", "targets", "weights"};
    std::string all;
    for (const column& c : columns) {
        all += to_text({all.empty() ? "" : ", ", uses[static_cast<int>(c.use)],
                       c.use == role::input && c.row.type == dtype::i32 ? " of indices" : ""});
        for (int i = 0; i < c.row.rank; ++i) all += to_text({i ? " x " : " ", c.row.d[i]});
        if (c.pixels) all += " (pixels)";
        if (c.name) all += to_text({" \"", c.name, "\""});
    }
    return all;
}

/// What rows there are, and which: their number, and hashes of the first and the last.
template <class Row>
SINTER_COLD void describe_rows(description& d, const column_list& columns, std::int64_t n, Row row) {
    d("examples", n);
    for (const bool last : {false, true}) {
        base::fnv1a_hash h;
        for (std::size_t c = 0; n > 0 && c < columns.size(); ++c) {
            const void* const at = row(c, last ? n - 1 : 0);
            for (std::size_t b = 0; b < columns[c].stored_bytes(); ++b) h.add(static_cast<const unsigned char*>(at)[b]);
        }
        d(last ? "the last example (its hash)" : "the first example (its hash)", h.value());
    }
}

/// option_error where labels are no integers, or targets or weights no floats.
SINTER_COLD inline void need_fitting(const column_list& columns) {
    for (const column& c : columns)
        if (c.use != role::input && (c.use == role::label) != (c.row.type == dtype::i32))
            throw option_error(c.use == role::label ? "labels must be int32" : "targets and weights must be float32",
                               "columns of a source", {}, "what labels(), targets() and weights() of column_list say");
}
} // namespace detail

SINTER_APART examples::examples(example_stage* last, int maps)
    : last_(last), maps_(maps) {
    detail::need_fitting(last_->columns());
}

/// Examples of a set in the order in which they lie in memory.
class source_stage final : public example_stage {
public:
    explicit source_stage(dataset set) : set_(std::move(set)) {
        for (std::size_t c = 0; c < columns().size(); ++c) arrays_[c] = {set_.row(c, 0), columns()[c].stored_bytes()};
    }
    const column_list& columns() const override { return set_.columns(); }
    std::int64_t size() const override { return set_.size(); }
    void begin(std::int64_t) override { at_ = 0; }
    bool next(const void** rows) override {
        if (at_ >= set_.size()) return false;
        for (std::size_t c = 0; c < columns().size(); ++c) rows[c] = set_.row(c, at_);
        ++at_;
        return true;
    }
    const row_array* arrays() const override { return set_.size() <= most_places ? arrays_ : nullptr; }
    int next_places(std::uint32_t* to, int n) override {
        const std::int64_t left = set_.size() - at_;
        if (left < n) n = static_cast<int>(left);
        for (int i = 0; i < n; ++i) to[i] = static_cast<std::uint32_t>(at_ + i);
        at_ += n;
        return n;
    }
    void skip(std::int64_t n) override { at_ = n < set_.size() - at_ ? at_ + n : set_.size(); }
    SINTER_COLD void describe(description& d) const override {
        d.stage("examples in memory");
        detail::describe_rows(d, columns(), set_.size(), [&](std::size_t c, std::int64_t i) { return set_.row(c, i); });
    }

private:
    static constexpr std::int64_t most_places = std::int64_t{1} << 32;

    dataset set_;
    std::int64_t at_ = 0;
    row_array arrays_[column_list::most];
};

SINTER_APART examples::examples(dataset set) : last_(new source_stage(std::move(set))) {}

SINTER_SELDOM_BODY examples source(dataset set) { return examples(std::move(set)); }
#endif

} // namespace sinter::data
