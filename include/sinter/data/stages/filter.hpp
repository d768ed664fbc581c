// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>
#include <optional>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

template <class P>
struct filter_step {
    P keep;
};
/// Leaves out the elements for which `keep(element)` is false. Each process of a job asks it of all elements, since the
/// place of one in its batch depends on those before it.
template <class P>
filter_step<P> filter(P keep) {
    return {std::move(keep)};
}

/// Elements are computed for the predicate, once: what is kept travels in the ticket.
template <element_stage Up, class P>
class filtered_stage {
public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    using state = typename Up::state;
    using cursor = stage_parts::cursor_of<Up>;
    using ticket = std::optional<value_type>;

    filtered_stage(Up up, P keep) : up_(std::move(up)), keep_(std::move(keep)) {}
    std::int64_t size() const { return up_.size() == endless ? endless : unknown_size; }
    void begin(state& s, std::int64_t pass) const { up_.begin(s, pass); }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c); }
    bool next(state& s, cursor& c, ticket& k) const {
        for (stage_parts::ticket_of<Up> at{}; stage_parts::next(up_, s, c, at);) {
            k.emplace(up_.get(s, at));
            if (keep_(std::as_const(*k))) return true;
        }
        return false;
    }
    value_type get(state&, ticket& k) const { return std::move(*k); }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("filter")("function", type_text<P>());
        if constexpr (base::tells_settings<P>) keep_.describe(d);
    }

private:
    Up up_;
    P keep_;
};

template <element_stage Up, class P>
auto operator|(Up up, filter_step<P> s) {
    constexpr bool fits = std::is_invocable_r_v<bool, const P&, const typename Up::value_type&>;
    static_assert(fits, "filter: needed is a function that takes a const element& of this pipeline and gives a bool");
    if constexpr (fits) return filtered_stage<Up, P>(std::move(up), std::move(s.keep));
    else return refused_stage{};
}

} // namespace sinter::data
