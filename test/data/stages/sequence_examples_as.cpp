// SPDX-License-Identifier: BSL-1.0
// shows data: sequences of steps that TensorFlow wrote become structs, fixed and ragged ones
#define BOOST_TEST_MODULE sequence_examples_as
#include <boost/test/unit_test.hpp>
#include "fixtures/tensorflow_records.hpp"
#include "io/data_folder.hpp"
#include "io/error_parts.hpp"
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include "support/stage_places.hpp"
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/sequence_examples_as.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/tfrecords.hpp>
#include <sinter/io/protobuf/writer.hpp>
#include <sinter/io/tfrecord/writer.hpp>

using namespace sinter;
using protobuf::message;

namespace {

template <class T>
using all_steps = std::vector<std::vector<T>>;

/// What these bytes are, as one struct or as two.
template <class... T>
auto read(const std::string& example) {
    const auto all = data::rows(std::vector<std::string>{example}) | data::sequence_examples_as<T...>();
    typename std::remove_const_t<decltype(all)>::state s{};
    return all.get(s, 0);
}
template <std::size_t N>
std::string bytes_of(const char (&example)[N]) {
    return {example, N - 1};
}

/// A message with a field of a message: the fields are those of tensorflow/core/example/{example,feature}.proto.
message in(std::uint32_t field, const message& m) { return message().nested(field, m); }
message list_of(std::string_view name, const std::vector<message>& steps) {
    message list;
    for (const message& s : steps) list.nested(1, s);
    return in(2, in(1, message().text(1, name).nested(2, list)));
}
message floats(std::initializer_list<float> values) {
    return in(2, message().packed(1, span<const float>(values.begin(), values.size())));
}
message unpacked_floats(std::initializer_list<float> values) {
    message list;
    for (const float x : values) list.real(1, x);
    return in(2, list);
}
message unpacked_integers(std::initializer_list<std::int64_t> values) {
    message list;
    for (const std::int64_t x : values) list.integer(1, x);
    return in(3, list);
}

struct frames_alone { std::vector<std::array<float, 2>> frames; };
std::string shown(const frames_alone& f) { return std::to_string(f.frames.size()); }

} // namespace

BOOST_AUTO_TEST_CASE(what_tensorflow_wrote) {   // test/fixtures/tensorflow_records.py
    struct sequence {
        std::int64_t length = 0;
        std::string name;
        std::vector<std::array<float, 2>> frames;
        all_steps<std::string> words;
        all_steps<std::int64_t> ids;
        std::vector<float> empty;
        std::optional<std::vector<float>> missing;
        std::optional<int> none;
    };
    const auto s = read<sequence>(bytes_of(tensorflow_records::sequence_example));
    BOOST_TEST(s.length == 3);
    BOOST_TEST(s.name == "s");
    BOOST_TEST((s.frames == std::vector<std::array<float, 2>>{{1, 2}, {3, 4}, {5, 6}}));
    BOOST_TEST((s.words == all_steps<std::string>{{"a", "b"}, {}, {"c"}}));
    BOOST_TEST((s.ids == all_steps<std::int64_t>{{1}, {2, 3}}));
    BOOST_TEST(s.empty.empty());
    BOOST_TEST(!s.missing);
    BOOST_TEST(!s.none);

    struct inner { std::vector<std::string> words; };
    struct clip {
        int label = 0;
        std::array<double, 3> weights{};
        data::extra<std::string> name;
        std::vector<float> audio;
        std::vector<data::pixels<2, 2>> image;
        std::vector<std::int32_t> ids;
        std::optional<all_steps<std::int64_t>> ragged;
        inner more;
    };
    const std::string bytes = bytes_of(tensorflow_records::clip);
    const auto c = read<clip>(bytes);
    BOOST_TEST(c.label == -7);
    BOOST_TEST((c.weights == std::array{0.5, 0.25, 2.}));
    BOOST_TEST(c.name.value == "\xc3\xa9");
    BOOST_TEST((c.audio == std::vector{0.5f, -1.5f, 2.f}));
    BOOST_TEST_REQUIRE(c.image.size() == 2u);
    BOOST_TEST(c.image[0](1, 0) == 254);
    BOOST_TEST(c.image[1](0, 1) == 'b');
    BOOST_TEST((c.ids == std::vector{INT32_MAX, INT32_MIN}));
    BOOST_TEST((c.ragged.value() == all_steps<std::int64_t>{{}, {-1, 300, INT64_MAX}, {5}}));
    BOOST_TEST((c.more.words == std::vector<std::string>{"one", ""}));

    struct context {   // has vectors, and a name that a list has, too
        std::vector<float> weights;
        std::int8_t ids = 0;
    };
    struct lists {
        std::vector<std::int64_t> ids;
        data::extra<std::vector<std::array<std::byte, 4>>> image;
    };
    const auto [of_all, of_steps] = read<context, lists>(bytes);
    BOOST_TEST((of_all.weights == std::vector{0.5f, 0.25f, 2.f}));
    BOOST_TEST(of_all.ids == 9);
    BOOST_TEST((of_steps.ids == std::vector<std::int64_t>{INT32_MAX, INT32_MIN}));
    BOOST_TEST((of_steps.image.value[1][3] == std::byte{'d'}));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_packed) {
    struct both {
        std::vector<std::array<float, 2>> x;
        all_steps<std::int32_t> ids;
    };
    const auto b = read<both>(list_of("x", {floats({1, 2}), unpacked_floats({3, 4})}).bytes() +
                              list_of("ids", {unpacked_integers({-1, 128}), unpacked_integers({})}).bytes());
    BOOST_TEST((b.x == std::vector<std::array<float, 2>>{{1, 2}, {3, 4}}));
    BOOST_TEST((b.ids == all_steps<std::int32_t>{{-1, 128}, {}}));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit) {
    struct small { std::vector<std::int8_t> n; };
    struct pairs { std::vector<std::array<std::uint16_t, 2>> n; };
    struct texts { std::vector<std::string> n; };
    struct of_context { float n; };
    struct pictures { std::vector<data::pixels<2, 2>> n; };
    const auto list = [](std::vector<message> steps) { return list_of("n", steps).bytes(); };
    const auto bytes = [](std::string_view b) { return in(1, message().text(1, b)); };
    check_error<data_error>([&] { read<small>(list_of("m", {}).bytes()); }, "no such list of features",
                            "SequenceExample", "'m'", "'n'");
    check_error<data_error>([&] { read<of_context>(list({})); }, "no such feature", "Example", "none", "'n'");
    check_error<data_error>([&] { read<small>(list({unpacked_integers({1}), unpacked_integers({128})})); },
                            "beyond the field's range", "feature 'n', step 1", "128", "-128 to 127");
    check_error<data_error>([&] { read<small>(list({unpacked_integers({1}), unpacked_integers({})})); },
                            "another number of values", "'n', step 1", "0 integers", "1");
    check_error<data_error>([&] { read<pairs>(list({unpacked_integers({1, 2, 3})})); }, "another number of values",
                            "'n', step 0", "3 integers", "2");
    check_error<data_error>([&] { read<texts>(list({bytes("a"), floats({1})})); }, "another kind", "'n', step 1",
                            "floats", "bytes");
    check_error<data_error>([&] { read<pictures>(list({bytes("abc")})); }, "another number of bytes", "'n', step 0",
                            "3", "4");
    check_error<format_error>([&] { read<small>(list({in(3, message().text(1, "\xff"))})); }, "message is cut short",
                              "'n', Feature, byte 3, step 0");
    check_error<format_error>([&] { read<small>(std::string(200, '\xff')); }, "", "SequenceExample");
    const std::string whole = bytes_of(tensorflow_records::clip);
    for (std::size_t n = 0; n < whole.size(); ++n)   // cut anywhere: an error, or what is there
        try {
            struct some { std::optional<std::vector<float>> audio; std::optional<all_steps<std::int64_t>> ragged; };
            read<some>(whole.substr(0, n));
        } catch (const error& e) {
            BOOST_TEST(holds(e.where(), "byte"));
        }
}

BOOST_AUTO_TEST_CASE(errors_name_the_record) {
    temporary_folder folder;
    const std::string path = folder / "a.tfrecord";
    std::size_t second = 0;
    tfrecord::write(path, [&](tfrecord::writer& w) {
        w.add(list_of("frames", {floats({1, 2})}).bytes());
        second = w.bytes();
        w.add(list_of("frames", {floats({1, 2}), floats({3})}).bytes());
        w.add(list_of("frames", {floats({1, 2}), floats({3, 4})}).bytes());
    });
    const auto stream = data::tfrecords(path) | data::sequence_examples_as<frames_alone>();
    const auto indexed = data::tfrecords_indexed(path) | data::sequence_examples_as<frames_alone>();
    static_assert(!stream.is_indexed && indexed.is_indexed);
    std::remove_const_t<decltype(indexed)>::state s{};
    BOOST_TEST((indexed.get(s, 2).frames[1] == std::array{3.f, 4.f}));
    check_error<data_error>([&] { indexed.get(s, 1); }, "another number of values",
                            "a.tfrecord, byte " + std::to_string(second) + ", record 1, feature 'frames', step 1",
                            "1 floats", "2");
    std::filesystem::resize_file(path, second);
    BOOST_TEST((elements_from_everywhere(data::tfrecords({path, path}) | data::sequence_examples_as<frames_alone>(),
                                         shown) == std::vector<std::string>{"1", "1"}));
    description d;
    stream.describe(d);
    BOOST_TEST(holds(d.text(), "sequence examples"));
    BOOST_TEST(holds(d.text(), "frames_alone"));
}

BOOST_AUTO_TEST_CASE(a_file_of_tfx) {
    struct sequence { std::optional<std::int64_t> i; std::optional<float> f; std::vector<std::string> s; };
    const std::string path = data_file("tfrecord/tfrecord_sequence/data_tfrecord-00000-of-00001.gz");
    if (path.empty()) return skip("no tfrecord/tfrecord_sequence below SINTER_DATA");
    std::int64_t records = 0, steps = 0, sum = 0, with_i = 0, sum_i = 0, with_f = 0;
    double sum_f = 0;
    for (const sequence& e : data::elements(data::tfrecords(path) | data::sequence_examples_as<sequence>())) {
        ++records;
        if (e.i) ++with_i, sum_i += *e.i;
        if (e.f) ++with_f, sum_f += double{*e.f};
        for (const std::string& s : e.s) ++steps, sum += std::stoll(s);
    }
    BOOST_TEST(records == 15'000);   // these as tf.train.SequenceExample.FromString has them
    BOOST_TEST(steps == 30'000);
    BOOST_TEST(sum == 225'000'000);
    BOOST_TEST(with_i == 13'500);
    BOOST_TEST(sum_i == 101'250'000);
    BOOST_TEST(with_f == 13'500);
    BOOST_TEST(sum_f == 101'250'000.);
}
