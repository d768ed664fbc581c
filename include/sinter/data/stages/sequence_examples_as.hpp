// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/examples_as.hpp>
#include <tuple>

/// tf.train.SequenceExample as structs.
namespace sinter::inline SINTER_ORDINARY::data {

namespace example_parts {

template <class F>
inline constexpr bool is_list = is_vector<F>;
template <class F>
inline constexpr bool is_list<std::optional<F>> = is_vector<F>;

/// The list of that name into the field of that name, a step an element.
template <class F>
void put_list(F& to, const tfrecord::sequence_example_view& e, std::string_view name) {
    if constexpr (is_optional<F>) {
        if (e.find(name)) put_list(to.emplace(), e, name);
        else to.reset();
    } else if constexpr (is_extra<F>) {
        put_list(to.value, e, name);
    } else if constexpr (element_parts::is_struct<F>) {
        base::for_each_field(to, [&](std::string_view inner, auto& field) { put_list(field, e, inner); });
    } else {
        constexpr bool fits = [] {
            if constexpr (is_vector<F>) return is_feature<typename F::value_type>;
            else return false;
        }();
        static_assert(fits, "sequence_examples_as: a list of features is read into a std::vector of its steps: of "
                            "numbers, std::string, pixels, arrays, or vectors of numbers or std::string");
        if constexpr (fits) {
            to.clear();
            e.at(name).each([&](std::size_t step, const tfrecord::feature_view& f) {
                typename F::value_type one{};
                try {
                    put_feature(one, f);
                } catch (const error&) {
                    tfrecord::rethrow_with_step(step);
                }
                to.push_back(std::move(one));
            });
        }
    }
}

/// Vectors are lists, all else is of the context.
template <class F>
void put_list_or_feature(F& to, const tfrecord::sequence_example_view& e, std::string_view name) {
    if constexpr (is_extra<F>) put_list_or_feature(to.value, e, name);
    else if constexpr (is_list<F>) put_list(to, e, name);
    else if constexpr (element_parts::is_struct<F>)
        base::for_each_field(to, [&](std::string_view inner, auto& field) { put_list_or_feature(field, e, inner); });
    else put(to, e.context(), name);
}

template <class T>
struct sequence_parser {
    using value_type = T;
    using view = tfrecord::sequence_example_view;
    T read(const view& e) const {
        T to{};
        base::for_each_field(to, [&](std::string_view name, auto& field) { put_list_or_feature(field, e, name); });
        return to;
    }
    SINTER_COLD void describe(description& d) const { d.stage("sequence examples")("element", type_text<T>()); }
};

template <class Context, class Lists>
struct sequence_parser<std::tuple<Context, Lists>> {
    using value_type = std::tuple<Context, Lists>;
    using view = tfrecord::sequence_example_view;
    value_type read(const view& e) const {
        value_type to{};
        base::for_each_field(std::get<0>(to), [&](std::string_view name, auto& field) {
            put(field, e.context(), name);
        });
        base::for_each_field(std::get<1>(to), [&](std::string_view name, auto& field) { put_list(field, e, name); });
        return to;
    }
    SINTER_COLD void describe(description& d) const {
        d.stage("sequence examples")("context", type_text<Context>())("lists", type_text<Lists>());
    }
};

} // namespace example_parts

template <class T>
struct sequence_examples_as_step {};

/// Reads each element, the bytes of a tf.train.SequenceExample, into a struct. A field that is a std::vector takes the
/// list of features of its name, with an element for each step; every other field takes the feature of its name from
/// the context, as examples_as() says: so a text of bytes there is a std::string, or an array.
///
///     struct clip { std::int64_t label; std::vector<std::array<float, 40>> frames; std::vector<int> speaker; };
///     auto train = data::tfrecords("train.tfrecord") | data::sequence_examples_as<clip>() | ...
///
/// | field | each step of the list |
/// |---|---|
/// | std::vector of numbers | one number |
/// | std::vector of arrays, of pixels | as many numbers, or one text of as many bytes |
/// | std::vector<std::string> | one text |
/// | std::vector<std::vector<X>>: ragged | any number of numbers or texts |
/// | std::optional of these | empty where there is no list of this name; a list without steps is a vector of none |
/// | data::extra, a struct | the same of what is in it |
///
/// data_error, with the name and the number of the step, where a list is missing or a step's values do not fit;
/// format_error where the bytes are no SequenceExample. Directly behind tfrecords() and tfrecords_indexed() these say
/// the file, the byte and the record, too. Memory: a step without values takes two bytes of a record and up to 32 of
/// memory as a text or a vector; all other steps take no more than their bytes say.
template <class T>
sequence_examples_as_step<T> sequence_examples_as() {
    return {};
}
/// The same as two structs, in a std::tuple: all fields of Context are of the context, vectors, too, and all fields of
/// Lists are lists. So the context may have features of any number of values, and names that lists have as well.
template <class Context, class Lists>
sequence_examples_as_step<std::tuple<Context, Lists>> sequence_examples_as() {
    return {};
}

template <element_stage Up, class T>
auto operator|(Up up, sequence_examples_as_step<T>) {
    constexpr bool fits = example_parts::gives_bytes<Up>;
    static_assert(fits, "sequence_examples_as: needed is a pipeline of std::string or std::vector<std::byte>, the "
                        "bytes of tf.train.SequenceExample, as tfrecords() gives them");
    if constexpr (fits) return parsed_records(std::move(up), example_parts::sequence_parser<T>{});
    else return refused_stage{};
}

} // namespace sinter::data
