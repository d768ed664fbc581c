// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/counts.hpp>
#include <sinter/data/stages/stage.hpp>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {
/// What get() of a stage gives: a value, or a reference to one.
template <class S>
using given_by = decltype(std::declval<const S&>().get(std::declval<typename S::state&>(),
                                                       std::declval<ticket_of<S>&>()));
} // namespace stage_parts

template <element_stage A, element_stage B>
class concatenated_stage {
    using of_a = stage_parts::given_by<A>;
    using given = std::conditional_t<std::is_same_v<of_a, stage_parts::given_by<B>>, of_a, typename A::value_type>;

public:
    static constexpr bool is_indexed = A::is_indexed && B::is_indexed;
    static constexpr int maps = A::maps > B::maps ? A::maps : B::maps;
    using value_type = typename A::value_type;
    struct state {
        typename A::state first{};
        typename B::state second{};
    };
    struct cursor {
        stage_parts::cursor_of<A> first{};
        stage_parts::cursor_of<B> second{};
        bool in_second = false;
    };
    struct ticket {
        stage_parts::ticket_of<A> first{};
        stage_parts::ticket_of<B> second{};
        bool of_second = false;
    };

    concatenated_stage(A first, B second)
        : first_(std::move(first)), second_(std::move(second)), n_first_(first_.size()),
          size_(stage_parts::sum_of_sizes(n_first_, second_.size(), "concatenate")) {}
    std::int64_t size() const { return size_; }
    void begin(state& s, std::int64_t pass) const {
        first_.begin(s.first, pass);
        second_.begin(s.second, pass);
    }
    given get(state& s, std::int64_t i) const
        requires is_indexed
    {
        if (is_of_first(i)) return first_.get(s.first, i);
        return second_.get(s.second, i - n_first_);
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        if (is_of_first(i)) first_.prefetch(s.first, i);
        else second_.prefetch(s.second, i - n_first_);
    }
    bool fits(const cursor& c) const {
        return stage_parts::fits(first_, c.first) && stage_parts::fits(second_, c.second);
    }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        if (!c.in_second) {
            k.of_second = false;
            if (stage_parts::next(first_, s.first, c.first, k.first)) return true;
            c.in_second = true;
        }
        k.of_second = true;
        return stage_parts::next(second_, s.second, c.second, k.second);
    }
    given get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        if (!k.of_second) return first_.get(s.first, k.first);
        return second_.get(s.second, k.second);
    }
    SINTER_COLD void describe(description& d) const {
        first_.describe(d);
        second_.describe(d);
        d.stage("concatenate");
    }

private:
    bool is_of_first(std::int64_t i) const { return i < n_first_ || n_first_ == endless; }

    A first_;
    B second_;
    std::int64_t n_first_, size_;
};

/// The elements of one pipeline, then those of the next: all of one type. option_error where that are more than
/// 2^63 - 1 elements.
template <class A, class B, class... Rest>
auto concatenate(A first, B second, Rest... rest) {
    constexpr bool stages = element_stage<A> && element_stage<B>;
    static_assert(stages, "concatenate: needed are pipelines of elements, as they are before batch()");
    if constexpr (stages) {
        constexpr bool fits = std::is_same_v<typename A::value_type, typename B::value_type>;
        static_assert(fits, "concatenate: needed are pipelines whose elements are of the same type");
        if constexpr (!fits) return refused_stage{};
        else if constexpr (sizeof...(Rest) == 0) return concatenated_stage<A, B>(std::move(first), std::move(second));
        else return concatenate(concatenated_stage<A, B>(std::move(first), std::move(second)), std::move(rest)...);
    } else {
        return refused_stage{};
    }
}

} // namespace sinter::data
