// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/protobuf/reader.hpp>
#include <sinter/io/tfrecord/feature.hpp>
#include <sinter/io/tfrecord/place.hpp>
#include <string>
#include <vector>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/io/printable.hpp>
#endif

/// tf.train.Example and tf.train.SequenceExample (tensorflow/core/example/example.proto and feature.proto), read where
/// they lie: names and values are views into the record, which must live as long as they are used.
namespace sinter::inline SINTER_ORDINARY::tfrecord {

/// Features, or lists of features, in one message: more are refused, for a hostile message could else take many times
/// its own size in memory.
inline constexpr std::size_t most_features = std::size_t{1} << 16;

/// A record as a tf.train.Example. Memory is taken for the first ones alone: parse() again uses it again.
///
///     tfrecord::example_view example;
///     while (r.next()) {
///         example.parse(r.record(), r.where());
///         example.at("x").floats(x);
///     }
class example_view {
public:
    /// Finds the features; their values are read when they are asked for. Throws format_error where the bytes are no
    /// Example, with `where` and the byte within the Example.
    SINTER_APART void parse(span<const std::byte> bytes, const place& where = {});

    /// In the record's order. A name may come twice, though writers do not do that: the last counts.
    span<const feature_view> features() const { return {features_.data(), features_.size()}; }
    /// Null where there is none of that name.
    SINTER_APART const feature_view* find(std::string_view name) const;
    /// Throws data_error where there is none of that name.
    SINTER_APART const feature_view& at(std::string_view name) const;

    const place& where() const { return where_; }

private:
    friend class sequence_example_view;
    std::vector<feature_view> features_;
    place where_;

    void add(protobuf::reader features);
};

/// One list of a SequenceExample: a feature for each step.
class feature_list_view {
public:
    std::string_view name() const { return name_; }
    /// How many steps it has: it goes through them for that.
    SINTER_APART std::size_t size() const;
    /// All steps, in order.
    SINTER_APART void each(base::function_ref<void(std::size_t step, const feature_view&)> f) const;

    SINTER_APART SINTER_COLD std::string where() const;

private:
    friend class sequence_example_view;
    std::string_view name_;
    span<const std::byte> steps_;
    place where_;
};

/// A record as a tf.train.SequenceExample: features of the whole, and lists of features, one for each step.
class sequence_example_view {
public:
    /// As example_view::parse().
    SINTER_APART void parse(span<const std::byte> bytes, const place& where = {});

    const example_view& context() const { return context_; }
    span<const feature_list_view> lists() const { return {lists_.data(), lists_.size()}; }
    /// Null where there is none of that name.
    SINTER_APART const feature_list_view* find(std::string_view name) const;
    /// Throws data_error where there is none of that name.
    SINTER_APART const feature_list_view& at(std::string_view name) const;

private:
    example_view context_;
    std::vector<feature_list_view> lists_;
};

#if SINTER_BODIES
namespace detail {
/// The same error, with the record's place before that in the message.
[[noreturn]] SINTER_APART SINTER_COLD void rethrow(const format_error& e, const place& where);

/// The names of what is there, for an error about one that is not.
template <class View>
SINTER_COLD std::string names_of(span<const View> views) {
    if (views.empty()) return "none";
    constexpr std::size_t most = 8;
    std::string all;
    for (std::size_t i = 0; i < views.size() && i < most; ++i)
        all += to_text({i == 0 ? "" : ", ", io::printable(views[i].name())});
    return views.size() <= most ? all : to_text({all, " and ", views.size() - most, " more"});
}
/// The last of that name.
template <class View>
const View* last_of(span<const View> views, std::string_view name) {
    for (std::size_t i = views.size(); i-- > 0;)
        if (views[i].name() == name) return &views[i];
    return nullptr;
}

SINTER_APART void rethrow(const format_error& e, const place& where) {
    throw format_error(e.fault(), where.file.empty() ? e.where() : to_text({where.text(), ", ", e.where()}), e.got(),
                       e.needed());
}
} // namespace detail

// ---- example_view

SINTER_APART void example_view::parse(span<const std::byte> bytes, const place& where) {
    features_.clear();
    where_ = where;
    try {
        protobuf::reader example(bytes, "Example");
        while (example.next())
            if (example.is(1, protobuf::wire_type::length)) add(example.nested());
    } catch (const format_error& e) {
        features_.clear();
        detail::rethrow(e, where);
    }
}

inline void example_view::add(protobuf::reader features) {
    while (features.next()) {
        if (!features.is(1, protobuf::wire_type::length)) continue;
        protobuf::reader entry = features.nested();
        if (features_.size() == most_features)
            entry.refuse("too many features", "one more", to_text({"at most ", most_features}));
        feature_view& feature = features_.emplace_back();
        feature.where_ = where_;
        bool has_value = false;
        while (entry.next()) {
            if (entry.is(1, protobuf::wire_type::length)) {
                feature.name_ = entry.text();
            } else if (entry.is(2, protobuf::wire_type::length)) {
                // protobuf would join them. Nobody writes that, and joined they would have no place.
                if (has_value) entry.refuse("a feature has two values", "a second", "one");
                has_value = true;
                feature.read(entry.nested());
            }
        }
    }
}

SINTER_APART const feature_view* example_view::find(std::string_view name) const {
    return detail::last_of(features(), name);
}

SINTER_APART const feature_view& example_view::at(std::string_view name) const {
    if (const feature_view* const f = find(name)) return *f;
    throw data_error("no such feature", where_.file.empty() ? "Example" : where_.text(), detail::names_of(features()),
                     io::printable(name));
}

// ---- sequence_example_view

SINTER_APART void sequence_example_view::parse(span<const std::byte> bytes, const place& where) {
    context_.features_.clear();
    context_.where_ = where;
    lists_.clear();
    try {
        protobuf::reader example(bytes, "SequenceExample");
        while (example.next()) {
            if (example.is(1, protobuf::wire_type::length)) context_.add(example.nested());
            else if (example.is(2, protobuf::wire_type::length))
                for (protobuf::reader lists = example.nested(); lists.next();) {
                    if (!lists.is(1, protobuf::wire_type::length)) continue;
                    protobuf::reader entry = lists.nested();
                    if (lists_.size() == most_features)
                        entry.refuse("too many lists of features", "one more", to_text({"at most ", most_features}));
                    feature_list_view& list = lists_.emplace_back();
                    list.where_ = where;
                    bool has_value = false;
                    while (entry.next()) {
                        if (entry.is(1, protobuf::wire_type::length)) {
                            list.name_ = entry.text();
                        } else if (entry.is(2, protobuf::wire_type::length)) {
                            if (has_value) entry.refuse("a list of features has two values", "a second", "one");
                            has_value = true;
                            list.steps_ = entry.bytes();
                        }
                    }
                }
        }
    } catch (const format_error& e) {
        context_.features_.clear();
        lists_.clear();
        detail::rethrow(e, where);
    }
}

SINTER_APART const feature_list_view* sequence_example_view::find(std::string_view name) const {
    return detail::last_of(lists(), name);
}

SINTER_APART const feature_list_view& sequence_example_view::at(std::string_view name) const {
    if (const feature_list_view* const l = find(name)) return *l;
    const place& where = context_.where();
    throw data_error("no such list of features", where.file.empty() ? "SequenceExample" : where.text(),
                     detail::names_of(lists()), io::printable(name));
}

SINTER_APART std::size_t feature_list_view::size() const {
    std::size_t n = 0;
    each([&](std::size_t, const feature_view&) { ++n; });
    return n;
}

SINTER_APART void feature_list_view::each(base::function_ref<void(std::size_t, const feature_view&)> f) const {
    std::size_t step = 0;
    protobuf::reader list(steps_, "FeatureList");
    const auto next = [&](feature_view& feature) {   // what f throws is not this list's
        try {
            while (list.next())
                if (list.is(1, protobuf::wire_type::length)) {
                    feature.read(list.nested());
                    return true;
                }
        } catch (const format_error& e) {
            throw format_error(e.fault(), to_text({where(), ", ", e.where()}), e.got(), e.needed());
        }
        return false;
    };
    for (;; ++step) {
        feature_view feature;
        feature.name_ = name_;
        feature.where_ = where_;
        if (!next(feature)) return;
        f(step, feature);
    }
}

SINTER_APART std::string feature_list_view::where() const {
    const std::string at = where_.file.empty() ? std::string() : to_text({where_.text(), ", "});
    return to_text({at, "list ", io::printable(name_)});
}
#endif

} // namespace sinter::tfrecord
