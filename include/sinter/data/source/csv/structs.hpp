// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/fields.hpp>
#include <sinter/data/source/csv/number.hpp>
#include <sinter/data/source/csv/values.hpp>
#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>

/// Records of CSV files as structs.
namespace sinter::inline SINTER_ORDINARY::data::csv {

/// How records become structs.
struct struct_options {
    char decimal = '.';                        ///< or ',': the sign between a number's whole part and the rest
    std::vector<std::string> may_be_absent{};  ///< columns of std::optional fields that a file need not have
};

namespace detail {

template <class F>
inline constexpr bool is_optional = false;
template <class F>
inline constexpr bool is_optional<std::optional<F>> = true;

/// The field of a record into the field of a struct.
template <class To>
void put(To& to, const field& f, const value_place& at) {
    if constexpr (is_optional<To>) {
        if (f.missing) return to.reset();
        put(to.emplace(), f, at);
    } else if constexpr (std::same_as<To, bool>) {
        to = read_truth(f, at);
    } else if constexpr (std::unsigned_integral<To> && !std::same_as<To, char>) {
        to = static_cast<To>(read_unsigned(f, at, std::numeric_limits<To>::max()));
    } else if constexpr (std::signed_integral<To> && !std::same_as<To, char>) {
        to = static_cast<To>(
            read_integer(f, at, std::numeric_limits<To>::min(), std::numeric_limits<To>::max()));
    } else if constexpr (std::same_as<To, float>) {
        to = read_float(f, at);
    } else if constexpr (std::same_as<To, double>) {
        to = read_double(f, at);
    } else if constexpr (std::same_as<To, std::string>) {
        to.assign(f.text);
    } else if constexpr (std::same_as<To, std::string_view>) {
        to = f.text;
    } else {
        static_assert(sizeof(To) == 0, "csv: a field of the struct is none that a column can be read into: integers, "
                                       "bool, float, double, std::string, std::string_view, and std::optional of them");
    }
}

/// Whether a struct shows texts that end with the record that they are of.
template <class T>
inline constexpr bool has_views = []<std::size_t... I>(std::index_sequence<I...>) {
    return (false || ... ||
            (std::same_as<base::field_type<T, static_cast<int>(I)>, std::string_view> ||
             std::same_as<base::field_type<T, static_cast<int>(I)>, std::optional<std::string_view>>));
}(std::make_index_sequence<static_cast<std::size_t>(base::field_count<T>)>{});

} // namespace detail

/// Which columns of a file the fields of T take: each the one of its name. Fields are as struct_reader says.
template <class T>
class struct_columns {
public:
    struct taken {
        std::size_t column;
        void (*put)(T&, const field&, const value_place&);   ///< into the field of T
    };

    /// data_error, naming all columns, where there is none of a field's name; option_error where columns have no names,
    /// or `may_be_absent` names what is no std::optional field. `file` is what errors call it.
    struct_columns(const std::vector<std::string>& names, const std::string& file, struct_options o)
        : decimal_(o.decimal) {
        if (o.decimal != '.' && o.decimal != ',')
            throw option_error("impossible decimal sign", file, io::printable({&o.decimal, 1}), "'.' or ','");
        if (names.empty())
            throw option_error("columns are found by their names", file, "a file without a header", "options::names");
        [&]<std::size_t... I>(std::index_sequence<I...>) { (find<static_cast<int>(I)>(names, file, o), ...); }(
            std::make_index_sequence<static_cast<std::size_t>(base::field_count<T>)>{});
        if (!o.may_be_absent.empty())
            throw option_error("no std::optional field has this name", file + ", may_be_absent",
                               io::printable(o.may_be_absent.front()), "a field's name");
    }
    const std::vector<taken>& all() const { return all_; }
    char decimal() const { return decimal_; }

private:
    char decimal_;
    std::vector<taken> all_;

    template <int I>
    void find(const std::vector<std::string>& names, const std::string& file, struct_options& o) {
        using type = base::field_type<T, I>;
        constexpr std::string_view name = base::field_name<T, I>;
        if constexpr (detail::is_optional<type>) {
            const auto absent = std::find(o.may_be_absent.begin(), o.may_be_absent.end(), name);
            if (absent != o.may_be_absent.end()) {
                o.may_be_absent.erase(absent);
                if (std::find(names.begin(), names.end(), name) == names.end()) return;
            }
        }
        all_.push_back({static_cast<std::size_t>(find_column(names, name, file)),
                        [](T& to, const field& f, const value_place& at) { detail::put(base::field<I>(to), f, at); }});
    }
};

/// Reads a file's records into structs of type T. A field takes the column of its name; columns that no field names are
/// left alone. Fields are integers, bool, float, double, std::string, std::string_view (good until the next record), or
/// std::optional of these, which is empty where the value is missing (csv::options). Texts are as they stand in the
/// file, an empty one is not missing.
///
///     struct passenger { float age; std::optional<int> hours_per_week; std::string workclass; };
///     csv::struct_reader<passenger> rows(reader);
///     for (passenger p; rows.next(p);) ...
template <class T>
class struct_reader {
public:
    /// Throws as struct_columns does. `reader` must outlive this.
    explicit struct_reader(reader& in, struct_options o = {})
        : in_(in), columns_(in.names(), in.file(), std::move(o)) {}

    /// The next record; false at the end. format_error, with file, line, column and the column's name, where a value is
    /// not of its field's type; `to` may then be changed in part.
    bool next(T& to) {
        if (!in_.next()) return false;
        for (const auto& c : columns_.all())
            c.put(to, field_of(in_.fields(), c.column, in_.file()),
                  {&in_.file(), &in_.names()[c.column], columns_.decimal()});
        return true;
    }

private:
    reader& in_;
    struct_columns<T> columns_;
};

} // namespace sinter::data::csv
