// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/stage.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

/// repeat(forever): passes without end.
inline constexpr std::int64_t forever = -1;

struct repeat_step { std::int64_t times; };

/// So many passes as one, without a break: a batch may hold the end of one and the start of the
/// next. Put it behind shuffle to keep the passes apart. option_error unless 1 <= times <= 2^31, or
/// forever.
SINTER_APART repeat_step repeat(std::int64_t times = forever);
SINTER_APART examples operator|(examples up, repeat_step s);

#if SINTER_BODIES
/// Joins several passes of what comes before into one: `times` of them, or all that will ever be.
class repeat_stage final : public example_stage {
public:
    repeat_stage(std::unique_ptr<example_stage> up, std::int64_t times) : up_(std::move(up)), times_(times) {}
    const column_list& columns() const override { return up_->columns(); }
    std::int64_t size() const override {
        const std::int64_t n = up_->size();
        return times_ == forever && n != 0 ? endless : n < 0 ? n : n * times_;
    }

    void begin(std::int64_t pass) override {
        // A pass of ours is `times` of theirs, so that each sees its own order and its own
        // augmentation.
        first_ = times_ == forever ? pass << 32 : pass * times_;
        start(0);
    }
    bool next(const void** rows) override {
        while (done_ != times_) {
            if (up_->next(rows)) return any_ = true;
            if (!any_) return false;   // an empty pass repeated forever would never return
            start(done_ + 1);
        }
        return false;
    }
    const row_array* arrays() const override { return up_->arrays(); }
    int next_places(std::uint32_t* to, int n) override {
        int got = 0;
        while (done_ != times_) {
            const int more = up_->next_places(to + got, n - got);
            got += more;
            any_ = any_ || more > 0;
            if (got == n || !any_) break;
            start(done_ + 1);
        }
        return got;
    }
    void skip(std::int64_t n) override {
        if (const std::int64_t a_pass = up_->size(); a_pass > 0 && !any_) {   // at a pass's beginning: leap
            const std::int64_t whole = n / a_pass;
            const std::int64_t leap = times_ != forever && whole > times_ - done_ ? times_ - done_ : whole;
            if (leap > 0) start(done_ + leap);
            n -= leap * a_pass;
            if (n > 0 && done_ != times_) up_->skip(n), any_ = true;
            return;
        }
        example_stage::skip(n);
    }
    SINTER_COLD void describe(description& d) const override {
        up_->describe(d);
        d.stage("repeat")("times", times_);
    }

private:
    void start(std::int64_t done) {
        done_ = done;
        any_ = false;
        if (done_ != times_) up_->begin(first_ + done_);
    }
    std::unique_ptr<example_stage> up_;
    std::int64_t times_, first_ = 0, done_ = 0;
    bool any_ = false;   // whether the current pass has yielded something
};

SINTER_COLD SINTER_APART repeat_step repeat(std::int64_t times) {
    if ((times < 1 || times > (std::int64_t{1} << 31)) && times != forever)
        throw option_error("impossible number of passes", "repeat", std::to_string(times), "1 to 2^31, or forever");
    return {times};
}

SINTER_COLD SINTER_APART examples operator|(examples up, repeat_step s) {
    const int maps = up.maps();
    return examples(new repeat_stage(up.release(), s.times), maps);
}
#endif

} // namespace sinter::data
