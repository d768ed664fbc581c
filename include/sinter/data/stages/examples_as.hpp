// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/feature_fields.hpp>
#include <sinter/data/stages/parsed_records.hpp>
#include <sinter/data/type_text.hpp>

/// tf.train.Example as structs.
namespace sinter::inline SINTER_ORDINARY::data {

namespace example_parts {

/// The feature of that name into the field of that name.
template <class F>
void put(F& to, const tfrecord::example_view& e, std::string_view name) {
    if constexpr (is_optional<F>) {
        const tfrecord::feature_view* const f = e.find(name);
        if (f && f->kind() != tfrecord::value_kind::none && f->size() > 0) put(to.emplace(), e, name);
        else to.reset();
    } else if constexpr (is_extra<F>) {
        put(to.value, e, name);
    } else if constexpr (is_vector<F>) {
        static_assert(is_feature<F>, "examples_as: a vector is of numbers, std::byte or std::string");
        if constexpr (is_feature<F>) put_feature(to, e.at(name));
    } else if constexpr (is_feature<F>) {
        put_feature(to, e.at(name));
    } else if constexpr (element_parts::is_struct<F>) {
        base::for_each_field(to, [&](std::string_view inner, auto& field) { put(field, e, inner); });
    } else {
        static_assert(sizeof(F) == 0, "examples_as: a field of the struct is none that a feature can be read into: "
                                      "numbers, std::byte, arrays and vectors of them, pixels, std::string, "
                                      "std::vector<std::string>, std::optional and data::extra of them, and structs");
    }
}

template <class T>
struct example_parser {
    using value_type = T;
    using view = tfrecord::example_view;
    T read(const view& e) const {
        T to{};
        base::for_each_field(to, [&](std::string_view name, auto& field) { put(field, e, name); });
        return to;
    }
    SINTER_COLD void describe(description& d) const { d.stage("examples")("element", type_text<T>()); }
};

} // namespace example_parts

template <class T>
struct examples_as_step {};

/// Reads each element, the bytes of a tf.train.Example, into a struct: a field takes the feature of its name.
///
///     struct sample { data::pixels<28, 28> image; std::int64_t label; std::vector<float> curve; };
///     auto train = data::tfrecords("train.tfrecord") | data::examples_as<sample>() | data::batch(64);
///
/// | field | feature |
/// |---|---|
/// | float, double; arrays of them | as many floats |
/// | integers, bool; arrays of them | as many integers, each within the field's range |
/// | std::string | one text |
/// | pixels, arrays of std::uint8_t or std::byte | one text of as many bytes (std::uint8_t: or as many integers) |
/// | std::vector | all numbers or texts; of std::byte: one text, of std::uint8_t: one text, or integers |
/// | std::optional | empty where the feature is missing or has no values |
/// | data::extra, a struct | the same of what is in it |
///
/// data_error, with the feature's name, where one is missing, of another kind, or has another number of values;
/// format_error where the bytes are no Example. Directly behind tfrecords() and tfrecords_indexed() these say the file,
/// the byte and the record, too. The elements are computed by whichever thread fills a batch.
template <class T>
examples_as_step<T> examples_as() {
    return {};
}

template <element_stage Up, class T>
auto operator|(Up up, examples_as_step<T>) {
    constexpr bool fits = example_parts::gives_bytes<Up>;
    static_assert(fits, "examples_as: needed is a pipeline of std::string or std::vector<std::byte>, the bytes of "
                        "tf.train.Example, as tfrecords() gives them");
    if constexpr (fits) return parsed_records(std::move(up), example_parts::example_parser<T>{});
    else return refused_stage{};
}

} // namespace sinter::data
