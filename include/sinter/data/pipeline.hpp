// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/stage.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

/// A finished pipeline: a cursor over batches. It always goes on from position(); a loop over it
/// runs to the end of the pass, and the next loop is the next pass:
///
///     for (int epoch = 0; epoch < 5; ++epoch)
///         for (const data::batch_view& b : pipeline) train(b);
///
/// Leaving a loop early leaves the cursor where it is: rewind() or seek() to go elsewhere. What only
/// looks at the data (evaluate, predict) leaves it where it was. Errors
/// of sources and mapped functions come out of next() or the loop, also where another thread met
/// them.
class pipeline {
public:
    explicit pipeline(batch_stage* last) : last_(last), made_with_(last->size()) {}   ///< takes it over

    /// The next batch, good until the next call; null at the end of a pass.
    SINTER_SELDOM const batch_view* next();
    /// What a checkpoint must keep so that seek() leads to the same remaining batches.
    data::position position() const { return position_; }
    /// Goes to a place that position() has told. Within a pass the order is replayed without
    /// computing examples anew where that is possible.
    SINTER_SELDOM SINTER_COLD void seek(data::position to);
    /// option_error or format_error where this is no place of this pipeline.
    SINTER_SELDOM SINTER_COLD void need_place(const data::position& at) const;
    void rewind() { seek({}); }   ///< to the beginning of the first pass
    /// Calls f(batch) for each batch of the present pass, from its beginning, until it answers false. The pipeline is
    /// then where it was, also behind an exception, and the batch that next() gave is still good. Within a pass the
    /// next batch costs what seek() to there costs.
    SINTER_SELDOM SINTER_COLD void look_over_pass(base::function_ref<bool(const batch_view&)> f, batch_share s = {});

    /// Which examples of its batches the caller needs from now on. Where the pipeline can it computes no others:
    /// batches then say which ones they have (batch_view::whole), and compute others when they are asked to. It is
    /// all of them until somebody says otherwise.
    void share(batch_share s) {
        if (!(s == share_)) change_share(s);
    }
    /// The caller is worker number `index` of `count` from now on, for a pipeline that each has its own of
    /// (data/per_worker.hpp).
    void be_worker(int index, int count) { last_->be_worker(index, count); }

    int batch_size() const { return last_->batch_size(); }
    std::int64_t size() const { return last_->size(); }   ///< examples in a pass, or unknown_size or endless
    const column_list& columns() const { return last_->columns(); }
    std::int64_t size_when_made() const { return made_with_; }   ///< as size(), but for what a pass has told since
    /// What members that read the same data must share: batches, columns, and all stages with their settings.
    SINTER_SELDOM SINTER_COLD void describe(description& d) const;
    std::unique_ptr<batch_stage> release() { return std::move(last_); }

    struct end_of_pass {};
    class iterator {
    public:
        explicit iterator(pipeline* p) : pipeline_(p), batch_(p->next()) {}
        const batch_view& operator*() const { return *batch_; }
        const batch_view* operator->() const { return batch_; }
        SINTER_APART iterator& operator++();
        bool operator==(end_of_pass) const { return batch_ == nullptr; }

    private:
        pipeline* pipeline_;
        const batch_view* batch_;
    };
    iterator begin() { return iterator(this); }
    end_of_pass end() const { return {}; }

private:
    std::unique_ptr<batch_stage> last_;
    std::int64_t made_with_;   ///< examples in a pass, as far as was known at first
    batch_buffer buffer_;
    data::position position_;
    batch_share share_{};

    SINTER_SELDOM SINTER_COLD void change_share(batch_share s);
    SINTER_SELDOM SINTER_COLD static void compute(void* of, example_range examples);
};

#if SINTER_BODIES
SINTER_SELDOM_BODY const batch_view* pipeline::next() {
    if (!buffer_) buffer_ = batch_buffer(last_->columns(), last_->batch_size());
    const bool more = last_->fill(buffer_);
    position_ = buffer_.after;
    if (buffer_.view().whole) buffer_.set_compute(&compute, this);
    return more ? &buffer_.view() : nullptr;
}

SINTER_SELDOM_BODY void pipeline::change_share(batch_share s) {
    last_->share(s);
    share_ = s;
}

SINTER_SELDOM_BODY void pipeline::compute(void* of, example_range examples) {
    auto& p = *static_cast<pipeline*>(of);
    p.last_->refill(p.buffer_, examples);
}

SINTER_SELDOM_BODY void pipeline::need_place(const data::position& at) const {
    if (at.epoch < 0 || at.index < 0)
        throw option_error("impossible position", "seek",
                           to_text({at.epoch, ", ", at.index}), "an epoch and index >= 0");
    last_->need_place(at);
}

SINTER_SELDOM_BODY void pipeline::seek(data::position to) {
    need_place(to);
    last_->seek(to);
    position_ = to;
}

SINTER_SELDOM_BODY void pipeline::look_over_pass(base::function_ref<bool(const batch_view&)> f, batch_share s) {
    const data::position at = position_;
    const batch_share before = share_;
    batch_buffer own(last_->columns(), last_->batch_size());
    const auto return_to = [&] {
        share(before);
        last_->seek(at);
    };
    try {
        share(s);
        if (at.index != 0) last_->seek({at.epoch, 0});
        while (last_->fill(own))
            if (!f(own.view())) break;
    } catch (...) {
        try {
            return_to();
        } catch (...) {   // the first error is the one to tell
        }
        throw;
    }
    return_to();
}

SINTER_SELDOM_BODY void pipeline::describe(description& d) const {
    if (made_with_ != unknown_size)   // not one that is learned from a pass: who has made none knows it not yet
        d("examples in a pass", made_with_ == endless ? std::string("endless") : base::number_text(made_with_));
    d("batch size", batch_size());
    d("columns", detail::text_of(columns()));
    last_->describe(d);
}

SINTER_APART pipeline::iterator& pipeline::iterator::operator++() {
    batch_ = pipeline_->next();
    return *this;
}
#endif

} // namespace sinter::data
