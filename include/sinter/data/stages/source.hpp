// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/base/prefetch.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stages/stage.hpp>
#include <memory>
#include <utility>
#include <vector>

/// Typed elements that lie in memory, or are computed from their number.
namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {
struct no_state {};
} // namespace stage_parts

template <class T>
class row_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = T;
    using state = stage_parts::no_state;

    explicit row_stage(std::shared_ptr<const std::vector<T>> rows) : rows_(std::move(rows)) {}
    std::int64_t size() const { return static_cast<std::int64_t>(rows_->size()); }
    void begin(state&, std::int64_t) const {}
    const T& get(state&, std::int64_t i) const { return (*rows_)[static_cast<std::size_t>(i)]; }
    __attribute__((always_inline)) void prefetch(state&, std::int64_t i) const {
        if constexpr (sizeof(T) <= 4096)   // of large ones processors ask for enough by themselves
            base::prefetch_lines(rows_->data() + i, sizeof(T));
    }
    SINTER_COLD void describe(description& d) const { d.stage("rows in memory")("rows", size()); }

private:
    std::shared_ptr<const std::vector<T>> rows_;
};

/// Elements that lie in memory. The pipeline keeps them; a vector that is given away is not copied. option_error where
/// there is no vector. (Not of bool: a std::vector<bool> has no elements that could be looked at.)
template <class T>
    requires(!std::same_as<T, bool>)
row_stage<T> rows(std::vector<T> all) {
    return row_stage<T>(std::make_shared<const std::vector<T>>(std::move(all)));
}
template <class T>
    requires(!std::same_as<T, bool>)
row_stage<T> rows(std::shared_ptr<const std::vector<T>> all) {
    if (!all) throw option_error("there are no rows", "rows", "a null pointer", "a vector");
    return row_stage<T>(std::move(all));
}

template <class F>
class computed_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = std::remove_cvref_t<std::invoke_result_t<const F&, std::int64_t>>;
    using state = stage_parts::no_state;

    computed_stage(std::int64_t n, F f) : n_(n), f_(std::move(f)) {}
    std::int64_t size() const { return n_; }
    void begin(state&, std::int64_t) const {}
    value_type get(state&, std::int64_t i) const { return f_(i); }
    void prefetch(state&, std::int64_t) const {}
    SINTER_COLD void describe(description& d) const {
        d.stage("computed")("elements", n_)("function", type_text<F>());
        if constexpr (base::tells_settings<F>) f_.describe(d);
    }

private:
    std::int64_t n_;
    F f_;
};

/// n elements, of which f(i) is number i: a std::int64_t from 0 to n - 1. f is called by several threads at a time, and
/// gives the same for the same number. data::endless for n: as many as anybody takes. option_error for n < 0 else.
template <class F>
    requires std::is_invocable_v<const F&, std::int64_t>
computed_stage<F> from(std::int64_t n, F f) {
    if (n < 0 && n != endless) throw option_error("impossible number of elements", "from", to_text({n}), "0 or more");
    return {n, std::move(f)};
}

/// Whole numbers from first to last - 1, each step-th of them; step < 0: downwards, from first to last + 1.
/// option_error for step 0, and for more than 2^63 - 1 numbers.
inline auto range(std::int64_t first, std::int64_t last, std::int64_t step = 1) {
    using bits = std::uint64_t;   // in which no difference is too large
    if (step == 0) throw option_error("impossible step", "range", "0", "another number than 0");
    struct number {
        std::int64_t first, step;
        std::int64_t operator()(std::int64_t i) const {
            return static_cast<std::int64_t>(bits(first) + bits(i) * bits(step));
        }
        void describe(description& d) const { d("first", first)("step", step); }
    };
    std::int64_t n = 0;
    if (step > 0 ? first < last : first > last) {
        const bits way = step > 0 ? bits(last) - bits(first) : bits(first) - bits(last);
        const bits last_number = (way - 1) / (step > 0 ? bits(step) : -bits(step));
        if (last_number >= bits(INT64_MAX))
            throw option_error("too many numbers", "range", to_text({first, " to ", last}), "2^63 - 1 at most");
        n = static_cast<std::int64_t>(last_number) + 1;
    }
    return from(n, number{first, step});
}
inline auto range(std::int64_t n) { return range(0, n); }

} // namespace sinter::data
