// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/counts.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/transform/repeat.hpp>
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

/// Several passes of typed elements as one.
namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

/// Which passes of what comes before are repetitions 0, 1, ... of a pass: pass * times + k. Without end these are
/// pass * 2^32 + k, so that 2^32 repetitions have orders and random numbers of their own.
struct repetitions {
    std::int64_t times;

    std::int64_t pass(std::int64_t of, std::int64_t k) const {
        const std::uint64_t each = times == forever ? std::uint64_t{1} << 32 : static_cast<std::uint64_t>(times);
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(of) * each + static_cast<std::uint64_t>(k));
    }
    /// Elements in all repetitions of passes of n elements; option_error beyond 2^63 - 1.
    std::int64_t size(std::int64_t n) const {
        if (n == 0 || n == endless) return n;
        if (times == forever) return n == unknown_size ? n : endless;   // none in a pass would end it
        return product_of_sizes(n, times, "repeat");
    }
};

} // namespace stage_parts

/// Of an indexed stage: element i is element i mod n of repetition i / n.
template <element_stage Up>
class repeated_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    struct state {
        struct of_repetition {
            typename Up::state up{};
            std::int64_t k = -1;
        };
        std::int64_t pass = 0;
        std::vector<std::unique_ptr<of_repetition>> begun;
        of_repetition* current = nullptr;
        std::int64_t first = 0;   ///< element of the current one
    };

    repeated_stage(Up up, repeat_step s)
        : up_(std::move(up)), repeats_{s.times}, size_(repeats_.size(up_.size())),
          each_(up_.size() == endless ? INT64_MAX : up_.size()) {}
    std::int64_t size() const { return size_; }
    void begin(state& s, std::int64_t pass) const {
        s.pass = pass;
        for (auto& r : s.begun) r->k = -1;
        s.first = -each_;
    }
    decltype(auto) get(state& s, std::int64_t i) const {
        if (!is_current(s, i)) go_to(s, i / each_);
        return up_.get(s.current->up, i - s.first);
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const {
        if (is_current(s, i)) up_.prefetch(s.current->up, i - s.first);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("repeat")("times", repeats_.times);
    }

private:
    static constexpr std::size_t most_begun = 16;

    bool is_current(const state& s, std::int64_t i) const {
        return static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(s.first) < static_cast<std::uint64_t>(each_);
    }
    /// Who reads on needs one repetition at a time. Who comes back to an earlier one reads in some other order, and to
    /// begin one may mean to shuffle it: then several are kept.
    __attribute__((noinline)) void go_to(state& s, std::int64_t k) const {
        s.first = -each_;   // should begin() throw
        const bool comes_back = s.current && k < s.current->k;
        s.current = nullptr;
        for (const auto& r : s.begun)
            if (r->k == k) s.current = r.get();
        if (!s.current) {
            if (s.begun.empty() || (comes_back && s.begun.size() < most_begun))
                s.begun.push_back(std::make_unique<typename state::of_repetition>());
            else std::rotate(s.begun.begin(), s.begun.begin() + 1, s.begun.end());   // the one begun longest ago
            typename state::of_repetition& r = *s.begun.back();
            r.k = -1;
            up_.begin(r.up, repeats_.pass(s.pass, k));
            r.k = k;
            s.current = &r;
        }
        s.first = k * each_;
    }

    Up up_;
    stage_parts::repetitions repeats_;
    std::int64_t size_, each_;   ///< each_: elements in a repetition
};

template <stream_stage Up>
class repeated_stage<Up> {
public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    struct state {
        typename Up::state up{};
        std::int64_t pass = 0;
        std::int64_t k = -1;   ///< the repetition that `up` is of
    };
    struct cursor {
        typename Up::cursor up{};
        std::int64_t k = 0;
        bool any = false;   ///< whether this repetition has given an element
    };
    struct ticket {
        typename Up::ticket up{};
        std::int64_t k = 0;
    };

    repeated_stage(Up up, repeat_step s)
        : up_(std::move(up)), repeats_{s.times}, size_(repeats_.size(up_.size())) {}
    std::int64_t size() const { return size_; }
    void begin(state& s, std::int64_t pass) const {
        s.pass = pass;
        s.k = -1;
    }
    bool fits(const cursor& c) const { return up_.fits(c.up) && c.k >= 0; }
    bool next(state& s, cursor& c, ticket& k) const {
        while (size_ != 0 && c.k != repeats_.times) {
            go_to(s, c.k);
            if (up_.next(s.up, c.up, k.up)) {
                k.k = c.k;
                return c.any = true;
            }
            if (!c.any && repeats_.times == forever) break;   // none would come for ever
            c = {{}, c.k + 1, false};
        }
        return false;
    }
    decltype(auto) get(state& s, ticket& k) const {
        go_to(s, k.k);
        return up_.get(s.up, k.up);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("repeat")("times", repeats_.times);
    }

private:
    void go_to(state& s, std::int64_t k) const {
        if (s.k == k) return;
        s.k = -1;   // should begin() throw
        up_.begin(s.up, repeats_.pass(s.pass, k));
        s.k = k;
    }

    Up up_;
    stage_parts::repetitions repeats_;
    std::int64_t size_;
};

/// So many passes of what comes before as one, or passes without end: `shuffle() | repeat(3)` gives all elements, then
/// all of them in another order, and once more. Repetition k of a pass is pass * times + k of what comes before;
/// without end, pass * 2^32 + k. Without end a repetition that has no element ends it. option_error where that are
/// more than 2^63 - 1 elements.
///
/// Where each element can be found by its number it still can, and a shuffle() behind repeat() mixes repetitions; a
/// thread then keeps up to 16 of them ready.
template <element_stage Up>
repeated_stage<Up> operator|(Up up, repeat_step s) {
    return {std::move(up), s};
}

} // namespace sinter::data
