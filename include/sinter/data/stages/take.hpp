// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/counts.hpp>
#include <sinter/data/stages/stage.hpp>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

struct take_step { std::int64_t count; };

/// The first `count` elements of each pass: all of them where there are fewer, or for -1. What comes before is not
/// asked for more. option_error below -1.
inline take_step take(std::int64_t count) {
    return {stage_parts::at_least(-1, count, "impossible number of elements", "take", "0 or more, or -1: all")};
}

template <element_stage Up>
class taken_stage {
public:
    static constexpr bool is_indexed = Up::is_indexed;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    using state = typename Up::state;
    struct cursor {
        stage_parts::cursor_of<Up> up{};
        std::int64_t taken = 0;
    };
    using ticket = stage_parts::ticket_of<Up>;

    taken_stage(Up up, std::int64_t count) : up_(std::move(up)), count_(count) {}
    std::int64_t size() const {
        const std::int64_t n = up_.size();
        if (count_ < 0) return n;
        if (n == endless || count_ == 0) return count_;
        return n < count_ ? n : count_;   // unknown_size is less
    }
    void begin(state& s, std::int64_t pass) const { up_.begin(s, pass); }
    decltype(auto) get(state& s, std::int64_t i) const
        requires is_indexed
    {
        return up_.get(s, i);
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        up_.prefetch(s, i);
    }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c.up) && c.taken >= 0; }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        if (c.taken == count_ || !up_.next(s, c.up, k)) return false;
        ++c.taken;
        return true;
    }
    decltype(auto) get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        return up_.get(s, k);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("take")("elements", count_);
    }

private:
    Up up_;
    std::int64_t count_;
};

template <element_stage Up>
taken_stage<Up> operator|(Up up, take_step s) {
    return {std::move(up), s.count};
}

} // namespace sinter::data
