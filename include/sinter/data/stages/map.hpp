// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/transform/map.hpp>

/// Functions of typed elements.
namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

template <class F, class In>
inline constexpr bool draws = std::is_invocable_v<const F&, const In&, random_stream&>;
template <class F, class In>
auto result_of_map() {
    if constexpr (draws<F, In>) return std::type_identity<std::invoke_result_t<const F&, const In&, random_stream&>>{};
    else return std::type_identity<std::invoke_result_t<const F&, const In&>>{};
}

/// A function and its random numbers, which depend on the seed, the pass and the element's number in it.
template <class F, class In>
class mapping {
public:
    using result = std::remove_cvref_t<typename decltype(result_of_map<F, In>())::type>;

    mapping(F f, std::uint64_t seed, int maps)
        : f_(std::move(f)), seed_(seed),
          key_(base::stream(seed, base::fnv1a("data/map") + static_cast<std::uint64_t>(maps))) {}
    result operator()(const In& e, std::int64_t pass, std::int64_t i) const {
        if constexpr (draws<F, In>) {
            const base::philox_block b =
                base::philox_at(key_, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(pass));
            random_stream random((std::uint64_t{b.word[1]} << 32) | b.word[0]);
            return f_(e, random);
        } else {
            return f_(e);
        }
    }
    SINTER_COLD void describe(description& d) const {
        d.stage("map")("function", type_text<F>());
        if constexpr (draws<F, In>) d("seed", seed_);
        if constexpr (base::tells_settings<F>) f_.describe(d);
    }

private:
    F f_;
    std::uint64_t seed_, key_;
};

} // namespace stage_parts

template <element_stage Up, class F>
class mapped_stage {
    using mapping = stage_parts::mapping<F, typename Up::value_type>;

public:
    static constexpr bool is_indexed = Up::is_indexed;
    static constexpr int maps = Up::maps + 1;
    using value_type = typename mapping::result;
    struct state {
        typename Up::state up;
        std::int64_t pass = 0;
    };
    struct cursor {
        stage_parts::cursor_of<Up> up{};
        std::int64_t i = 0;
    };
    struct ticket {
        stage_parts::ticket_of<Up> up{};
        std::int64_t i = 0;
    };

    mapped_stage(Up up, F f, std::uint64_t seed) : up_(std::move(up)), map_(std::move(f), seed, Up::maps) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.pass = pass;
    }
    value_type get(state& s, std::int64_t i) const
        requires is_indexed
    {
        return map_(up_.get(s.up, i), s.pass, i);
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        up_.prefetch(s.up, i);   // inlined always: g++ leaves out calls of functions that do nothing but prefetch
    }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c.up) && c.i >= 0; }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        if (!up_.next(s.up, c.up, k.up)) return false;
        k.i = c.i++;
        return true;
    }
    value_type get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        return map_(up_.get(s.up, k.up), s.pass, k.i);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        map_.describe(d);
    }

private:
    Up up_;
    mapping map_;
};

/// f(element), or f(element, random_stream&), for each element, given as a constant reference: any function that gives
/// the same for the same element and random numbers. Threads call it at the same time, in any order. Of a function that
/// several processes must share its type is compared; an object that has `void describe(description& d) const` names
/// its settings there, too.
template <element_stage Up, class F>
auto operator|(Up up, map_step<F> s) {
    using in = typename Up::value_type;
    constexpr bool takes = stage_parts::draws<F, in> || std::is_invocable_v<const F&, const in&>;
    static_assert(takes, "map: the function takes no element of this pipeline; needed is f(const element&), or "
                         "f(const element&, random_stream&), that is not mutable");
    if constexpr (takes) {
        constexpr bool gives = !std::is_void_v<typename decltype(stage_parts::result_of_map<F, in>())::type>;
        static_assert(gives, "map: the function gives nothing; needed is one that returns the new element");
        if constexpr (gives) return mapped_stage<Up, F>(std::move(up), std::move(s.function), s.seed);
        else return refused_stage{};
    } else {
        return refused_stage{};
    }
}

} // namespace sinter::data
