// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/stages/whole_element.hpp>
#include <array>
#include <utility>
#include <vector>

/// Vectors of different lengths as arrays of one, which is what a batch takes.
namespace sinter::inline SINTER_ORDINARY::data {

/// A vector's first `length` values, and behind them always the same one.
template <class T, int N>
struct padded_row {
    std::array<T, static_cast<std::size_t>(N)> values{};
    std::int32_t length = 0;
    bool operator==(const padded_row&) const = default;
};

template <class T>
struct pad_options {
    T value{};               ///< what is behind the vector's values
    bool truncate = false;   ///< leave out what is behind N values; false: data_error
};

/// The first N values of `v`, with `value` behind them where it has fewer. For maps whose result has further fields:
///
///     data::map([](const text& t) { return sample{data::padded<64>(t.words).values, t.topic}; })
///
/// data_error where v has more, unless truncation is asked for.
template <int N, class T>
padded_row<T, N> padded(const std::vector<T>& v, std::type_identity_t<pad_options<T>> o = {}) {
    static_assert(N > 0, "padded<N>: an array has one value or more");
    if (v.size() > static_cast<std::size_t>(N) && !o.truncate)
        throw data_error("a vector is longer than what it is padded to", "pad_to", to_text({v.size(), " values"}),
                         to_text({"at most ", N, ", or .truncate"}));
    padded_row<T, N> row;
    row.length = v.size() < static_cast<std::size_t>(N) ? static_cast<std::int32_t>(v.size()) : N;
    for (int i = 0; i < N; ++i) {
        const auto at = static_cast<std::size_t>(i);
        row.values[at] = i < row.length ? v[at] : o.value;
    }
    return row;
}

struct pad_to_options {
    bool truncate = false;
};
template <int N, class V, class F>
struct pad_to_step {
    F vector;
    V value;
    bool truncate;
};
/// Elements become padded_row<T, N>: of those that are std::vector<T>, or of the std::vector<T> that vector(element)
/// gives. `value` is what they are filled up with. It is indexed where the stage before is. data_error for a vector of
/// more than N values, unless truncation is asked for.
template <int N, class F, class V>
    requires(!std::is_same_v<V, pad_to_options>)
pad_to_step<N, V, F> pad_to(F vector, V value, pad_to_options o = {}) {
    static_assert(N > 0, "pad_to<N>: an array has one value or more");
    return {std::move(vector), std::move(value), o.truncate};
}
template <int N, class V = int>
auto pad_to(V value = {}, pad_to_options o = {}) {
    return pad_to<N>(stage_parts::whole_element{}, std::move(value), o);
}

template <element_stage Up, int N, class V, class F>
class padded_stage {
    using vector = std::remove_cvref_t<std::invoke_result_t<const F&, const typename Up::value_type&>>;
    using number = typename vector::value_type;

public:
    static constexpr bool is_indexed = Up::is_indexed;
    static constexpr int maps = Up::maps;
    using value_type = padded_row<number, N>;
    using state = typename Up::state;
    using cursor = stage_parts::cursor_of<Up>;
    using ticket = stage_parts::ticket_of<Up>;

    padded_stage(Up up, pad_to_step<N, V, F> s) : up_(std::move(up)), step_(std::move(s)) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t pass) const { up_.begin(s, pass); }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        up_.prefetch(s, i);
    }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c); }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        return up_.next(s, c, k);
    }
    value_type get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        return padded_form(up_.get(s, k));
    }
    value_type get(state& s, std::int64_t i) const
        requires is_indexed
    {
        return padded_form(up_.get(s, i));
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("pad_to")("values", N)("function", type_text<F>())("truncate", step_.truncate);
        if constexpr (std::is_arithmetic_v<V>) d("value", step_.value);
        if constexpr (base::tells_settings<F>) step_.vector.describe(d);
    }

private:
    value_type padded_form(const typename Up::value_type& e) const {
        return padded<N, number>(step_.vector(e), {static_cast<number>(step_.value), step_.truncate});
    }

    Up up_;
    pad_to_step<N, V, F> step_;
};

namespace stage_parts {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class F, class In, class V>
constexpr bool gives_vector_of() {
    if constexpr (std::is_invocable_v<const F&, const In&>) {
        using vector = std::remove_cvref_t<std::invoke_result_t<const F&, const In&>>;
        if constexpr (is_vector<vector>) return std::is_convertible_v<V, typename vector::value_type>;
    }
    return false;
}

} // namespace stage_parts

template <element_stage Up, int N, class V, class F>
auto operator|(Up up, pad_to_step<N, V, F> s) {
    constexpr bool fits = stage_parts::gives_vector_of<F, typename Up::value_type, V>();
    static_assert(fits, "pad_to: needed are elements that are std::vector, or a function that takes an element of this "
                        "pipeline and gives one, and a value of its type");
    if constexpr (fits) return padded_stage<Up, N, V, F>(std::move(up), std::move(s));
    else return refused_stage{};
}

} // namespace sinter::data
