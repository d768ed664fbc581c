// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>
#include <tuple>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

struct enumerate_step { std::int64_t start; };

/// Elements with their numbers in the pass, counted from `start` on: std::tuple<std::int64_t, element>.
/// No net takes a std::int64_t: a map behind it makes another number of it, or keeps it in a data::extra.
constexpr enumerate_step enumerate(std::int64_t start = 0) { return {start}; }

template <element_stage Up>
class enumerated_stage {
public:
    static constexpr bool is_indexed = Up::is_indexed;
    static constexpr int maps = Up::maps;
    using value_type = std::tuple<std::int64_t, typename Up::value_type>;
    using state = typename Up::state;
    struct cursor {
        stage_parts::cursor_of<Up> up{};
        std::int64_t i = 0;
    };
    struct ticket {
        stage_parts::ticket_of<Up> up{};
        std::int64_t i = 0;
    };

    enumerated_stage(Up up, std::int64_t start) : up_(std::move(up)), start_(start) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t pass) const { up_.begin(s, pass); }
    value_type get(state& s, std::int64_t i) const
        requires is_indexed
    {
        return {start_ + i, up_.get(s, i)};
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        up_.prefetch(s, i);
    }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c.up) && c.i >= 0; }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        if (!up_.next(s, c.up, k.up)) return false;
        k.i = c.i++;
        return true;
    }
    value_type get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        return {start_ + k.i, up_.get(s, k.up)};
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("enumerate")("start", start_);
    }

private:
    Up up_;
    std::int64_t start_;
};

template <element_stage Up>
enumerated_stage<Up> operator|(Up up, enumerate_step s) {
    return {std::move(up), s.start};
}

} // namespace sinter::data
