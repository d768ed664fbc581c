// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>
#if SINTER_BODIES
#include <sinter/io/protobuf/writer.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::tfrecord {

/// A tf.train.Example that is being made. A name that is there already gets the new values. Features are written in
/// the order of their names' bytes, as protobuf does where it is asked for the same bytes each time
/// (SerializeToString(deterministic=True)).
class example {
public:
    example& floats(std::string_view name, span<const float> values) {
        return add(name, of_floats, values.data(), values.size());
    }
    example& floats(std::string_view name, std::initializer_list<float> values) {
        return add(name, of_floats, values.begin(), values.size());
    }
    example& integers(std::string_view name, span<const std::int64_t> values) {
        return add(name, of_integers, values.data(), values.size());
    }
    example& integers(std::string_view name, std::initializer_list<std::int64_t> values) {
        return add(name, of_integers, values.begin(), values.size());
    }
    /// One value, or several.
    example& bytes(std::string_view name, span<const std::byte> value) {
        return text(name, {reinterpret_cast<const char*>(value.data()), value.size()});
    }
    example& text(std::string_view name, std::string_view value) { return add(name, of_texts, &value, 1); }
    example& texts(std::string_view name, span<const std::string_view> values) {
        return add(name, of_texts, values.data(), values.size());
    }
    example& texts(std::string_view name, std::initializer_list<std::string_view> values) {
        return add(name, of_texts, values.begin(), values.size());
    }

    /// Without features again, with the memory that it has.
    void clear() {
        held_.clear();
        features_.clear();
    }
    bool empty() const { return features_.empty(); }

    /// Appends the message; nothing where there are no features.
    SINTER_APART void append_to(std::string& to) const;
    std::string bytes() const {
        std::string all;
        append_to(all);
        return all;
    }

private:
    friend class sequence_example;
    enum kind : std::uint8_t { of_texts = 1, of_floats = 2, of_integers = 3 };   // fields of feature.proto
    struct part { std::size_t at, name_bytes, feature_bytes; };                  // of held_: a name, its Feature
    std::string held_;
    std::vector<part> features_;   // in the order of names

    SINTER_APART example& add(std::string_view name, kind k, const void* values, std::size_t n);
    SINTER_APART static void append_feature(std::string& to, kind k, const void* values, std::size_t n);
    std::string_view name_of(const part& p) const { return std::string_view(held_).substr(p.at, p.name_bytes); }
};

/// A tf.train.SequenceExample that is being made: features of the whole, in `context`, and lists of features. Each call
/// adds one more step to the list of that name. Lists are written in the order of their names' bytes.
class sequence_example {
public:
    example context;

    sequence_example& floats(std::string_view list, span<const float> values) {
        return add(list, example::of_floats, values.data(), values.size());
    }
    sequence_example& floats(std::string_view list, std::initializer_list<float> values) {
        return add(list, example::of_floats, values.begin(), values.size());
    }
    sequence_example& integers(std::string_view list, span<const std::int64_t> values) {
        return add(list, example::of_integers, values.data(), values.size());
    }
    sequence_example& integers(std::string_view list, std::initializer_list<std::int64_t> values) {
        return add(list, example::of_integers, values.begin(), values.size());
    }
    sequence_example& text(std::string_view list, std::string_view value) {
        return add(list, example::of_texts, &value, 1);
    }
    sequence_example& texts(std::string_view list, span<const std::string_view> values) {
        return add(list, example::of_texts, values.data(), values.size());
    }
    /// A list, without steps where it has none yet.
    sequence_example& list(std::string_view name) {
        steps_of(name);
        return *this;
    }

    void clear() {
        context.clear();
        lists_.clear();
    }
    SINTER_APART void append_to(std::string& to) const;
    std::string bytes() const {
        std::string all;
        append_to(all);
        return all;
    }

private:
    struct named { std::string name, steps; };
    std::vector<named> lists_;   // in the order of names

    SINTER_APART std::string& steps_of(std::string_view name);
    SINTER_APART sequence_example& add(std::string_view list, example::kind k, const void* values, std::size_t n);
};

#if SINTER_BODIES
namespace detail {
inline void append_length(std::string& to, std::uint32_t field, std::size_t bytes) {
    protobuf::append_varint(to, protobuf::tag_of(field, protobuf::wire_type::length));
    protobuf::append_varint(to, bytes);
}
/// What append_length() and the bytes behind it come to, for fields below 16.
inline std::size_t with_length(std::size_t bytes) { return 1 + protobuf::varint_bytes(bytes) + bytes; }
/// An entry of a map: a name, and the message of that name.
inline std::size_t entry_bytes(std::size_t name, std::size_t value) { return with_length(name) + with_length(value); }
inline void append_entry(std::string& to, std::string_view name, std::string_view value) {
    append_length(to, 1, entry_bytes(name.size(), value.size()));
    append_length(to, 1, name.size());
    to += name;
    append_length(to, 2, value.size());
    to += value;
}
} // namespace detail

SINTER_APART void example::append_feature(std::string& to, kind k, const void* values, std::size_t n) {
    using namespace detail;
    if (k == of_texts) {
        const auto* const texts = static_cast<const std::string_view*>(values);
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < n; ++i) bytes += with_length(texts[i].size());
        append_length(to, k, bytes);
        for (std::size_t i = 0; i < n; ++i) {
            append_length(to, 1, texts[i].size());
            to += texts[i];
        }
    } else if (k == of_floats) {
        const auto* const floats = static_cast<const float*>(values);
        const std::size_t packed = n * sizeof(float);
        append_length(to, k, n == 0 ? 0 : with_length(packed));
        if (n == 0) return;
        append_length(to, 1, packed);
        if constexpr (std::endian::native == std::endian::little)
            to.append(reinterpret_cast<const char*>(floats), packed);
        else
            for (std::size_t i = 0; i < n; ++i) protobuf::append_fixed(to, std::bit_cast<std::uint32_t>(floats[i]));
    } else {
        const auto* const integers = static_cast<const std::int64_t*>(values);
        std::size_t packed = 0;
        for (std::size_t i = 0; i < n; ++i) packed += protobuf::varint_bytes(static_cast<std::uint64_t>(integers[i]));
        append_length(to, k, n == 0 ? 0 : with_length(packed));
        if (n == 0) return;
        append_length(to, 1, packed);
        for (std::size_t i = 0; i < n; ++i) protobuf::append_varint(to, static_cast<std::uint64_t>(integers[i]));
    }
}

SINTER_APART example& example::add(std::string_view name, kind k, const void* values, std::size_t n) {
    part p{held_.size(), name.size(), 0};
    held_ += name;
    append_feature(held_, k, values, n);
    p.feature_bytes = held_.size() - p.at - p.name_bytes;
    auto place = features_.begin();
    while (place != features_.end() && name_of(*place) < name_of(p)) ++place;
    if (place != features_.end() && name_of(*place) == name_of(p)) *place = p;
    else features_.insert(place, p);
    return *this;
}

SINTER_APART void example::append_to(std::string& to) const {
    if (features_.empty()) return;
    std::size_t bytes = 0;
    for (const part& p : features_) bytes += detail::with_length(detail::entry_bytes(p.name_bytes, p.feature_bytes));
    to.reserve(to.size() + detail::with_length(bytes));
    detail::append_length(to, 1, bytes);
    for (const part& p : features_)
        detail::append_entry(to, name_of(p), std::string_view(held_).substr(p.at + p.name_bytes, p.feature_bytes));
}

SINTER_APART std::string& sequence_example::steps_of(std::string_view name) {
    auto place = lists_.begin();
    while (place != lists_.end() && place->name < name) ++place;
    if (place == lists_.end() || place->name != name) place = lists_.insert(place, {std::string(name), {}});
    return place->steps;
}

SINTER_APART sequence_example& sequence_example::add(std::string_view list, example::kind k, const void* values,
                                                     std::size_t n) {
    std::string feature;
    example::append_feature(feature, k, values, n);
    std::string& steps = steps_of(list);
    detail::append_length(steps, 1, feature.size());
    steps += feature;
    return *this;
}

SINTER_APART void sequence_example::append_to(std::string& to) const {
    context.append_to(to);
    if (lists_.empty()) return;
    std::size_t bytes = 0;
    for (const named& l : lists_) bytes += detail::with_length(detail::entry_bytes(l.name.size(), l.steps.size()));
    detail::append_length(to, 2, bytes);
    for (const named& l : lists_) detail::append_entry(to, l.name, l.steps);
}
#endif

} // namespace sinter::tfrecord
