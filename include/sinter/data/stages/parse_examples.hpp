// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/record.hpp>
#include <sinter/data/stages/parsed_records.hpp>

/// tf.train.Example as records, whose fields are known at run time.
namespace sinter::inline SINTER_ORDINARY::data {

namespace example_parts {

class record_parser {
public:
    using value_type = record;
    using view = tfrecord::example_view;

    explicit record_parser(record_schema s) : schema_(std::move(s)) {}
    SINTER_SELDOM record read(const view& e) const;
    SINTER_SELDOM SINTER_COLD void describe(description& d) const;

private:
    record_schema schema_;
};

} // namespace example_parts

struct parse_examples_step {
    record_schema schema;
};

/// Reads each element, the bytes of a tf.train.Example, into a record: each field of the schema takes the feature of
/// its name, f32 from floats, i64 from integers, text from texts. Other features are left alone.
///
///     const data::record_schema schema{{.name = "x", .extents = {2, 3}},
///                                      {.name = "ids", .type = data::record_type::i64, .variable = true},
///                                      {.name = "note", .type = data::record_type::text, .optional = true}};
///     auto records = data::tfrecords("train.tfrecord") | data::parse_examples(schema);
///
/// data_error, with the feature's name, where one is missing, of another kind, or has another number of values;
/// format_error where the bytes are no Example. Directly behind tfrecords() and tfrecords_indexed() these say the file,
/// the byte and the record, too. An optional field has no value where the feature is missing or has none; of a variable
/// one that is not optional any number is right, also none. Structs that are known when a program is compiled are read
/// by examples_as().
inline parse_examples_step parse_examples(record_schema schema) { return {std::move(schema)}; }

template <element_stage Up>
auto operator|(Up up, parse_examples_step s) {
    constexpr bool fits = example_parts::gives_bytes<Up>;
    static_assert(fits, "parse_examples: needed is a pipeline of std::string or std::vector<std::byte>, the bytes of "
                        "tf.train.Example, as tfrecords() gives them");
    if constexpr (fits) return parsed_records(std::move(up), example_parts::record_parser(std::move(s.schema)));
    else return refused_stage{};
}

#if SINTER_BODIES
namespace example_parts {

SINTER_SELDOM_BODY record record_parser::read(const view& e) const {
    record to(schema_);
    for (std::size_t i = 0; i < schema_.size(); ++i) {
        const record_field& field = schema_[i];
        const tfrecord::feature_view* const found = e.find(field.name);
        if (field.optional && (!found || found->kind() == tfrecord::value_kind::none || found->size() == 0)) continue;
        const tfrecord::feature_view& f = found ? *found : e.at(field.name);
        const std::size_t n = schema_.values(i), all = field.variable ? f.size() : n;
        if (all % n != 0)
            throw data_error("feature has another number of values", f.where(), to_text({all}),
                             to_text({"a multiple of ", n}));
        if (field.type == record_type::f32) {
            f.floats(to.floats_to_write(i, all));
        } else if (field.type == record_type::i64) {
            f.integers(to.integers_to_write(i, all));
        } else {
            std::vector<std::string_view> texts;
            f.each_bytes([&](span<const std::byte> b) {
                texts.emplace_back(reinterpret_cast<const char*>(b.data()), b.size());
            });
            if (texts.size() != all)
                throw data_error("feature has another number of texts", f.where(), to_text({texts.size()}),
                                 to_text({all}));
            to.set(i, span<const std::string_view>(texts));
        }
    }
    return to;
}

SINTER_SELDOM_BODY void record_parser::describe(description& d) const {
    d.stage("examples as records");
    schema_.describe(d);
}

} // namespace example_parts
#endif

} // namespace sinter::data
