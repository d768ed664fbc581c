// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/stage.hpp>
#include <functional>
#include <memory>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

/// How one worker's batches are made.
using make_batches = std::function<std::unique_ptr<batch_stage>(int index, int count)>;

/// The batches of worker number `index` of `count`. Where workers change, the next pass is begun with batches that are
/// made for the new ones; a pass that is being read goes on as it was dealt out.
SINTER_SELDOM SINTER_COLD std::unique_ptr<batch_stage> batches_of_worker(make_batches make, int index, int count);

#if SINTER_BODIES
class worker_batches final : public batch_stage {
public:
    worker_batches(make_batches make, int index, int count)
        : make_(std::move(make)), stage_(make_(index, count)), index_(index), count_(count) {}
    const column_list& columns() const override { return stage_->columns(); }
    int batch_size() const override { return stage_->batch_size(); }
    std::int64_t size() const override { return stage_->size(); }
    bool fill(batch_buffer& into) override {
        if (changed_ && at_begin_) make_again();
        const bool more = stage_->fill(into);
        at_begin_ = into.after.index == 0;
        epoch_ = into.after.epoch;
        return more;
    }
    void seek(position to) override {
        at_begin_ = to.index == 0;
        epoch_ = to.epoch;
        if (changed_ && at_begin_) make_again();
        stage_->seek(std::move(to));
    }
    SINTER_COLD void need_place(const position& at) const override { stage_->need_place(at); }
    SINTER_COLD void share(batch_share s) override {
        share_ = s;
        stage_->share(s);
    }
    SINTER_COLD void be_worker(int index, int count) override {
        changed_ = changed_ || index != index_ || count != count_;
        index_ = index;
        count_ = count;
    }
    SINTER_COLD void refill(batch_buffer& into, example_range examples) override { stage_->refill(into, examples); }
    SINTER_COLD void describe(description& d) const override { stage_->describe(d); }

private:
    /// At the beginning of a pass.
    SINTER_COLD void make_again() {
        auto made = make_(index_, count_);
        made->share(share_);
        made->seek({epoch_, 0});
        stage_ = std::move(made);
        changed_ = false;
    }

    make_batches make_;
    std::unique_ptr<batch_stage> stage_;
    int index_, count_;
    bool changed_ = false;    ///< stage_ is for others
    bool at_begin_ = true;    ///< of a pass
    std::int64_t epoch_ = 0;
    batch_share share_{};
};

SINTER_SELDOM_BODY std::unique_ptr<batch_stage> batches_of_worker(make_batches make, int index, int count) {
    return std::make_unique<worker_batches>(std::move(make), index, count);
}
#endif

} // namespace sinter::data
