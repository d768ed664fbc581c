// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>
#include <exception>
#include <tuple>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

template <element_stage... Up>
class zipped_stage {
public:
    static constexpr bool is_indexed = (Up::is_indexed && ...);
    static constexpr int maps = [] {
        int most = 0;
        ((most = Up::maps > most ? Up::maps : most), ...);
        return most;
    }();
    using value_type = std::tuple<typename Up::value_type...>;
    using state = std::tuple<typename Up::state...>;
    using cursor = std::tuple<stage_parts::cursor_of<Up>...>;
    using ticket = std::tuple<stage_parts::ticket_of<Up>...>;

    explicit zipped_stage(Up... up) : up_(std::move(up)...) {}
    std::int64_t size() const {
        std::int64_t least = endless;
        each([&](auto i) {
            const std::int64_t n = std::get<i>(up_).size();
            if (least == endless || (n >= 0 && n < least) || n == unknown_size) least = n;
        });
        return least;
    }
    void begin(state& s, std::int64_t pass) const {
        each([&](auto i) { std::get<i>(up_).begin(std::get<i>(s), pass); });
    }
    value_type get(state& s, std::int64_t at) const
        requires is_indexed
    {
        return with_all([&](auto... i) { return value_type(std::get<i>(up_).get(std::get<i>(s), at)...); });
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t at) const
        requires is_indexed
    {
        each([&](auto i) __attribute__((always_inline)) { std::get<i>(up_).prefetch(std::get<i>(s), at); });
    }
    bool fits(const cursor& c) const {
        return with_all([&](auto... i) { return (stage_parts::fits(std::get<i>(up_), std::get<i>(c)) && ...); });
    }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        bool all = true;
        std::exception_ptr failed;
        each([&](auto i) {   // where one throws the others go on as well, so that they stay in step
            try {
                all = all && stage_parts::next(std::get<i>(up_), std::get<i>(s), std::get<i>(c), std::get<i>(k));
            } catch (...) {
                if (!failed) failed = std::current_exception();
            }
        });
        if (failed) std::rethrow_exception(failed);
        return all;
    }
    value_type get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        return with_all([&](auto... i) {
            return value_type(std::get<i>(up_).get(std::get<i>(s), std::get<i>(k))...);
        });
    }
    SINTER_COLD void describe(description& d) const {
        each([&](auto i) { std::get<i>(up_).describe(d); });
        d.stage("zip")("pipelines", sizeof...(Up));
    }

private:
    template <class F>
    __attribute__((always_inline)) static decltype(auto) with_all(F&& f) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) -> decltype(auto) {
            return f(std::integral_constant<std::size_t, I>{}...);
        }(std::index_sequence_for<Up...>{});
    }
    template <class F>
    __attribute__((always_inline)) static void each(F&& f) {
        with_all([&](auto... i) __attribute__((always_inline)) { (static_cast<void>(f(i)), ...); });
    }

    std::tuple<Up...> up_;
};

/// The elements of several pipelines side by side, as a std::tuple; ends with the shortest. Maps with equal seeds draw
/// the same random numbers for elements of one tuple: a picture and its mask are turned alike.
template <class First, class... Rest>
auto zip(First first, Rest... rest) {
    constexpr bool fits = element_stage<First> && (element_stage<Rest> && ...);
    static_assert(fits, "zip: needed are pipelines of elements, as they are before batch()");
    if constexpr (fits) return zipped_stage<First, Rest...>(std::move(first), std::move(rest)...);
    else return refused_stage{};
}

} // namespace sinter::data
