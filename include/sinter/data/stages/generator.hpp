// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>
#include <optional>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// Of an object with next(), or that is called itself.
template <class G>
decltype(auto) next_of(G& g) {
    if constexpr (requires { g.next(); }) return g.next();
    else if constexpr (requires { g(); }) return g();
}
template <class F>
constexpr bool makes_generators() {
    if constexpr (std::is_invocable_v<const F&, std::int64_t>) {
        using object = std::remove_cvref_t<std::invoke_result_t<const F&, std::int64_t>>;
        return is_optional<std::remove_cvref_t<decltype(next_of(std::declval<object&>()))>>;
    }
    return false;
}
} // namespace stage_parts

template <class F>
class generated_stage {
    using object = std::remove_cvref_t<std::invoke_result_t<const F&, std::int64_t>>;

public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = 0;
    using ticket = std::remove_cvref_t<decltype(stage_parts::next_of(std::declval<object&>()))>;
    using value_type = typename ticket::value_type;
    using cursor = std::int64_t;
    struct state {
        std::int64_t pass = 0, at = 0;   ///< at: elements that the object has given
        std::optional<object> made;
        bool ended = false;
    };

    explicit generated_stage(F make) : make_(std::move(make)) {}
    std::int64_t size() const { return unknown_size; }
    void begin(state& s, std::int64_t pass) const {
        s.pass = pass;
        s.made.reset();   // made by who reads: threads that only compute values need none
    }
    bool fits(const cursor& c) const { return c >= 0; }
    bool next(state& s, cursor& c, ticket& k) const {
        if (!s.made || s.at > c) {
            s.made.reset();
            s.made.emplace(make_(s.pass));
            s.at = 0;
            s.ended = false;
        }
        do {
            if (!s.ended) k = stage_parts::next_of(*s.made);
            s.ended = s.ended || !k;
            if (s.ended) return false;
        } while (s.at++ < c);
        ++c;
        return true;
    }
    value_type get(state&, ticket& k) const { return std::move(*k); }
    SINTER_COLD void describe(description& d) const {
        d.stage("generator")("function", type_text<F>());
        if constexpr (base::tells_settings<F>) make_.describe(d);
    }

private:
    F make_;
};

/// Elements that a user's object gives one after the other. make(pass) makes the object for one reader of one pass; its
/// next(), or it itself when it is called, gives std::optional<T>, and nothing at the end:
///
///     data::generator([](std::int64_t pass) {
///         return [random = sinter::random_stream(7, pass), left = 1000]() mutable -> std::optional<float> {
///             if (left-- == 0) return std::nullopt;
///             return random.uniform();
///         };
///     })
///
/// Several objects may be alive at a time, in one thread each: they share nothing that they change, and give the same
/// for the same pass. Going on in the middle of a pass asks a new one for all elements before.
template <class F>
auto generator(F make) {
    constexpr bool fits = stage_parts::makes_generators<F>();
    static_assert(fits, "generator: needed is a function of the pass's number that gives an object whose next(), or "
                        "which itself, gives std::optional<T>");
    if constexpr (fits) return generated_stage<F>(std::move(make));
    else return refused_stage{};
}

} // namespace sinter::data
