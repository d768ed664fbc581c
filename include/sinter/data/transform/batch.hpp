// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/pipeline.hpp>
#if SINTER_BODIES
#include <sinter/data/runtime/batch_counts.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

/// drop_remainder: a last batch that is not full is left out.
struct batch_options { bool drop_remainder = false; };
struct batch_step { int size; bool drop_remainder; };

/// Batches of `size` examples; the last of a pass may have fewer, or is left out with
/// {.drop_remainder = true}. option_error unless size >= 1.
SINTER_APART batch_step batch(int size, batch_options o = {});
SINTER_APART pipeline operator|(examples up, batch_step s);

#if SINTER_BODIES
/// Collects examples into batches. A pass ends with the batch that is left over, unless that is to
/// be dropped.
class batcher final : public batch_stage {
public:
    batcher(std::unique_ptr<example_stage> up, int size, bool drop_remainder)
        : up_(std::move(up)), arrays_(up_->arrays()), batch_(size), drop_(drop_remainder) {}
    const column_list& columns() const override { return up_->columns(); }
    int batch_size() const override { return batch_; }
    std::int64_t size() const override {
        return delivered_examples(up_->size(), batch_, drop_);
    }
    bool fill(batch_buffer& into) override {
        into.clear();
        if (!there_) {
            up_->begin(at_.epoch);
            if (at_.index > 0) up_->skip(at_.index);
        }
        there_ = false;   // until this batch is whole: after an exception the next call starts again from at_
        bool ended = false;
        while (!ended && into.view().size < batch_) {
            if (arrays_) {
                const int left = batch_ - into.view().size, most = left < at_once ? left : at_once;
                const int n = up_->next_places(places_, most);
                into.append(arrays_, places_, n);
                ended = n < most;
            } else {
                ended = !up_->next(rows_);
                if (!ended) into.append(rows_);
            }
        }
        if (ended && drop_) into.clear();
        const int got = into.view().size;
        if (got > 0) {
            at_.index += got;   // a short batch is followed by one more pull that finds the end again
            there_ = true;
        } else {
            at_ = {at_.epoch + 1, 0};
        }
        into.after = at_;
        return got > 0;
    }
    void seek(position to) override {
        at_ = to;
        there_ = false;
    }
    SINTER_COLD void describe(description& d) const override {
        up_->describe(d);
        d.stage("batch")("size", batch_)("drop_remainder", drop_);
    }

private:
    static constexpr int at_once = 256;   ///< places, for which each part is called once

    std::unique_ptr<example_stage> up_;
    const row_array* arrays_;
    int batch_;
    bool drop_, there_ = false;   // there_: the parts before us stand at at_
    std::uint32_t places_[at_once];
    const void* rows_[column_list::most];
    position at_;
};

SINTER_COLD SINTER_APART batch_step batch(int size, batch_options o) {
    if (size < 1) throw option_error("impossible batch size", "batch", to_text({size}), "at least 1");
    return {size, o.drop_remainder};
}

SINTER_COLD SINTER_APART pipeline operator|(examples up, batch_step s) {
    return pipeline(new batcher(up.release(), s.size, s.drop_remainder));
}
#endif

} // namespace sinter::data
