// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/description.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/io/extents.hpp>
#include <sinter/io/printable.hpp>
#include <algorithm>
#endif

/// What records are made of (data/record.hpp): fields that are known at run time only.
namespace sinter::inline SINTER_ORDINARY::data {

/// What a field of a record is made of: float, std::int64_t, or texts.
enum class record_type : std::uint8_t { f32, i64, text };

/// One field of a schema.
struct record_field {
    std::string name;
    record_type type = record_type::f32;
    std::vector<std::int64_t> extents{};   ///< row by row; empty: a single value
    bool variable = false;                 ///< any number of these, one behind the other
    bool optional = false;                 ///< a record need not have it
    bool operator==(const record_field&) const = default;
};

template <class T>
class field_handle;

/// The fields of records, known when their source is made. A copy is the same schema, and costs nothing.
class record_schema {
public:
    record_schema() = default;   ///< of no fields
    /// option_error for an empty name, two fields of one name, or extents that are not positive.
    SINTER_APART SINTER_COLD record_schema(std::vector<record_field> fields);
    record_schema(std::initializer_list<record_field> fields) : record_schema(std::vector<record_field>(fields)) {}

    std::size_t size() const { return all_ ? all_->fields.size() : 0; }
    const record_field& operator[](std::size_t f) const { return all_->fields[f]; }
    /// Values that a field has: the product of its extents; where it is variable a multiple of that.
    std::size_t values(std::size_t f) const { return all_->values[f]; }
    /// The number of the field of that name. data_error, with the names that there are, where there is none.
    SINTER_SELDOM std::size_t number(std::string_view name) const;
    bool has(std::string_view name) const { return find(name) != size(); }

    /// The field of that name, to be read as a T (record::get): it is looked up here, once. data_error, with the field,
    /// what it is and what T needs, where it cannot be one.
    template <class T>
    field_handle<T> field(std::string_view name) const;

    bool is_same(const record_schema& other) const { return all_ == other.all_; }
    SINTER_SELDOM bool operator==(const record_schema& other) const;
    /// Names, types and extents.
    SINTER_SELDOM SINTER_COLD void describe(description& d) const;

private:
    struct parts {
        std::vector<record_field> fields;
        std::vector<std::size_t> values;
        std::vector<std::size_t> by_name;   ///< fields in the order of their names
    };
    std::shared_ptr<const parts> all_;   ///< null: no fields

    SINTER_SELDOM std::size_t find(std::string_view name) const;
};

namespace record_parts {

/// What T is made of, and its extents.
template <class T>
struct value_of {
    static constexpr bool fits = false;
};
template <record_type Type>
struct one_value {
    static constexpr bool fits = true, any_number = false;
    static constexpr record_type type = Type;
    static void extents(std::vector<std::int64_t>&) {}
};
template <>
struct value_of<float> : one_value<record_type::f32> {};
template <>
struct value_of<double> : one_value<record_type::f32> {};
template <std::integral N>
struct value_of<N> : one_value<record_type::i64> {};
template <>
struct value_of<std::string> : one_value<record_type::text> {};
template <>
struct value_of<std::string_view> : one_value<record_type::text> {};
template <class T, std::size_t N>
    requires(value_of<T>::fits && N > 0)
struct value_of<std::array<T, N>> {
    static constexpr bool fits = !value_of<T>::any_number, any_number = false;
    static constexpr record_type type = value_of<T>::type;
    static void extents(std::vector<std::int64_t>& to) {
        to.push_back(static_cast<std::int64_t>(N));
        value_of<T>::extents(to);
    }
};
template <record_type Type>
struct any_values : one_value<Type> {
    static constexpr bool any_number = true;
};
template <class T>
    requires(value_of<T>::fits && !value_of<T>::any_number)
struct value_of<std::vector<T>> : any_values<value_of<T>::type> {
    static constexpr bool fits = std::is_arithmetic_v<T> || value_of<T>::type == record_type::text;
};
template <>
struct value_of<span<const float>> : any_values<record_type::f32> {};
template <>
struct value_of<span<const std::int64_t>> : any_values<record_type::i64> {};

template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;
template <class T>
constexpr std::size_t count_of() {
    if constexpr (is_array<T>) return std::tuple_size_v<T> * count_of<typename T::value_type>();
    else return 1;
}
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
struct without_optional {
    using type = T;
};
template <class T>
struct without_optional<std::optional<T>> {
    using type = T;
};
template <class T>
inline constexpr bool is_value = value_of<typename without_optional<T>::type>::fits;

/// data_error where a field is not of that type, or never has these extents.
SINTER_SELDOM SINTER_COLD void need_field(const record_schema& schema, std::size_t f, record_type type,
                                          const std::vector<std::int64_t>& extents, bool any_number);
[[noreturn]] SINTER_APART SINTER_COLD void refuse_missing(const record_field& f);
[[noreturn]] SINTER_APART SINTER_COLD void refuse_count(const record_field& f, std::size_t got, std::size_t needed,
                                                        std::string_view how = {});
[[noreturn]] SINTER_APART SINTER_COLD void refuse_type(const record_field& f, record_type needed);
[[noreturn]] SINTER_APART SINTER_COLD void refuse_value(const record_field& f, std::int64_t got, std::int64_t least,
                                                        std::int64_t most);

} // namespace record_parts

/// A field of a schema, as a T: what record::get() takes so as not to look for a name each time. Threads may share it.
template <class T>
class field_handle {
public:
    const record_schema& schema() const { return schema_; }
    std::size_t number() const { return number_; }
    const std::string& name() const { return schema_[number_].name; }

private:
    friend record_schema;
    field_handle(record_schema s, std::size_t number) : schema_(std::move(s)), number_(number) {}
    record_schema schema_;
    std::size_t number_;
};

template <class T>
field_handle<T> record_schema::field(std::string_view name) const {
    static_assert(record_parts::is_value<T>, "record: a field is read as float, double, integers, std::string, "
                                             "std::string_view, arrays and vectors of these, span<const float>, "
                                             "span<const std::int64_t>, and std::optional of them");
    const std::size_t f = number(name);
    if constexpr (record_parts::is_value<T>) {
        using value = record_parts::value_of<typename record_parts::without_optional<T>::type>;
        std::vector<std::int64_t> extents;
        value::extents(extents);
        record_parts::need_field(*this, f, value::type, extents, value::any_number);
    }
    return {*this, f};
}

#if SINTER_BODIES
namespace record_parts {

SINTER_COLD inline std::string_view name_of(record_type type) {
    return type == record_type::f32 ? "floats" : type == record_type::i64 ? "integers" : "texts";
}
SINTER_COLD inline std::string where(const record_field& f) {
    return to_text({"record, field ", io::printable(f.name)});
}

SINTER_SELDOM_BODY void need_field(const record_schema& schema, std::size_t f, record_type type,
                                   const std::vector<std::int64_t>& extents, bool any_number) {
    const record_field& of = schema[f];
    if (of.type != type) refuse_type(of, type);
    if (any_number || of.variable) return;
    const auto values = static_cast<std::size_t>(io::checked_product(extents).value_or(0));
    const bool fits = extents.size() <= 1 ? values == schema.values(f) : extents == of.extents;
    if (!fits)
        throw data_error("field has other extents", where(of), io::extents_text(of.extents), io::extents_text(extents));
}

SINTER_APART void refuse_missing(const record_field& f) {
    throw data_error("field has no value", where(f), "a missing value", "a value, or a std::optional to read it");
}
SINTER_APART void refuse_count(const record_field& f, std::size_t got, std::size_t needed, std::string_view how) {
    throw data_error("field has another number of values", where(f), to_text({got}), to_text({how, needed}));
}
SINTER_APART void refuse_type(const record_field& f, record_type needed) {
    throw data_error("field is of another type", where(f), name_of(f.type), name_of(needed));
}
SINTER_APART void refuse_value(const record_field& f, std::int64_t got, std::int64_t least, std::int64_t most) {
    throw data_error("value is beyond the number's range", where(f), to_text({got}), to_text({least, " to ", most}));
}

} // namespace record_parts

SINTER_COLD SINTER_APART record_schema::record_schema(std::vector<record_field> fields) {
    parts p{std::move(fields), {}, {}};
    for (std::size_t f = 0; f < p.fields.size(); ++f) {
        const record_field& field = p.fields[f];
        std::uint64_t values = 1;
        for (const std::int64_t e : field.extents) {
            if (e < 1 || static_cast<std::uint64_t>(e) > INT32_MAX / values)
                throw option_error("impossible extents", record_parts::where(field), io::extents_text(field.extents),
                                   "positive ones, 2147483647 values at most");
            values *= static_cast<std::uint64_t>(e);
        }
        if (field.name.empty())
            throw option_error("a field without a name", to_text({"record_schema, field ", f}), {}, "a name");
        p.values.push_back(static_cast<std::size_t>(values));
        p.by_name.push_back(f);
    }
    std::sort(p.by_name.begin(), p.by_name.end(),
              [&](std::size_t a, std::size_t b) { return p.fields[a].name.compare(p.fields[b].name) < 0; });
    for (std::size_t i = 1; i < p.by_name.size(); ++i)
        if (const record_field& f = p.fields[p.by_name[i]]; f.name == p.fields[p.by_name[i - 1]].name)
            throw option_error("two fields of one name", "record_schema", io::printable(f.name), "names that differ");
    all_ = std::make_shared<const parts>(std::move(p));
}

SINTER_SELDOM_BODY std::size_t record_schema::find(std::string_view name) const {
    if (!all_) return 0;
    const std::vector<std::size_t>& sorted = all_->by_name;
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), name, [&](std::size_t f, std::string_view n) {
        return all_->fields[f].name.compare(n) < 0;
    });
    return at != sorted.end() && all_->fields[*at].name == name ? *at : size();
}

SINTER_SELDOM_BODY bool record_schema::operator==(const record_schema& other) const {
    if (is_same(other)) return true;
    if (size() != other.size()) return false;
    for (std::size_t f = 0; f < size(); ++f)
        if (!((*this)[f] == other[f])) return false;
    return true;
}

SINTER_SELDOM_BODY std::size_t record_schema::number(std::string_view name) const {
    if (const std::size_t f = find(name); f != size()) return f;
    std::string names;
    constexpr std::size_t most = 20;
    for (std::size_t f = 0; f < size() && f < most; ++f)
        names += to_text({f ? ", " : "", io::printable(all_->fields[f].name)});
    if (size() > most) names += to_text({" and ", size() - most, " more"});
    throw data_error("no such field", "record", names.empty() ? "none" : names, io::printable(name));
}

SINTER_SELDOM_BODY void record_schema::describe(description& d) const {
    std::string text;
    for (std::size_t i = 0; i < size(); ++i) {
        const record_field& f = (*this)[i];
        text += to_text({f.name, "\n", static_cast<int>(f.type), io::extents_text(f.extents),
                         f.variable ? " variable" : "", f.optional ? " optional" : "", "\n"});
    }
    d("fields", size())("names, types and extents (their hash)", base::fnv1a(text));
}
#endif

} // namespace sinter::data
