// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/protobuf/reader.hpp>
#include <sinter/io/tfrecord/place.hpp>
#include <string>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/io/printable.hpp>
#endif

/// The features of tf.train.Example and tf.train.SequenceExample (tensorflow/core/example/feature.proto), read where
/// they lie: names and values are views into the record, which must live as long as they are used.
namespace sinter::inline SINTER_ORDINARY::tfrecord {

/// What a feature is a list of. The numbers are those of the fields in feature.proto.
enum class value_kind : std::uint8_t {
    none = 0,       ///< it has no values, and does not say of what kind they would be
    bytes = 1,
    floats = 2,
    integers = 3,   ///< of 64 bits
};
/// "bytes", "floats", ...
SINTER_SELDOM SINTER_COLD std::string_view kind_name(value_kind kind);

/// One feature: a name, and a list of values of one kind. Numbers may be packed into one field or not; a list may come
/// in several pieces, as protobuf has it.
///
/// What is asked for must be there: another kind, or another number of values, is a data_error that says where the
/// record is, the feature's name, what it has and what was needed. Bytes that are no list of values are a format_error.
class feature_view {
public:
    std::string_view name() const { return name_; }
    value_kind kind() const { return kind_; }

    /// How many values it has: it reads all of them for that, but those of floats that are packed.
    SINTER_APART std::size_t size() const;

    /// Copies all values; there must be as many as `to` has.
    SINTER_APART void floats(span<float> to) const;
    SINTER_APART void integers(span<std::int64_t> to) const;
    /// Value `i`; it goes through those before it.
    SINTER_APART span<const std::byte> bytes(std::size_t i = 0) const;
    std::string_view text(std::size_t i = 0) const {
        const auto b = bytes(i);
        return {reinterpret_cast<const char*>(b.data()), b.size()};
    }

    /// All values, one after the other, or in pieces of one or more.
    SINTER_APART void each_bytes(base::function_ref<void(span<const std::byte>)> f) const;
    SINTER_APART void each_floats(base::function_ref<void(span<const float>)> f) const;
    SINTER_APART void each_integers(base::function_ref<void(span<const std::int64_t>)> f) const;

    /// For errors about it: "train-3.tfrecord, byte 81920, record 1024, feature 'label'".
    SINTER_APART SINTER_COLD std::string where() const;

private:
    friend class example_view;
    friend class feature_list_view;
    std::string_view name_;
    span<const std::byte> values_;   // the list; where it has several pieces, the Feature from the first on
    value_kind kind_ = value_kind::none;
    bool in_pieces_ = false;
    place where_;

    SINTER_APART void read(protobuf::reader feature);
    template <class F>
    void each_list(F f) const;
    void need(value_kind kind) const {
        if (kind_ != kind && kind_ != value_kind::none) refuse_kind(kind);
    }
    [[noreturn]] SINTER_APART SINTER_COLD void refuse_kind(value_kind needed) const;
    [[noreturn]] SINTER_APART SINTER_COLD void refuse_count(std::size_t needed, const char* how = "") const;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY std::string_view kind_name(value_kind kind) {
    switch (kind) {
    case value_kind::bytes: return "bytes";
    case value_kind::floats: return "floats";
    case value_kind::integers: return "integers";
    case value_kind::none: break;
    }
    return "no values";
}

/// The kinds are alternatives of which the last in the bytes counts, with all of its pieces that come after the last of
/// another kind.
SINTER_APART void feature_view::read(protobuf::reader feature) {
    const std::byte* begin = feature.here();
    for (const std::byte* from = begin; feature.next(); from = feature.here()) {
        const std::uint32_t field = feature.field();
        if (field < 1 || field > 3 || feature.type() != protobuf::wire_type::length) {
            feature.skip();
            continue;
        }
        const auto kind = static_cast<value_kind>(field);
        in_pieces_ = kind == kind_;
        if (!in_pieces_) begin = from;
        kind_ = kind;
        values_ = feature.bytes();
    }
    if (in_pieces_) values_ = {begin, static_cast<std::size_t>(feature.here() - begin)};
}

/// f(reader) of each piece of the list.
template <class F>
void feature_view::each_list(F f) const {
    try {
        protobuf::reader values(values_, "Feature");
        if (!in_pieces_) return f(values);
        while (values.next())
            if (values.is(static_cast<std::uint32_t>(kind_), protobuf::wire_type::length)) f(values.nested());
    } catch (const format_error& e) {
        throw format_error(e.fault(), to_text({where(), ", ", e.where()}), e.got(), e.needed());
    }
}

SINTER_APART std::size_t feature_view::size() const {
    using protobuf::wire_type;
    std::size_t n = 0;
    if (kind_ == value_kind::none) return n;
    each_list([&](protobuf::reader list) {
        while (list.next()) {
            if (list.field() != 1) continue;
            if (kind_ == value_kind::bytes) {
                n += list.type() == wire_type::length;
            } else if (list.type() == wire_type::length) {   // packed
                const auto packed = list.bytes();
                if (kind_ == value_kind::floats) n += packed.size() / sizeof(float);
                else
                    for (const std::byte b : packed) n += b < std::byte{128};
            } else {
                n += list.type() == (kind_ == value_kind::floats ? wire_type::fixed32 : wire_type::varint);
            }
        }
    });
    return n;
}

SINTER_APART void feature_view::each_floats(base::function_ref<void(span<const float>)> f) const {
    using protobuf::wire_type;
    need(value_kind::floats);
    each_list([&](protobuf::reader list) {
        while (list.next()) {
            if (list.is(1, wire_type::fixed32)) {
                const float value = list.real();
                f({&value, 1});
            } else if (list.is(1, wire_type::length)) {
                protobuf::reader packed = list.nested();
                if (packed.left() % sizeof(float) != 0)
                    packed.refuse("a list of floats is cut short", to_text({packed.left(), " bytes"}),
                                  "a multiple of 4");
                while (!packed.at_end()) {   // in pieces, since they need not lie as floats must
                    float piece[64];
                    std::size_t n = 0;
                    for (; n < 64 && !packed.at_end(); ++n)
                        piece[n] = std::bit_cast<float>(packed.take_fixed<std::uint32_t>());
                    f({piece, n});
                }
            }
        }
    });
}

SINTER_APART void feature_view::each_integers(base::function_ref<void(span<const std::int64_t>)> f) const {
    using protobuf::wire_type;
    need(value_kind::integers);
    each_list([&](protobuf::reader list) {
        while (list.next()) {
            if (list.is(1, wire_type::varint)) {
                const std::int64_t value = list.integer();
                f({&value, 1});
            } else if (list.is(1, wire_type::length)) {
                protobuf::reader packed = list.nested();
                while (!packed.at_end()) {
                    std::int64_t piece[64];
                    std::size_t n = 0;
                    for (; n < 64 && !packed.at_end(); ++n)
                        piece[n] = static_cast<std::int64_t>(packed.take_varint());
                    f({piece, n});
                }
            }
        }
    });
}

SINTER_APART void feature_view::each_bytes(base::function_ref<void(span<const std::byte>)> f) const {
    need(value_kind::bytes);
    each_list([&](protobuf::reader list) {
        while (list.next())
            if (list.is(1, protobuf::wire_type::length)) f(list.bytes());
    });
}

SINTER_APART void feature_view::floats(span<float> to) const {
    std::size_t n = 0;
    need(value_kind::floats);
    each_list([&](protobuf::reader list) {
        while (list.next()) {
            if (list.is(1, protobuf::wire_type::fixed32)) {
                if (n == to.size()) refuse_count(to.size());
                to[n++] = list.real();
            } else if (list.is(1, protobuf::wire_type::length)) {
                const auto packed = list.bytes();
                const std::size_t more = packed.size() / sizeof(float);
                if (packed.size() % sizeof(float) != 0)
                    list.refuse("a list of floats is cut short", to_text({packed.size(), " bytes"}), "a multiple of 4");
                if (more > to.size() - n) refuse_count(to.size());
                if constexpr (std::endian::native == std::endian::little) {
                    if (more != 0) std::memcpy(to.data() + n, packed.data(), packed.size());
                } else {
                    protobuf::reader values(packed);
                    for (std::size_t i = 0; i < more; ++i)
                        to[n + i] = std::bit_cast<float>(values.take_fixed<std::uint32_t>());
                }
                n += more;
            }
        }
    });
    if (n != to.size()) refuse_count(to.size());
}

SINTER_APART void feature_view::integers(span<std::int64_t> to) const {
    std::size_t n = 0;
    need(value_kind::integers);
    each_list([&](protobuf::reader list) {
        while (list.next()) {
            if (list.is(1, protobuf::wire_type::varint)) {
                if (n == to.size()) refuse_count(to.size());
                to[n++] = list.integer();
            } else if (list.is(1, protobuf::wire_type::length)) {
                for (protobuf::reader packed = list.nested(); !packed.at_end();) {
                    const auto value = static_cast<std::int64_t>(packed.take_varint());
                    if (n == to.size()) refuse_count(to.size());
                    to[n++] = value;
                }
            }
        }
    });
    if (n != to.size()) refuse_count(to.size());
}

SINTER_APART span<const std::byte> feature_view::bytes(std::size_t i) const {
    span<const std::byte> found;
    std::size_t n = 0;
    need(value_kind::bytes);
    each_list([&](protobuf::reader list) {
        while (n <= i && list.next())
            if (list.is(1, protobuf::wire_type::length)) {
                const auto b = list.bytes();
                if (n++ == i) found = b;
            }
    });
    if (n <= i) refuse_count(i, "more than ");
    return found;
}

SINTER_APART std::string feature_view::where() const {
    const std::string at = where_.file.empty() ? std::string() : to_text({where_.text(), ", "});
    return to_text({at, "feature ", io::printable(name_)});
}

SINTER_APART void feature_view::refuse_kind(value_kind needed) const {
    throw data_error("feature is of another kind", where(), kind_name(kind_), kind_name(needed));
}

SINTER_APART void feature_view::refuse_count(std::size_t needed, const char* how) const {
    throw data_error("feature has another number of values", where(), to_text({size(), " ", kind_name(kind_)}),
                     to_text({how, needed}));
}
#endif

} // namespace sinter::tfrecord
