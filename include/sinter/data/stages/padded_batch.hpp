// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/collected.hpp>
#include <limits>
#if SINTER_BODIES
#include <sinter/data/stages/counts.hpp>
#endif

/// Vectors of different lengths as a table, whose rows are filled up.
namespace sinter::inline SINTER_ORDINARY::data {

/// Rows of one width, one behind the other. Behind a row's own values is padding.
template <class T>
struct padded_rows {
    std::vector<T> values;               ///< rows() times width
    std::int64_t width = 0;
    std::vector<std::int64_t> lengths;   ///< how many values are a row's own
    bool operator==(const padded_rows&) const = default;

    std::int64_t rows() const { return static_cast<std::int64_t>(lengths.size()); }
    decltype(auto) operator()(std::int64_t row, std::int64_t i) const {
        return values[static_cast<std::size_t>(row * width + i)];
    }
};

/// value: what rows are filled up with. Numbers have it, and those of arrays; texts and structs are as by default. It
/// is a double, in which whole numbers are exact to 2^53.
/// width: of each batch; longer rows are a data_error. 0: as wide as the longest row of the batch.
/// drop_remainder: a last batch that is not full is left out.
struct padded_batch_options {
    double value = 0;
    std::int64_t width = 0;
    bool drop_remainder = false;
};
struct padded_batch_step {
    window_step window;
    double value;
    std::int64_t width;
};

/// n elements as one, each field a column of n. A std::vector<T> becomes padded_rows<T>, which all have the width of
/// the longest; anything else a std::vector, a text too. A struct or a tuple becomes a std::tuple of its fields'
/// columns, those of structs within counted one by one, and an element that is itself a vector padded_rows:
///
///     struct text { std::vector<int> words; int topic; };
///     texts | data::padded_batch(32, {.value = -1})   // std::tuple<padded_rows<int>, std::vector<int>>
///
/// It is for whoever reads elements, or maps them on; a model's batches are made by batch(), behind pad_to<N>(). As
/// tf.data's padded_batch, with the same padding by default: 0 and the empty text. It is indexed where the stage before
/// is, and costs what window(n) does. option_error unless n is 1 or more, or for a value that a field's type has not.
SINTER_SELDOM padded_batch_step padded_batch(std::int64_t n, padded_batch_options o = {});

namespace stage_parts {
SINTER_SELDOM SINTER_COLD std::int64_t need_width(std::int64_t width);
} // namespace stage_parts

#if SINTER_BODIES
SINTER_SELDOM_BODY std::int64_t stage_parts::need_width(std::int64_t width) {
    return at_least(0, width, "impossible width", "padded_batch", "1 or more, or 0: the longest row's");
}

SINTER_SELDOM_BODY padded_batch_step padded_batch(std::int64_t n, padded_batch_options o) {
    stage_parts::at_least(1, n, "impossible batch size", "padded_batch", "1 or more");
    stage_parts::need_width(o.width);
    return {window(n, {.drop_remainder = o.drop_remainder}), o.value, o.width};
}
#endif

namespace stage_parts {

/// Whether a number of type N, or those of an array, can be `value`.
template <class N>
constexpr bool has_value(double value) {
    if constexpr (element_parts::is_array<N>) {
        return has_value<typename N::value_type>(value);
    } else if constexpr (std::is_integral_v<N>) {
        constexpr double low = static_cast<double>(std::numeric_limits<N>::min());
        constexpr double beyond = 2. * static_cast<double>(std::uint64_t{1} << (std::numeric_limits<N>::digits - 1));
        return value >= low && value < beyond && static_cast<double>(static_cast<N>(value)) == value;
    } else {
        return true;
    }
}
template <class N>
N padding_of(double value) {
    N n{};
    if constexpr (std::is_arithmetic_v<N>) n = static_cast<N>(value);
    else if constexpr (element_parts::is_array<N>) n.fill(padding_of<typename N::value_type>(value));
    return n;
}

SINTER_SELDOM SINTER_COLD void refuse_padding(double value);
SINTER_SELDOM SINTER_COLD void refuse_row(std::size_t values, std::int64_t width);

template <class T>
class padded_columns {
    using batch_type = batch_of<T, padded_rows>;

public:
    using batch = typename batch_type::type;

    padded_columns(double value, std::int64_t width) : value_(value), width_(need_width(width)) {
        []<class... P>(element_parts::part_list<P...>, double v) {
            (check<typename P::type>(v), ...);
        }(typename batch_type::parts{}, value);
    }
    batch operator()(std::vector<T> elements) const {
        return batch_type::of(std::move(elements), [&]<class N>(padded_rows<N>& to, auto& all, auto vector_of) {
            to.width = width_;
            for (auto& e : all)
                if (const auto n = static_cast<std::int64_t>(vector_of(e).size()); n > to.width) {
                    if (width_ > 0) refuse_row(vector_of(e).size(), width_);
                    to.width = n;
                }
            to.values.reserve(all.size() * static_cast<std::size_t>(to.width));
            to.lengths.reserve(all.size());
            const N padding = padding_of<N>(value_);
            for (auto& e : all) {
                auto& row = vector_of(e);
                to.lengths.push_back(static_cast<std::int64_t>(row.size()));
                to.values.insert(to.values.end(), std::make_move_iterator(row.begin()),
                                 std::make_move_iterator(row.end()));
                to.values.insert(to.values.end(), static_cast<std::size_t>(to.width) - row.size(), padding);
            }
        });
    }
    SINTER_COLD void describe(description& d) const {
        d.stage("padded_batch")("value", value_)("width", width_);
    }

private:
    double value_;
    std::int64_t width_;

    template <class F>
    static void check(double value) {
        if constexpr (is_vector<F>)
            if (!has_value<typename F::value_type>(value)) refuse_padding(value);
    }
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void refuse_padding(double value) {
    throw option_error("impossible padding", "padded_batch", base::number_text(value),
                       "a value that the numbers of all vectors can have");
}
SINTER_SELDOM_BODY void refuse_row(std::size_t values, std::int64_t width) {
    throw data_error("a vector is longer than what it is padded to", "padded_batch", to_text({values, " values"}),
                     to_text({"at most ", width}));
}
#endif

} // namespace stage_parts

/// The same of elements that are together already, as group_by_window() and bucket_by_sequence_length() give them. For
/// maps; o.drop_remainder means nothing here.
///
///     data::map([](const std::vector<text>& group) { return data::padded_batch_of(group, {.value = -1}); })
template <class T>
auto padded_batch_of(std::vector<T> elements, padded_batch_options o = {}) {
    constexpr bool fits = stage_parts::has_vectors<T>;
    static_assert(fits, "padded_batch_of: needed are elements that are a std::vector, or a struct or a tuple with one");
    if constexpr (fits) return stage_parts::padded_columns<T>(o.value, o.width)(std::move(elements));
}

template <element_stage Up>
auto operator|(Up up, padded_batch_step s) {
    using element = typename Up::value_type;
    constexpr bool fits = stage_parts::has_vectors<element>;
    static_assert(fits, "padded_batch: needed are elements that are a std::vector, or a struct or a tuple with one");
    if constexpr (fits) {
        stage_parts::padded_columns<element> columns(s.value, s.width);
        auto windows = std::move(up) | s.window;
        return stage_parts::collected_stage(std::move(windows), std::move(columns));
    } else {
        return refused_stage{};
    }
}

} // namespace sinter::data
