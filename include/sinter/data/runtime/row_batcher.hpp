// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/runtime/row_source.hpp>
#include <memory>
#if SINTER_BODIES
#include <sinter/data/runtime/batch_counts.hpp>
#include <sinter/data/runtime/batch_parts.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

/// Batches of a row_source, made by the thread that asks for them.
SINTER_SELDOM std::unique_ptr<batch_stage> batches_of_rows(std::unique_ptr<row_source> rows, int batch,
                                                           bool drop_remainder);

#if SINTER_BODIES
class row_batcher final : public batch_stage {
public:
    row_batcher(std::unique_ptr<row_source> rows, int batch, bool drop_remainder)
        : rows_(std::move(rows)), batch_(batch), drop_(drop_remainder) {
        rows_->prepare(1, 1, batch);
    }
    const column_list& columns() const override { return rows_->columns(); }
    int batch_size() const override { return batch_; }
    std::int64_t size() const override {
        return delivered_examples(rows_->size(), batch_, drop_);
    }
    bool fill(batch_buffer& into) override {
        into.clear();
        if (!there_) rows_->start(at_);
        there_ = false;   // until this batch is whole: after an exception the next call starts again from at_
        int n = rows_->take(0, 0, batch_);
        if (n < batch_ && drop_) n = 0;
        if (n > 0) {
            const example_range own = share_.range(at_.index / batch_, n);
            if (own.size > 0) rows_->fill(0, 0, own.first, own.size, into, 0);
            into.set_part(own, share_.is_all() ? 0 : n);
            at_.index += n;   // a short batch is followed by one call more, which finds the end again
            rows_->save_cursors(at_.cursors);
            there_ = true;
        } else {
            at_ = {at_.epoch + 1, 0};
        }
        into.after = at_;
        return n > 0;
    }
    void seek(position to) override {
        at_ = std::move(to);
        there_ = false;
    }
    SINTER_COLD void need_place(const position& at) const override { rows_->need_cursors(at.cursors); }
    SINTER_COLD void share(batch_share s) override { share_ = s; }
    SINTER_COLD void refill(batch_buffer& into, example_range examples) override {
        widen_part(*rows_, 0, 0, into, examples);
    }
    SINTER_COLD void describe(description& d) const override {
        rows_->describe(d);
        d.stage("batch")("size", batch_)("drop_remainder", drop_);
    }

private:
    std::unique_ptr<row_source> rows_;
    int batch_;
    bool drop_, there_ = false;   // there_: the source stands at at_
    position at_;
    batch_share share_{};
};

SINTER_SELDOM_BODY std::unique_ptr<batch_stage> batches_of_rows(std::unique_ptr<row_source> rows, int batch,
                                                                bool drop_remainder) {
    return std::make_unique<row_batcher>(std::move(rows), batch, drop_remainder);
}
#endif

} // namespace sinter::data
