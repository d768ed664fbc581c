// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/data/stages/collected.hpp>
#if SINTER_BODIES
#include <sinter/data/stages/counts.hpp>
#endif

/// Vectors of different lengths, one behind the other.
namespace sinter::inline SINTER_ORDINARY::data {

/// Row r has the values from row_splits[r] to row_splits[r + 1] - 1, as in tf.RaggedTensor.
template <class T>
struct ragged {
    std::vector<T> values;
    std::vector<std::int64_t> row_splits{0};
    bool operator==(const ragged&) const = default;

    std::int64_t rows() const { return static_cast<std::int64_t>(row_splits.size()) - 1; }
    span<const T> row(std::int64_t r) const {
        const std::int64_t* const at = row_splits.data() + r;
        return {values.data() + at[0], static_cast<std::size_t>(at[1] - at[0])};
    }
};

struct ragged_batch_options {
    bool drop_remainder = false;   ///< leave out a last batch that is not full
};
struct ragged_batch_step {
    window_step window;
};

/// n elements as one, as padded_batch() does it (padded_batch.hpp), and nothing is filled up: a std::vector<T> becomes
/// ragged<T>.
///
///     struct text { std::vector<int> words; int topic; };
///     texts | data::ragged_batch(32)   // std::tuple<ragged<int>, std::vector<int>>
///
/// option_error unless n is 1 or more.
SINTER_SELDOM ragged_batch_step ragged_batch(std::int64_t n, ragged_batch_options o = {});

#if SINTER_BODIES
SINTER_SELDOM_BODY ragged_batch_step ragged_batch(std::int64_t n, ragged_batch_options o) {
    stage_parts::at_least(1, n, "impossible batch size", "ragged_batch", "1 or more");
    return {window(n, {.drop_remainder = o.drop_remainder})};
}
#endif

namespace stage_parts {

template <class T>
struct ragged_columns {
    using batch = typename batch_of<T, ragged>::type;

    batch operator()(std::vector<T> elements) const {
        return batch_of<T, ragged>::of(std::move(elements), []<class N>(ragged<N>& to, auto& all, auto vector_of) {
            to.row_splits.reserve(all.size() + 1);
            for (auto& e : all)
                to.row_splits.push_back(to.row_splits.back() + static_cast<std::int64_t>(vector_of(e).size()));
            to.values.reserve(static_cast<std::size_t>(to.row_splits.back()));
            for (auto& e : all) {
                auto& row = vector_of(e);
                to.values.insert(to.values.end(), std::make_move_iterator(row.begin()),
                                 std::make_move_iterator(row.end()));
            }
        });
    }
    SINTER_COLD void describe(description& d) const { d.stage("ragged_batch"); }
};

} // namespace stage_parts

/// The same of elements that are together already (padded_batch_of()).
template <class T>
auto ragged_batch_of(std::vector<T> elements) {
    constexpr bool fits = stage_parts::has_vectors<T>;
    static_assert(fits, "ragged_batch_of: needed are elements that are a std::vector, or a struct or a tuple with one");
    if constexpr (fits) return stage_parts::ragged_columns<T>{}(std::move(elements));
}

template <element_stage Up>
auto operator|(Up up, ragged_batch_step s) {
    using element = typename Up::value_type;
    constexpr bool fits = stage_parts::has_vectors<element>;
    static_assert(fits, "ragged_batch: needed are elements that are a std::vector, or a struct or a tuple with one");
    if constexpr (fits) {
        auto windows = std::move(up) | s.window;
        return stage_parts::collected_stage(std::move(windows), stage_parts::ragged_columns<element>{});
    } else {
        return refused_stage{};
    }
}

} // namespace sinter::data
