// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/counts.hpp>
#include <sinter/data/stages/stage.hpp>
#include <utility>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

struct shard_step { std::int64_t shards, index; };

/// Of n shards number i: each n-th element from number i on, those with (number mod n) == i. Put it early: of a
/// stream, what comes before is done for the elements of all shards. option_error unless 0 <= i < n.
SINTER_SELDOM shard_step shard(std::int64_t n, std::int64_t i);

#if SINTER_BODIES
SINTER_SELDOM_BODY shard_step shard(std::int64_t n, std::int64_t i) {
    if (i < 0 || i >= n) throw option_error("no such shard", "shard", to_text({i, " of ", n}), "0 to n - 1 of n");
    return {n, i};
}
#endif

template <element_stage Up>
class shard_stage {
public:
    static constexpr bool is_indexed = Up::is_indexed;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    using state = typename Up::state;
    struct cursor {
        stage_parts::cursor_of<Up> up{};
        std::int64_t turn = 0;   ///< which shard the next element belongs to
    };
    using ticket = stage_parts::ticket_of<Up>;

    shard_stage(Up up, shard_step s) : up_(std::move(up)), s_(s) {}
    std::int64_t size() const {
        const std::int64_t n = up_.size();
        if (n < 0) return n;
        return n <= s_.index ? 0 : (n - s_.index - 1) / s_.shards + 1;
    }
    void begin(state& s, std::int64_t pass) const { up_.begin(s, pass); }
    decltype(auto) get(state& s, std::int64_t i) const
        requires is_indexed
    {
        return up_.get(s, s_.index + i * s_.shards);
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        up_.prefetch(s, s_.index + i * s_.shards);
    }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c.up) && c.turn >= 0 && c.turn < s_.shards; }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        while (up_.next(s, c.up, k)) {
            const std::int64_t of = c.turn;
            c.turn = of + 1 == s_.shards ? 0 : of + 1;
            if (of == s_.index) return true;
        }
        return false;
    }
    decltype(auto) get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        return up_.get(s, k);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("shard")("shards", s_.shards)("index", s_.index);
    }

private:
    Up up_;
    shard_step s_;
};

template <element_stage Up>
shard_stage<Up> operator|(Up up, shard_step s) {
    return {std::move(up), s};
}

} // namespace sinter::data
