// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/record_schema.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/transform/batch.hpp>
#include <limits>
#include <utility>
#if SINTER_BODIES
#include <algorithm>
#endif

/// Elements whose fields are known at run time only.
namespace sinter::inline SINTER_ORDINARY::data {

/// An element whose fields are known at run time: values by name, as a schema says.
///
///     auto rows = data::csv::records("adult.csv");
///     const auto age = rows.schema().field<int>("age");
///     const auto work = rows.schema().field<std::string_view>("workclass");
///     auto train = rows | data::map([=](const data::record& r) {
///         return sample{{r.get(age) / 90.f, r.get(work) == "Private"}, r.get<std::int64_t>("hours_per_week") > 40};
///     }) | data::shuffle() | data::batch(64);
///
/// A model takes structs: a map as this one makes them. Memory: 24 bytes for each field, and the values.
class record {
public:
    record() = default;
    /// Without values.
    explicit record(record_schema s) : schema_(std::move(s)), slots_(schema_.size()) {}

    const record_schema& schema() const { return schema_; }

    /// A field's value, as a T:
    ///
    /// | T | field |
    /// |---|---|
    /// | float, double | one value of type f32 |
    /// | integers, bool | one value of type i64, within T's range |
    /// | std::string, std::string_view | one text |
    /// | std::array of these, nested | as many values: the field's extents, or all values along one axis |
    /// | std::vector of numbers or of texts, span<const float>, span<const std::int64_t> | any number of values |
    /// | std::optional of all these | empty where the record has no value |
    ///
    /// Views are into the record. data_error, with the field, what it is and what T needs, where it is of another type,
    /// has no value or another number of them. A field of another schema is looked up by its name.
    template <class T>
    T get(const field_handle<T>& f) const {
        if (f.schema().is_same(schema_)) return read<T>(f.number());
        return get<T>(f.name());
    }
    template <class T>
    T get(std::string_view name) const {
        return read<T>(schema_.template field<T>(name).number());
    }
    /// Whether the record has no value of that field, or one that stands for "not known" (csv::options).
    bool is_missing(std::size_t f) const { return slots_[f].missing; }
    bool is_missing(std::string_view name) const { return is_missing(schema_.number(name)); }
    /// All values of a field; empty where it is of another type.
    span<const float> floats(std::size_t f) const { return part(floats_, f, record_type::f32); }
    span<const std::int64_t> integers(std::size_t f) const { return part(integers_, f, record_type::i64); }
    span<const std::string> texts(std::size_t f) const { return part(texts_, f, record_type::text); }

    // For those who make records. data_error where a field is of another type, or has not so many values.

    SINTER_SELDOM record& set(std::size_t f, span<const float> values);
    SINTER_SELDOM record& set(std::size_t f, span<const std::int64_t> values);
    SINTER_SELDOM record& set(std::size_t f, span<const std::string_view> values);
    /// A number, a text, or a container of them, by the field's name. Whole numbers may become floats.
    template <class V>
    record& set(std::string_view name, const V& value) {
        const std::size_t f = schema_.number(name);
        if constexpr (std::is_convertible_v<const V&, std::string_view>) {
            return set_all<std::string_view>(f, &value, &value + 1);
        } else if constexpr (std::is_arithmetic_v<V>) {
            return set_numbers<V>(f, &value, &value + 1);
        } else {
            using one = typename V::value_type;
            if constexpr (std::is_arithmetic_v<one>) return set_numbers<one>(f, std::begin(value), std::end(value));
            else return set_all<std::string_view>(f, std::begin(value), std::end(value));
        }
    }
    /// Memory of n values, for their writer.
    SINTER_SELDOM span<float> floats_to_write(std::size_t f, std::size_t n);
    SINTER_SELDOM span<std::int64_t> integers_to_write(std::size_t f, std::size_t n);
    /// There is none, or what was set before stands for "not known".
    record& set_missing(std::size_t f) {
        slots_[f].missing = true;
        return *this;
    }

    /// Equal schemas and equal values.
    SINTER_SELDOM bool operator==(const record& other) const;

private:
    struct slot {
        std::size_t begin = 0;      ///< in the values of its type
        std::size_t count = 0;
        bool missing = true;
    };
    record_schema schema_;
    std::vector<slot> slots_;
    std::vector<float> floats_;
    std::vector<std::int64_t> integers_;
    std::vector<std::string> texts_;

    template <class N>
    span<const N> part(const std::vector<N>& all, std::size_t f, record_type type) const {
        if (schema_[f].type != type) return {};
        return {all.data() + slots_[f].begin, slots_[f].count};
    }
    SINTER_SELDOM void begin_values(std::size_t f, record_type type, std::size_t n);
    template <class N>
    span<N> room(std::vector<N>& all, std::size_t f, record_type type, std::size_t n) {
        begin_values(f, type, n);
        slots_[f] = {all.size(), n, false};
        all.resize(all.size() + n);
        return {all.data() + slots_[f].begin, n};
    }

    template <class Kept, class Iterator>
    record& set_all(std::size_t f, Iterator first, Iterator last) {
        std::vector<Kept> all;
        for (; first != last; ++first) all.push_back(static_cast<Kept>(*first));
        return set(f, span<const Kept>(all));
    }
    template <class N, class Iterator>
    record& set_numbers(std::size_t f, Iterator first, Iterator last) {
        if (std::floating_point<N> || schema_[f].type == record_type::f32) return set_all<float>(f, first, last);
        return set_all<std::int64_t>(f, first, last);
    }

    /// The field is known to be of T's type.
    template <class T>
    T read(std::size_t f) const {
        using namespace record_parts;
        const slot& s = slots_[f];
        if constexpr (is_optional<T>) {
            if (s.missing) return {};
            return read<typename T::value_type>(f);
        } else {
            if (s.missing && s.count == 0) refuse_missing(schema_[f]);
            T to{};
            if constexpr (std::same_as<T, span<const float>>) {
                to = floats(f);
            } else if constexpr (std::same_as<T, span<const std::int64_t>>) {
                to = integers(f);
            } else if constexpr (value_of<T>::any_number) {
                to.reserve(s.count);
                for (std::size_t i = 0; i < s.count; ++i) {
                    typename T::value_type one{};
                    put(one, f, s.begin + i);
                    to.push_back(std::move(one));
                }
            } else {
                if (s.count != count_of<T>()) refuse_count(schema_[f], s.count, count_of<T>());
                std::size_t at = s.begin;
                put_all(to, f, at);
            }
            return to;
        }
    }
    template <class T>
    void put_all(T& to, std::size_t f, std::size_t& at) const {
        if constexpr (record_parts::is_array<T>)
            for (auto& one : to) put_all(one, f, at);
        else put(to, f, at++);
    }
    template <class T>
    void put(T& to, std::size_t f, std::size_t at) const {
        if constexpr (std::floating_point<T>) {
            to = floats_[at];
        } else if constexpr (std::integral<T>) {
            const std::int64_t x = integers_[at];
            if constexpr (sizeof(T) < 8) {   // one of 64 bits without a sign is kept as one with a sign
                constexpr auto least = std::int64_t{std::numeric_limits<T>::min()};
                constexpr auto most = std::int64_t{std::numeric_limits<T>::max()};
                if (x < least || x > most) record_parts::refuse_value(schema_[f], x, least, most);
            }
            to = static_cast<T>(x);
        } else {
            to = texts_[at];
        }
    }
};

namespace record_parts {
template <class>
refused_stage refused() {
    return {};
}
} // namespace record_parts

template <element_stage Up>
    requires std::same_as<typename Up::value_type, record>
auto operator|(Up, batch_step s) {
    constexpr bool fits = !std::same_as<typename Up::value_type, record>;
    static_assert(fits, "batch: the fields of a record are known at run time only; needed is a map before it that "
                        "makes a struct of each");
    return record_parts::refused<Up>() | s;
}

#if SINTER_BODIES
/// That n values of that type can be the field's.
SINTER_SELDOM_BODY void record::begin_values(std::size_t f, record_type type, std::size_t n) {
    const record_field& field = schema_[f];
    if (field.type != type) record_parts::refuse_type(field, type);
    const std::size_t values = schema_.values(f);
    if (field.variable ? n % values != 0 : n != values)
        record_parts::refuse_count(field, n, values, field.variable ? "a multiple of " : "");
}

SINTER_SELDOM_BODY span<float> record::floats_to_write(std::size_t f, std::size_t n) {
    return room(floats_, f, record_type::f32, n);
}
SINTER_SELDOM_BODY span<std::int64_t> record::integers_to_write(std::size_t f, std::size_t n) {
    return room(integers_, f, record_type::i64, n);
}
SINTER_SELDOM_BODY record& record::set(std::size_t f, span<const float> values) {
    std::copy(values.begin(), values.end(), floats_to_write(f, values.size()).begin());
    return *this;
}
SINTER_SELDOM_BODY record& record::set(std::size_t f, span<const std::int64_t> values) {
    std::copy(values.begin(), values.end(), integers_to_write(f, values.size()).begin());
    return *this;
}
SINTER_SELDOM_BODY record& record::set(std::size_t f, span<const std::string_view> values) {
    std::string* to = room(texts_, f, record_type::text, values.size()).begin();
    for (const std::string_view text : values) *to++ = text;
    return *this;
}

SINTER_SELDOM_BODY bool record::operator==(const record& other) const {
    if (!(schema_ == other.schema_)) return false;
    const auto equal = [](const auto& a, const auto& b) {
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
    };
    for (std::size_t f = 0; f < schema_.size(); ++f)
        if (is_missing(f) != other.is_missing(f) || !equal(floats(f), other.floats(f)) ||
            !equal(integers(f), other.integers(f)) || !equal(texts(f), other.texts(f)))
            return false;
    return true;
}
#endif

} // namespace sinter::data
