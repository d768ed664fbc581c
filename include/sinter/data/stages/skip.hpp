// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/counts.hpp>
#include <sinter/data/stages/stage.hpp>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

struct skip_step { std::int64_t count; };

/// Leaves out the first `count` elements of each pass; all of them where there are fewer, or for -1. option_error below
/// -1.
inline skip_step skip(std::int64_t count) {
    return {stage_parts::at_least(-1, count, "impossible number of elements", "skip", "0 or more, or -1: all")};
}

template <element_stage Up>
class skipping_stage {
public:
    static constexpr bool is_indexed = Up::is_indexed;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    using state = typename Up::state;
    struct cursor {
        stage_parts::cursor_of<Up> up{};
        std::int64_t left_out = 0;
    };
    using ticket = stage_parts::ticket_of<Up>;

    skipping_stage(Up up, std::int64_t count) : up_(std::move(up)), count_(count) {}
    std::int64_t size() const {
        const std::int64_t n = up_.size();
        if (count_ < 0) return 0;
        if (n < 0) return n;
        return n < count_ ? 0 : n - count_;
    }
    void begin(state& s, std::int64_t pass) const { up_.begin(s, pass); }
    decltype(auto) get(state& s, std::int64_t i) const
        requires is_indexed
    {
        return up_.get(s, count_ + i);
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        up_.prefetch(s, count_ + i);
    }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c.up) && c.left_out >= 0; }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        if (count_ < 0) return false;
        for (; c.left_out < count_; ++c.left_out)   // each is counted, should the next one throw
            if (!up_.next(s, c.up, k)) return false;
        return up_.next(s, c.up, k);
    }
    decltype(auto) get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        return up_.get(s, k);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("skip")("elements", count_);
    }

private:
    Up up_;
    std::int64_t count_;
};

template <element_stage Up>
skipping_stage<Up> operator|(Up up, skip_step s) {
    return {std::move(up), s.count};
}

} // namespace sinter::data
