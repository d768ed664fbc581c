// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/prefetch.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/data/fitted_fields.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/type_text.hpp>
#include <array>
#include <utility>

/// A data::dataset as typed elements.
namespace sinter::inline SINTER_ORDINARY::data {

namespace dataset_parts {

template <class F>
struct without_extra {
    using type = F;
};
template <class F>
struct without_extra<extra<F>> {
    using type = F;
};

template <class F>
inline constexpr bool is_row = [] {
    using inner = typename without_extra<F>::type;
    using number = typename element_parts::form_of_field<inner>::number;
    constexpr field_form form = element_parts::form_of_field<inner>::form;
    return form.kind == field_form::column &&
           (form.pixels || std::same_as<number, float> || std::same_as<number, std::int32_t>);
}();
template <class F>
inline constexpr bool is_of_floats =
    std::same_as<typename element_parts::form_of_field<typename without_extra<F>::type>::number, float>;
template <class T>
inline constexpr bool is_element = []<class... P>(element_parts::part_list<P...>) {
    return (is_row<typename P::type> && ...);
}(typename element_parts::parts_of<T>::type{});

/// All fields; of a data::extra what is in it.
template <class T>
inline constexpr auto fields_of = []<class... P>(element_parts::part_list<P...>) {
    return std::array<element_field, sizeof...(P)>{
        {{P::name, element_parts::with_an_axis(
                       element_parts::form_of_field<typename without_extra<typename P::type>::type>::form)}...}};
}(typename element_parts::parts_of<T>::type{});

/// Where the rows of a field's column lie.
struct rows_of_field {
    row_array rows;
    std::size_t bytes = 0;           ///< of a row
    bool bytes_to_floats = false;   ///< pixels into a field of floats
};
/// data_error where fields do not fit the columns.
SINTER_SELDOM SINTER_COLD void fit_columns(const dataset& set, span<const element_field> fields,
                                           span<rows_of_field> to);
SINTER_SELDOM SINTER_COLD void describe_set(description& d, const dataset& set);

} // namespace dataset_parts

template <class T>
class dataset_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = T;
    struct state {};

    explicit dataset_stage(dataset set) : set_(std::move(set)) {
        dataset_parts::fit_columns(set_, dataset_parts::fields_of<T>, rows_);
    }
    std::int64_t size() const { return set_.size(); }
    void begin(state&, std::int64_t) const {}
    T get(state&, std::int64_t i) const {
        T to{};
        for_each_element_field(to, [&]<class F>(auto n, F& field) {
            const dataset_parts::rows_of_field& f = rows_[std::size_t{n}];
            const void* const row = row_of(f, i);
            if constexpr (dataset_parts::is_of_floats<F>)
                if (f.bytes_to_floats)
                    return shares_of_bytes(static_cast<const std::uint8_t*>(row), reinterpret_cast<float*>(&field),
                                           sizeof(F) / sizeof(float));
            std::memcpy(&field, row, f.bytes);
        });
        return to;
    }
    __attribute__((always_inline)) void prefetch(state&, std::int64_t i) const {
        if constexpr (sizeof(T) <= 4096)   // of large ones processors ask for enough by themselves
            for (const dataset_parts::rows_of_field& f : rows_)
                base::prefetch_lines(row_of(f, i), static_cast<std::int64_t>(f.bytes));
    }
    SINTER_COLD void describe(description& d) const {
        dataset_parts::describe_set(d, set_);
        d("element", type_text<T>());
    }

private:
    dataset set_;   ///< has the rows
    std::array<dataset_parts::rows_of_field, static_cast<std::size_t>(element_fields<T>)> rows_{};

    static const char* row_of(const dataset_parts::rows_of_field& f, std::int64_t i) {
        return static_cast<const char*>(f.rows.first) + static_cast<std::size_t>(i) * f.rows.stride;
    }
};

/// The examples of a data::dataset as elements of type T, an indexed stage:
///
///     struct sample { std::array<float, 4> x; std::int32_t label; };
///     auto train = data::from_dataset<sample>(set) | data::map(...) | data::shuffle() | data::batch(64);
///
/// A field takes the column of its name where a column has that name, inputs before targets; else the next column that
/// has no name, in the order in which they were added. Columns that have names may be left over. Fields are float and
/// std::int32_t, arrays of them with the column's extents (axes of one do not count) or as many numbers along one axis,
/// and data::pixels; pixels become a field of floats as a net gets them, each byte / 255. data_error, with the field,
/// its column and what T needs, is thrown when this is called. The set is shared, not copied.
template <class T>
auto from_dataset(dataset set) {
    constexpr bool fits = dataset_parts::is_element<T>;
    static_assert(fits, "from_dataset: a field is none that a column of a dataset can be: float, std::int32_t, arrays "
                        "of them, and pixels");
    if constexpr (fits) return dataset_stage<T>(std::move(set));
    else return refused_stage{};
}

#if SINTER_BODIES
namespace dataset_parts {

SINTER_COLD inline std::string text_of_row(shape row, bool pixels) {
    std::string all;
    for (int a = 0; a < row.rank; ++a) all += to_text({a ? " x " : "", row.d[a]});
    return to_text({all, pixels ? " pixels" : row.type == dtype::i32 ? " whole numbers" : " floats"});
}

SINTER_SELDOM_BODY void fit_columns(const dataset& set, span<const element_field> fields, span<rows_of_field> to) {
    const column_list& columns = set.columns();
    bool taken[column_list::most] = {};
    const auto where = [&](std::size_t f) {
        return fields[f].name.empty() ? to_text({"from_dataset, field ", f})
                                      : to_text({"from_dataset, field ", fields[f].name});
    };
    const auto text_of_column = [&](std::size_t c) {
        const std::string what = text_of_row(columns[c].row, columns[c].pixels);
        return columns[c].name ? to_text({"column ", columns[c].name, ": ", what})
                               : to_text({"column ", c, ": ", what});
    };
    std::size_t next = 0;
    for (std::size_t f = 0; f < fields.size(); ++f) {
        const field_form& form = fields[f].form;
        std::size_t c = 0;
        while (c < columns.size() && (taken[c] || !columns[c].name || fields[f].name != columns[c].name)) ++c;
        if (c == columns.size()) {
            while (next < columns.size() && columns[next].name) ++next;
            c = next++;
        }
        const std::string needed = text_of_row(form.row, form.pixels);
        if (c >= columns.size()) throw data_error("no column for a field", where(f), {}, needed);
        taken[c] = true;
        const column& from = columns[c];
        const bool same_numbers = from.pixels ? form.row.type == dtype::f32
                                              : !form.pixels && form.row.type == from.row.type;
        if (!same_numbers || !element_parts::same_extents(form.row, element_parts::with_an_axis(from.row)))
            throw data_error("column does not fit the field", where(f), text_of_column(c), needed);
        to[f].bytes = from.stored_bytes();
        to[f].bytes_to_floats = from.pixels && !form.pixels;
        to[f].rows = {set.size() > 0 ? set.row(c, 0) : nullptr, from.stored_bytes()};
    }
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (!taken[c] && !columns[c].name)
            throw data_error("no field for a column", "from_dataset", text_of_column(c),
                             "a field for each column that has no name");
}

SINTER_SELDOM_BODY void describe_set(description& d, const dataset& set) {
    base::fnv1a_hash h;
    for (std::size_t c = 0; set.size() > 0 && c < set.columns().size(); ++c)
        for (const std::int64_t i : {std::int64_t{0}, set.size() - 1})
            for (std::size_t b = 0; b < set.columns()[c].stored_bytes(); ++b)
                h.add(static_cast<const unsigned char*>(set.row(c, i))[b]);
    d.stage("rows of a dataset")("rows", set.size())("the first and the last row (their hash)", h.value());
}

} // namespace dataset_parts
#endif

} // namespace sinter::data
