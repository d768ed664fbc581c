// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>
#include <optional>
#include <tuple>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

template <class S, class F>
struct scan_step {
    S initial;
    F function;
};
/// Elements with a memory of those before: `f(state, element)` gives a pair of the next state and an element. Each pass
/// begins with `initial`. The state is a value that can be copied and default constructed, and is part of what is
/// needed to go on somewhere. f is called in the elements' order, by the thread that takes them.
///
///     data::scan(0.f, [](float sum, float x) { return std::pair(sum + x, sum + x); })   // running sums
template <class S, class F>
scan_step<S, F> scan(S initial, F f) {
    return {std::move(initial), std::move(f)};
}

namespace stage_parts {

template <class S, class F, class In>
concept scans = requires(const F& f, const S& s, const In& e) {
    { std::get<0>(f(s, e)) } -> std::convertible_to<S>;
    std::get<1>(f(s, e));
    requires std::tuple_size_v<std::remove_cvref_t<decltype(f(s, e))>> == 2;
};

} // namespace stage_parts

template <element_stage Up, class S, class F>
class scanned_stage {
    using result = std::remove_cvref_t<std::invoke_result_t<const F&, const S&, const typename Up::value_type&>>;

public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = std::remove_cvref_t<std::tuple_element_t<1, result>>;
    using state = typename Up::state;
    struct cursor {
        stage_parts::cursor_of<Up> up{};
        bool begun = false;   ///< otherwise the state is the initial one
        S state{};
    };
    using ticket = std::optional<value_type>;

    scanned_stage(Up up, S initial, F f) : up_(std::move(up)), initial_(std::move(initial)), f_(std::move(f)) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t pass) const { up_.begin(s, pass); }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c.up); }
    bool next(state& s, cursor& c, ticket& k) const {
        stage_parts::ticket_of<Up> at{};
        if (!stage_parts::next(up_, s, c.up, at)) return false;
        const auto& e = up_.get(s, at);
        result r = f_(c.begun ? std::as_const(c.state) : initial_, e);
        k.emplace(std::get<1>(std::move(r)));
        c.state = std::get<0>(std::move(r));
        c.begun = true;
        return true;
    }
    value_type get(state&, ticket& k) const { return std::move(*k); }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("scan")("state", type_text<S>())("function", type_text<F>());
        if constexpr (base::tells_settings<F>) f_.describe(d);
    }

private:
    Up up_;
    S initial_;
    F f_;
};

template <element_stage Up, class S, class F>
auto operator|(Up up, scan_step<S, F> s) {
    constexpr bool fits = stage_parts::scans<S, F, typename Up::value_type>;
    static_assert(fits, "scan: needed is a function of the state and an element of this pipeline that gives a "
                        "std::pair of the next state and an element");
    if constexpr (fits) return scanned_stage<Up, S, F>(std::move(up), std::move(s.initial), std::move(s.function));
    else return refused_stage{};
}

} // namespace sinter::data
