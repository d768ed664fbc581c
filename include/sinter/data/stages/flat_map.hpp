// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/counts.hpp>
#include <sinter/data/stages/stage.hpp>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

/// Elements of which each becomes several.
namespace sinter::inline SINTER_ORDINARY::data {

template <class F>
struct flat_map_step {
    F function;
};
/// The elements of the std::vector or std::array that `f(element)` gives, for each element, one after the other.
/// Threads call f at the same time. Where it gives a std::array, and each element before can be found by its number, so
/// can each one behind; otherwise f is called by the thread that takes elements, and an element for which it throws is
/// left behind.
template <class F>
flat_map_step<F> flat_map(F f) {
    return {std::move(f)};
}

namespace stage_parts {

struct the_element_itself {
    template <class E>
    E&& operator()(E&& e) const {
        return static_cast<E&&>(e);
    }
};

template <class T>
inline constexpr bool is_list = false;
template <class T, class A>
inline constexpr bool is_list<std::vector<T, A>> = true;
template <class T, std::size_t N>
inline constexpr bool is_list<std::array<T, N>> = true;

template <class T>
inline constexpr std::int64_t fixed_length = -1;
template <class T, std::size_t N>
inline constexpr std::int64_t fixed_length<std::array<T, N>> = static_cast<std::int64_t>(N);

template <class F, class In>
using list_of = std::remove_cvref_t<std::invoke_result_t<const F&, const In&>>;

template <class F>
SINTER_COLD void describe_flat_map(const F& f, description& d) {
    if constexpr (std::is_same_v<F, the_element_itself>) {
        d.stage("unbatch");
    } else {
        d.stage("flat_map")("function", type_text<F>());
        if constexpr (base::tells_settings<F>) f.describe(d);
    }
}

} // namespace stage_parts

/// Of an indexed stage, with a function that gives arrays of N elements: element i is number i mod N of array i / N. A
/// thread keeps the last array.
template <element_stage Up, class F>
class flattened_stage {
    using list = stage_parts::list_of<F, typename Up::value_type>;
    static constexpr std::int64_t each = stage_parts::fixed_length<list> > 0 ? stage_parts::fixed_length<list> : 1;

public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = Up::maps;
    using value_type = typename list::value_type;
    struct state {
        typename Up::state up{};
        std::int64_t outer = -1;
        std::optional<list> all;   ///< of that element
    };

    flattened_stage(Up up, F f)
        : up_(std::move(up)), f_(std::move(f)),
          size_(stage_parts::product_of_sizes(up_.size(), stage_parts::fixed_length<list>, "flat_map")) {}
    std::int64_t size() const { return size_; }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.outer = -1;
    }
    value_type get(state& s, std::int64_t i) const {
        if (s.outer != i / each) {
            s.outer = -1;   // should this throw
            s.all.emplace(f_(up_.get(s.up, i / each)));
            s.outer = i / each;
        }
        return (*s.all)[static_cast<std::size_t>(i % each)];
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const {
        if (i % each == 0) up_.prefetch(s.up, i / each);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        stage_parts::describe_flat_map(f_, d);
    }

private:
    Up up_;
    F f_;
    std::int64_t size_;
};

/// Lists are computed by the thread that takes elements; their elements share them.
template <element_stage Up, class F>
    requires(stream_stage<Up> || stage_parts::fixed_length<stage_parts::list_of<F, typename Up::value_type>> < 0)
class flattened_stage<Up, F> {
    using list = stage_parts::list_of<F, typename Up::value_type>;

public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = typename list::value_type;
    struct cursor {
        stage_parts::cursor_of<Up> up{};   ///< before the element whose list is being given
        std::int64_t outer = 0;            ///< elements before that
        std::int64_t within = 0;           ///< how many of the list have been given
    };
    struct ticket {
        std::shared_ptr<const list> all;
        std::size_t i = 0;
    };
    struct state {
        typename Up::state up{};
        std::int64_t outer = -1;
        std::shared_ptr<const list> all;         ///< of that element
        stage_parts::cursor_of<Up> after{};      ///< where the next one is
    };

    flattened_stage(Up up, F f) : up_(std::move(up)), f_(std::move(f)) {}
    std::int64_t size() const {
        const std::int64_t n = up_.size(), each = stage_parts::fixed_length<list>;
        if (each >= 0) return stage_parts::product_of_sizes(n, each, "flat_map");
        return n > 0 ? unknown_size : n;
    }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.outer = -1;
    }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c.up) && c.outer >= 0 && c.within >= 0; }
    bool next(state& s, cursor& c, ticket& k) const {
        for (;;) {
            if (s.outer != c.outer && !read(s, c)) return false;
            if (c.within < static_cast<std::int64_t>(s.all->size())) {
                k = {s.all, static_cast<std::size_t>(c.within++)};
                return true;
            }
            c = {s.after, c.outer + 1, 0};
        }
    }
    decltype(auto) get(state&, ticket& k) const { return std::as_const(*k.all)[k.i]; }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        stage_parts::describe_flat_map(f_, d);
    }

private:
    bool read(state& s, cursor& c) const {
        s.outer = -1;   // should this throw
        s.after = c.up;
        stage_parts::ticket_of<Up> k{};
        bool there = false;
        try {
            there = stage_parts::next(up_, s.up, s.after, k);
            if (there) s.all = std::make_shared<const list>(f_(up_.get(s.up, k)));
        } catch (...) {
            c = {s.after, c.outer + 1, 0};
            throw;
        }
        if (there) s.outer = c.outer;
        return there;
    }

    Up up_;
    F f_;
};

namespace stage_parts {
template <class F, class In>
consteval bool gives_lists() {
    if constexpr (std::is_invocable_v<const F&, const In&>) return is_list<list_of<F, In>>;
    else return false;
}
} // namespace stage_parts

template <element_stage Up, class F>
auto operator|(Up up, flat_map_step<F> s) {
    constexpr bool fits = stage_parts::gives_lists<F, typename Up::value_type>();
    static_assert(fits, "flat_map: needed is a function that takes an element of this pipeline and gives a std::vector "
                        "or a std::array");
    if constexpr (fits) return flattened_stage<Up, F>(std::move(up), std::move(s.function));
    else return refused_stage{};
}

} // namespace sinter::data
