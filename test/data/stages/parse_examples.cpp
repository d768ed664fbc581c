// SPDX-License-Identifier: BSL-1.0
// shows data: records that TensorFlow wrote, by a schema that is known at run time
#define BOOST_TEST_MODULE parse_examples
#include <boost/test/unit_test.hpp>
#include "fixtures/tensorflow_records.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include "support/stage_places.hpp"
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/parse_examples.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/tfrecords.hpp>
#include <sinter/io/tfrecord/example_writer.hpp>
#include <sinter/io/tfrecord/writer.hpp>

using namespace sinter;
using data::record_type;

namespace {
data::record read(const data::record_schema& schema, const std::string& example) {
    const auto all = data::rows(std::vector<std::string>{example}) | data::parse_examples(schema);
    std::remove_const_t<decltype(all)>::state s{};
    return all.get(s, 0);
}
struct sample {
    std::array<float, 2> x;
    std::int32_t label;
};
constexpr port_info two_floats{.s = {.rank = 1, .d = {2}}}, one_number{.s = {.type = dtype::i32, .rank = 1, .d = {1}}};
constexpr data::model_ports ports{{&two_floats, 1}, {&one_number, 1}};
} // namespace

BOOST_AUTO_TEST_CASE(an_example_that_tensorflow_wrote) {   // test/fixtures/tensorflow_records.py
    const data::record_schema schema{{.name = "x", .extents = {3}},
                                     {.name = "B"},
                                     {.name = "label", .type = record_type::i64},
                                     {.name = "ids", .type = record_type::i64, .variable = true},
                                     {.name = "no_ids", .type = record_type::i64, .variable = true},
                                     {.name = "image", .type = record_type::text},
                                     {.name = "words", .type = record_type::text, .extents = {3}, .variable = true},
                                     {.name = "no_words", .type = record_type::text, .optional = true},
                                     {.name = "unset", .optional = true},
                                     {.name = "missing", .type = record_type::i64, .optional = true}};
    const auto e = read(schema, {tensorflow_records::example, sizeof tensorflow_records::example - 1});
    BOOST_TEST((e.get<std::array<float, 3>>("x") == std::array{1.f, 2.f, -0.5f}));
    BOOST_TEST(e.get<float>("B") == 1e-45f);
    BOOST_TEST(e.get<int>("label") == 3);
    BOOST_TEST((e.get<std::vector<std::int64_t>>("ids") ==
                std::vector<std::int64_t>{0, 127, 128, -1, INT64_MAX, INT64_MIN}));
    BOOST_TEST(e.get<span<const std::int64_t>>("no_ids").empty());
    BOOST_TEST(!e.is_missing("no_ids"));
    BOOST_TEST(e.get<std::string_view>("image").size() == 200u);
    BOOST_TEST((e.get<std::vector<std::string>>("words") == std::vector<std::string>{"two", "", "words"}));
    for (const char* name : {"no_words", "unset", "missing"}) BOOST_TEST(e.is_missing(name));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit) {
    const auto e = [] { return tfrecord::example(); };
    const auto refuse = [&](data::record_field f, const tfrecord::example& of, std::string_view what,
                            std::string_view where, std::string_view got, std::string_view needed) {
        check_error<data_error>([&] { read({std::move(f)}, of.bytes()); }, what, where, got, needed);
    };
    refuse({.name = "n"}, e().floats("m", {1}), "no such feature", "Example", "'m'", "'n'");
    refuse({.name = "n"}, e().integers("n", {1}), "another kind", "'n'", "integers", "floats");
    refuse({.name = "n"}, e().floats("n", {1, 2}), "another number of values", "'n'", "2", "1");
    refuse({.name = "n", .extents = {2}, .variable = true}, e().floats("n", {1, 2, 3}), "another number of values",
           "'n'", "3", "a multiple of 2");
    refuse({.name = "n", .type = record_type::text}, e().texts("n", {"a", "b"}), "another number of texts", "'n'", "2",
           "1");
    refuse({.name = "n", .type = record_type::i64, .optional = true}, e().text("n", "a"), "another kind", "'n'",
           "bytes", "integers");
    check_error<format_error>([&] { read({{.name = "n"}}, std::string(200, '\xff')); }, "", "Example");
}

BOOST_AUTO_TEST_CASE(files_into_a_models_batches) {
    temporary_folder folder;
    const std::string path = folder / "a.tfrecord";
    std::size_t third = 0;
    tfrecord::write(path, [&](tfrecord::writer& w) {
        for (int i = 0; i < 3; ++i) {
            third = w.bytes();
            w.add(tfrecord::example().floats("x", {float(i), 2}).integers("label", {10 + i}).bytes());
        }
    });
    const data::record_schema schema{{.name = "x", .extents = {2}}, {.name = "label", .type = record_type::i64}};
    const auto records = data::tfrecords(path) | data::parse_examples(schema);
    const auto shown = [](const data::record& r) {
        return std::to_string(r.get<int>("label")) + ' ' + std::to_string(r.floats(0)[0]);
    };
    BOOST_TEST((elements_from_everywhere(records, shown) ==
                std::vector<std::string>{"10 0.000000", "11 1.000000", "12 2.000000"}));
    const auto x = schema.field<std::array<float, 2>>("x");
    const auto label = schema.field<std::int32_t>("label");
    auto all = data::tfrecords_indexed(path) | data::parse_examples(schema) | data::map([=](const data::record& r) {
                   return sample{r.get(x), r.get(label)};
               }) | data::batch(2) | data::parallel(2);
    data::pipeline& p = data::pipeline_for<ports>(all);
    std::vector<float> numbers;
    while (const batch_view* b = p.next())
        for (int r = 0; r < b->size; ++r) {
            numbers.insert(numbers.end(), b->inputs[0].values + 2 * r, b->inputs[0].values + 2 * r + 2);
            numbers.push_back(static_cast<float>(b->targets[0].indices[r]));
        }
    BOOST_TEST((numbers == std::vector<float>{0, 2, 10, 1, 2, 11, 2, 2, 12}));
    const auto longer = data::tfrecords_indexed(path) | data::parse_examples({{.name = "x", .extents = {3}}});
    std::remove_const_t<decltype(longer)>::state s{};
    check_error<data_error>([&] { longer.get(s, 2); }, "another number of values",
                            "a.tfrecord, byte " + std::to_string(third) + ", record 2, feature 'x'", "2 floats", "3");
    description d, other;
    records.describe(d);
    longer.describe(other);
    BOOST_TEST(holds(d.text(), "examples as records"));
    BOOST_TEST(d.text() != other.text());
}
