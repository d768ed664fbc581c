// SPDX-License-Identifier: BSL-1.0
// shows data: records that TensorFlow wrote become structs, features by fields' names
#define BOOST_TEST_MODULE examples_as
#include <boost/test/unit_test.hpp>
#include "fixtures/tensorflow_records.hpp"
#include "io/data_folder.hpp"
#include "io/error_parts.hpp"
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include "support/stage_places.hpp"
#include <sinter/data/source/csv/stream.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/examples_as.hpp>
#include <sinter/data/stages/list_files.hpp>
#include <sinter/data/stages/interleave.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/tfrecords.hpp>
#include <sinter/io/tfrecord/example_writer.hpp>
#include <sinter/io/tfrecord/writer.hpp>

using namespace sinter;

namespace {

/// The struct that these bytes are.
template <class T>
T read(const std::string& example) {
    const auto all = data::rows(std::vector<std::string>{example}) | data::examples_as<T>();
    typename std::remove_const_t<decltype(all)>::state s{};
    return all.get(s, 0);
}
template <class T>
T read(const tfrecord::example& e) {
    return read<T>(e.bytes());
}

struct one { float x; };
std::string shown(const one& o) { return std::to_string(o.x); }

} // namespace

BOOST_AUTO_TEST_CASE(an_example_that_tensorflow_wrote) {
    struct whole {   // test/fixtures/tensorflow_records.py
        std::vector<float> x, none;
        float B = 0;
        std::int64_t label = 0;
        std::array<std::int64_t, 6> ids{};
        std::vector<std::int64_t> no_ids;
        std::array<std::uint8_t, 200> image{};
        std::vector<std::string> words, no_words;
        std::optional<int> unset = 1, missing = 2;
        std::optional<std::vector<float>> no_floats;
    };
    const auto e = read<whole>({tensorflow_records::example, sizeof tensorflow_records::example - 1});
    BOOST_TEST((e.x == std::vector{1.f, 2.f, -0.5f}));
    BOOST_TEST(e.none.empty());
    BOOST_TEST(e.B == 1e-45f);
    BOOST_TEST(e.label == 3);
    BOOST_TEST((e.ids == std::array<std::int64_t, 6>{0, 127, 128, -1, INT64_MAX, INT64_MIN}));
    BOOST_TEST(e.no_ids.empty());
    for (std::size_t i = 0; i < 200; ++i) BOOST_TEST(e.image[i] == i);
    BOOST_TEST((e.words == std::vector<std::string>{"two", "", "words"}));
    BOOST_TEST(e.no_words.empty());
    BOOST_TEST(!e.unset);
    BOOST_TEST(!e.missing);
    BOOST_TEST(!e.no_floats);
}

BOOST_AUTO_TEST_CASE(all_kinds_of_fields) {
    struct inner { int a; std::string b; };
    struct all {
        double d;
        std::array<double, 2> ds;
        bool yes;
        std::int8_t i8[2];
        std::uint16_t u16;
        std::uint64_t u64;
        std::array<std::array<float, 2>, 2> matrix;
        data::pixels<2, 1, 2> picture;
        std::array<std::byte, 3> bytes;
        std::vector<std::byte> more_bytes;
        std::vector<std::uint8_t> from_text, from_integers;
        std::array<std::uint8_t, 2> small;
        data::extra<std::string> note;
        inner within;
        std::vector<double> reals;
        std::vector<std::int32_t> numbers;
        std::optional<float> there;
    };
    tfrecord::example e;
    e.floats("d", {0.5f}).floats("ds", {1.f, 2.f}).integers("yes", {1}).integers("i8", {-128, 127});
    e.integers("u16", {65535}).integers("u64", {-1}).floats("matrix", {1, 2, 3, 4}).text("picture", "abcd");
    e.text("bytes", "xyz").text("more_bytes", "").text("from_text", "\xff").integers("from_integers", {0, 255});
    e.integers("small", {1, 2}).text("note", "n").integers("a", {-5}).text("b", "bee").floats("reals", {1.5f});
    e.integers("numbers", {INT32_MIN, 7}).floats("there", {3.f}).text("unused", "u");
    const auto r = read<all>(e);
    BOOST_TEST(r.d == 0.5);
    BOOST_TEST((r.ds == std::array{1., 2.}));
    BOOST_TEST(r.yes);
    BOOST_TEST(r.i8[0] == -128);
    BOOST_TEST(r.i8[1] == 127);
    BOOST_TEST(r.u16 == 65535);
    BOOST_TEST(r.u64 == UINT64_MAX);
    BOOST_TEST(r.matrix[1][0] == 3.f);
    BOOST_TEST(r.picture(1, 0, 1) == 'd');
    BOOST_TEST((r.bytes[2] == std::byte{'z'}));
    BOOST_TEST(r.more_bytes.empty());
    BOOST_TEST((r.from_text == std::vector<std::uint8_t>{255}));
    BOOST_TEST((r.from_integers == std::vector<std::uint8_t>{0, 255}));
    BOOST_TEST((r.small == std::array<std::uint8_t, 2>{1, 2}));
    BOOST_TEST(r.note.value == "n");
    BOOST_TEST(r.within.a == -5);
    BOOST_TEST(r.within.b == "bee");
    BOOST_TEST((r.reals == std::vector{1.5}));
    BOOST_TEST((r.numbers == std::vector<std::int32_t>{INT32_MIN, 7}));
    BOOST_TEST((r.there == 3.f));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit) {
    struct small { std::int8_t n; };
    struct numbers { std::array<std::uint16_t, 2> n; };
    struct text { std::string n; };
    struct picture { data::pixels<2, 2> n; };
    struct real { double n; };
    struct yes { bool n; };
    const auto e = [] { return tfrecord::example(); };
    check_error<data_error>([&] { read<small>(e().integers("m", {1})); }, "no such feature", "Example", "'m'", "'n'");
    check_error<data_error>([&] { read<small>(e().integers("n", {128})); }, "beyond the field's range", "feature 'n'",
                            "128", "-128 to 127");
    check_error<data_error>([&] { read<small>(e().integers("n", {1, 2})); }, "another number of values", "'n'", "2");
    check_error<data_error>([&] { read<small>(e().integers("n", {})); }, "another number of values", "'n'", "0");
    check_error<data_error>([&] { read<small>(e().floats("n", {1})); }, "another kind", "'n'", "floats", "integers");
    check_error<data_error>([&] { read<numbers>(e().integers("n", {1, -1})); }, "beyond the field's range", "'n'", "-1",
                            "0 to 65535");
    check_error<data_error>([&] { read<numbers>(e().integers("n", {1})); }, "another number of values", "'n'", "1");
    check_error<data_error>([&] { read<text>(e().texts("n", {"a", "b"})); }, "another number of texts", "'n'", "2");
    check_error<data_error>([&] { read<text>(e().texts("n", {})); }, "another number of texts", "'n'", "0", "1");
    check_error<data_error>([&] { read<text>(e().integers("n", {1})); }, "another kind", "'n'", "integers", "bytes");
    check_error<data_error>([&] { read<picture>(e().text("n", "abc")); }, "another number of bytes", "'n'", "3", "4");
    check_error<data_error>([&] { read<real>(e().floats("n", {})); }, "another number of values", "'n'", "0", "1");
    check_error<data_error>([&] { read<yes>(e().integers("n", {2})); }, "beyond the field's range", "'n'", "2", "0 to");
    check_error<format_error>([&] { read<real>(std::string("\x0a\xff\xff\xff\xff\x0f")); }, "", "Example");
    check_error<format_error>([&] { read<real>(std::string(200, '\xff')); }, "", "Example");
}

BOOST_AUTO_TEST_CASE(errors_name_the_record) {
    temporary_folder folder;
    const std::string path = folder / "a.tfrecord";
    std::size_t bytes = 0;
    tfrecord::write(path, [&](tfrecord::writer& w) {
        w.add(tfrecord::example().floats("x", {1}).bytes());
        bytes = w.bytes();
        w.add(tfrecord::example().floats("x", {2, 3}).bytes());
        w.add(tfrecord::example().floats("x", {4}).bytes());
        w.add(std::string_view("no Example at all"));
    });
    const auto stream = data::tfrecords(path) | data::examples_as<one>();
    const auto indexed = data::tfrecords_indexed(path) | data::examples_as<one>();
    static_assert(!stream.is_indexed && indexed.is_indexed);
    BOOST_TEST(indexed.size() == 4);
    const std::string where = "a.tfrecord, byte " + std::to_string(bytes) + ", record 1";
    decltype(indexed)::value_type first{};
    std::remove_const_t<decltype(indexed)>::state s{};
    first = indexed.get(s, 2);
    BOOST_TEST(first.x == 4.f);
    check_error<data_error>([&] { indexed.get(s, 1); }, "another number of values", where + ", feature 'x'");
    check_error<format_error>([&] { indexed.get(s, 3); }, "", "record 3");
    std::remove_const_t<decltype(stream)>::state t{};
    std::remove_const_t<decltype(stream)>::cursor c{};
    std::remove_const_t<decltype(stream)>::ticket k{};
    BOOST_TEST(stream.next(t, c, k));
    BOOST_TEST(stream.get(t, k).x == 1.f);
    BOOST_TEST(stream.next(t, c, k));
    check_error<data_error>([&] { stream.get(t, k); }, "another number of values", where + ", feature 'x'");
    BOOST_TEST(stream.next(t, c, k));
    BOOST_TEST(stream.get(t, k).x == 4.f);
    std::filesystem::resize_file(path, bytes);
    BOOST_TEST((elements_from_everywhere(data::tfrecords({path, path}) | data::examples_as<one>(), shown) ==
                std::vector<std::string>{"1.000000", "1.000000"}));
}

BOOST_AUTO_TEST_CASE(taxi) {
    struct of_csv { float tips; std::optional<int> pickup_community_area; std::string payment_type; };
    struct of_record { float tips; std::optional<int> pickup_community_area; std::vector<std::string> payment_type; };
    const std::string folder = data_file("tfrecord/taxi");
    if (folder.empty()) return skip("no tfrecord/taxi below SINTER_DATA");
    std::vector<std::string> rows, records;
    const auto text = [](const auto& r, const std::string& payment) {
        return std::to_string(r.tips) + ' ' + std::to_string(r.pickup_community_area.value_or(-1)) + ' ' + payment;
    };
    for (const of_csv& r : data::elements(data::csv::stream<of_csv>(folder + "/chicago_taxi.csv")))
        rows.push_back(text(r, r.payment_type));
    const auto files = data::list_files(folder + "/Split-*/*.gz") |
                       data::interleave([](const std::string& path) { return data::tfrecords(path); });
    for (const of_record& r : data::elements(files | data::examples_as<of_record>()))
        records.push_back(text(r, r.payment_type.empty() ? std::string() : r.payment_type[0]));
    std::sort(rows.begin(), rows.end());
    std::sort(records.begin(), records.end());
    BOOST_TEST(rows.size() == 15'002u);   // MANIFEST.md: two rows are in no record
    BOOST_TEST(records.size() == 15'000u);
    BOOST_TEST(std::includes(rows.begin(), rows.end(), records.begin(), records.end()));
}
