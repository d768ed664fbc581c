// SPDX-License-Identifier: BSL-1.0
// shows files: damaged and hostile Examples in TFRecord files
#define BOOST_TEST_MODULE example
#include <boost/test/unit_test.hpp>
#include "error_parts.hpp"
#include "fixtures/tensorflow_records.hpp"
#include <sinter/io/tfrecord/example.hpp>
#include <sinter/io/tfrecord/example_writer.hpp>
#include <cmath>
#include <functional>
#include <limits>
using namespace sinter;
using namespace std::string_literals;
using protobuf::message;
using tfrecord::example_view;
using tfrecord::feature_view;
using tfrecord::sequence_example_view;
using tfrecord::value_kind;

namespace {
template <std::size_t N>
std::string bytes_of(const char (&file)[N]) {
    return {file, N - 1};
}
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       greatest = std::numeric_limits<std::int64_t>::max();
std::string all_bytes() {
    std::string s(200, '\0');
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = static_cast<char>(i);
    return s;
}
std::vector<float> floats_of(const feature_view& f) {
    std::vector<float> x(f.size());
    f.floats(x);
    return x;
}
std::vector<std::int64_t> integers_of(const feature_view& f) {
    std::vector<std::int64_t> x(f.size());
    f.integers(x);
    return x;
}
std::vector<std::string> texts_of(const feature_view& f) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < f.size(); ++i) all.emplace_back(f.text(i));
    return all;
}
/// An Example of one feature of this name, whose Feature these bytes are.
std::string of_feature(const std::string& name, const std::string& feature) {
    return message().nested(1, message().nested(1, message().text(1, name).text(2, feature))).bytes();
}
/// The one feature in these bytes, which must live on.
feature_view only(const std::string& bytes, const tfrecord::place& where = {}) {
    example_view e;
    e.parse(as_bytes(bytes), where);
    BOOST_REQUIRE(e.features().size() == 1);
    return e.features()[0];
}
const tfrecord::place place{"train-3.tfrecord", 81920, 1024};
constexpr std::string_view place_text = "train-3.tfrecord, byte 81920, record 1024";

tfrecord::example the_example() {
    tfrecord::example e;
    e.integers("label", {3}).text("image", all_bytes()).floats("x", {1, 2, -0.5f});
    e.integers("ids", {0, 127, 128, -1, greatest, least}).texts("words", {"two", "", "words"});
    e.floats("none", span<const float>()).integers("no_ids", span<const std::int64_t>());
    e.texts("no_words", span<const std::string_view>()).floats("B", {1e-45f}).integers("\xc3\xa9", {7});
    return e;
}
} // namespace

BOOST_AUTO_TEST_CASE(an_example_that_tensorflow_wrote) {
    const std::string bytes = bytes_of(tensorflow_records::example);
    example_view e;
    for (int again = 0; again < 2; ++again) {
        e.parse(as_bytes(bytes), place);
        BOOST_TEST(e.features().size() == 11u);
        BOOST_TEST((integers_of(e.at("label")) == std::vector<std::int64_t>{3}));
        BOOST_TEST((texts_of(e.at("image")) == std::vector<std::string>{all_bytes()}));
        BOOST_TEST((floats_of(e.at("x")) == std::vector<float>{1, 2, -0.5f}));
        BOOST_TEST((integers_of(e.at("ids")) == std::vector<std::int64_t>{0, 127, 128, -1, greatest, least}));
        BOOST_TEST((texts_of(e.at("words")) == std::vector<std::string>{"two", "", "words"}));
        BOOST_TEST((floats_of(e.at("B")) == std::vector<float>{1e-45f}));
        BOOST_TEST((integers_of(e.at("\xc3\xa9")) == std::vector<std::int64_t>{7}));
        BOOST_TEST((e.at("none").kind() == value_kind::floats));
        BOOST_TEST((e.at("no_ids").kind() == value_kind::integers));
        BOOST_TEST((e.at("no_words").kind() == value_kind::bytes));
        BOOST_TEST((e.at("unset").kind() == value_kind::none));
        for (const char* empty : {"none", "no_ids", "no_words", "unset"}) BOOST_TEST(e.at(empty).size() == 0u);
        BOOST_TEST(e.find("y") == nullptr);
    }
    // Nothing is copied.
    const auto image = e.at("image").bytes();
    BOOST_TEST(image.data() > as_bytes(bytes).data());
    BOOST_TEST(image.end() < as_bytes(bytes).end());
    check_error<data_error>([&] { e.at("y"); }, "no such feature", place_text, "'B', 'ids', 'image'", "'y'");
    check_error<data_error>([&] { e.at("y"); }, {}, {}, " and 3 more");
    e.parse({});
    BOOST_TEST(e.features().empty());
    check_error<data_error>([&] { e.at("y"); }, "no such feature", "Example", "none", "'y'");
}

BOOST_AUTO_TEST_CASE(the_same_bytes_as_tensorflow_writes) {
    BOOST_TEST((tfrecord::example().integers("label", {3}).bytes() == bytes_of(tensorflow_records::label)));
    BOOST_TEST((tfrecord::example().floats("x", {1, 2}).bytes() == bytes_of(tensorflow_records::x)));
    // All but the feature without a kind, which nobody has a use for.
    std::string with = bytes_of(tensorflow_records::example);
    const std::string unset = "\x0a\x09\x0a\x05unset\x12\0"s;
    const std::size_t at = with.find(unset);
    BOOST_REQUIRE(at != std::string::npos);
    with.erase(at, unset.size());
    with[1] = static_cast<char>(static_cast<std::size_t>(with[1]) - unset.size());   // the length of the features
    tfrecord::example e = the_example();
    BOOST_TEST((e.bytes() == with));
    e.floats("x", {9}).floats("x", {1, 2, -0.5f});   // the last of a name
    BOOST_TEST((e.bytes() == with));
    e.clear();
    BOOST_TEST(e.empty());
    BOOST_TEST(e.bytes().empty());
    e.integers("label", {3});
    BOOST_TEST((e.bytes() == bytes_of(tensorflow_records::label)));

    tfrecord::sequence_example s;
    s.context.integers("length", {3}).text("name", "s");
    s.floats("frames", {1, 2}).text("words", "x").integers("ids", {1});
    s.clear();
    BOOST_TEST(s.bytes().empty());
    const std::vector<std::string_view> ab{"a", "b"};
    s.context.integers("length", {3}).text("name", "s");
    s.floats("frames", {1, 2}).texts("words", ab).integers("ids", {1}).floats("frames", {3, 4});
    s.texts("words", span<const std::string_view>()).integers("ids", {2, 3}).floats("frames", {5, 6});
    s.text("words", "c").list("empty");
    BOOST_TEST((s.bytes() == bytes_of(tensorflow_records::sequence_example)));
}

BOOST_AUTO_TEST_CASE(a_sequence_example_that_tensorflow_wrote) {
    const std::string bytes = bytes_of(tensorflow_records::sequence_example);
    sequence_example_view e;
    for (int again = 0; again < 2; ++again) {
        e.parse(as_bytes(bytes), place);
        BOOST_TEST(e.context().features().size() == 2u);
        BOOST_TEST((integers_of(e.context().at("length")) == std::vector<std::int64_t>{3}));
        BOOST_TEST(e.lists().size() == 4u);
        BOOST_TEST(e.at("frames").size() == 3u);
        BOOST_TEST(e.at("empty").size() == 0u);
        std::vector<float> frames;
        e.at("frames").each([&](std::size_t step, const feature_view& f) {
            BOOST_TEST(step == frames.size() / 2);
            for (const float v : floats_of(f)) frames.push_back(v);
        });
        BOOST_TEST((frames == std::vector<float>{1, 2, 3, 4, 5, 6}));
        std::vector<std::vector<std::string>> words;
        e.at("words").each([&](std::size_t, const feature_view& f) { words.push_back(texts_of(f)); });
        BOOST_TEST((words == std::vector<std::vector<std::string>>{{"a", "b"}, {}, {"c"}}));
        std::vector<std::vector<std::int64_t>> ids;
        e.at("ids").each([&](std::size_t, const feature_view& f) { ids.push_back(integers_of(f)); });
        BOOST_TEST((ids == std::vector<std::vector<std::int64_t>>{{1}, {2, 3}}));
    }
    BOOST_TEST(e.find("y") == nullptr);
    check_error<data_error>([&] { e.at("y"); }, "no such list of features", place_text, "'empty', 'frames'", "'y'");
    e.at("ids").each([&](std::size_t, const feature_view& f) {
        check_error<data_error>([&] { f.text(); }, "feature is of another kind",
                                to_text({place_text, ", feature 'ids'"}), "integers", "bytes");
    });
}

BOOST_AUTO_TEST_CASE(lists_that_are_not_packed_or_in_pieces) {
    const std::vector<float> two{2, 3};
    const std::vector<std::int64_t> ids{-7, 300};
    message floats, integers, more;
    floats.real(1, 1).packed(1, two).real(1, 4).text(9, "unknown");
    integers.integer(1, 5).packed(1, ids).integer(1, 6);
    more.integer(1, 8);
    const std::string f = of_feature("f", message().nested(2, floats).bytes());
    BOOST_TEST(only(f).size() == 4u);
    BOOST_TEST((floats_of(only(f)) == std::vector<float>{1, 2, 3, 4}));
    const std::string i = of_feature("i", message().nested(3, integers).nested(3, more).bytes());
    BOOST_TEST((integers_of(only(i)) == std::vector<std::int64_t>{5, -7, 300, 6, 8}));
    // Of several kinds the last counts, with its own pieces behind the last of another.
    const std::string both =
        of_feature("x", message().nested(3, integers).nested(2, floats).nested(3, more).nested(3, more).bytes());
    BOOST_TEST((only(both).kind() == value_kind::integers));
    BOOST_TEST((integers_of(only(both)) == std::vector<std::int64_t>{8, 8}));
    const std::string other = of_feature("x", message().nested(3, more).integer(7, 1).nested(2, floats).bytes());
    BOOST_TEST((floats_of(only(other)) == std::vector<float>{1, 2, 3, 4}));
    // In pieces, of which each is at most as long as the list.
    std::vector<float> many(1000);
    std::vector<std::int64_t> whole(1000);
    for (std::size_t k = 0; k < 1000; ++k) {
        many[k] = std::sqrt(static_cast<float>(k));
        whole[k] = static_cast<std::int64_t>(k * k * k) - 500;
    }
    const std::string bytes = tfrecord::example().floats("many", many).integers("whole", whole).bytes();
    example_view e;
    e.parse(as_bytes(bytes));
    std::vector<float> got;
    std::vector<std::int64_t> got_whole;
    e.at("many").each_floats([&](span<const float> p) { got.insert(got.end(), p.begin(), p.end()); });
    e.at("whole").each_integers([&](span<const std::int64_t> p) {
        got_whole.insert(got_whole.end(), p.begin(), p.end());
    });
    BOOST_TEST((got == many && got == floats_of(e.at("many"))));
    BOOST_TEST((got_whole == whole && got_whole == integers_of(e.at("whole"))));
    got.clear();
    only(f).each_floats([&](span<const float> p) { got.insert(got.end(), p.begin(), p.end()); });
    BOOST_TEST((got == std::vector<float>{1, 2, 3, 4}));
    const std::string words = tfrecord::example().texts("w", {"a", "", "b"}).bytes();
    std::string joined;
    only(words).each_bytes([&](span<const std::byte> b) { joined += to_text({b.size(), " "}); });
    BOOST_TEST(joined == "1 0 1 ");
}

BOOST_AUTO_TEST_CASE(names_that_come_twice) {
    message once, twice;
    once.text(1, "a").text(2, message().nested(3, message().integer(1, 1)).bytes());
    twice.text(1, "a").text(2, message().nested(3, message().integer(1, 2)).bytes());
    const std::string bytes =
        message().nested(1, message().nested(1, once)).nested(1, message().nested(1, twice)).bytes();
    example_view e;
    e.parse(as_bytes(bytes));
    BOOST_TEST((integers_of(e.at("a")) == std::vector<std::int64_t>{2}));
    BOOST_TEST(e.features().size() == 2u);
    const std::string nameless = message().nested(1, message().nested(1, message())).bytes();
    BOOST_TEST(only(nameless).name() == "");
    BOOST_TEST((only(nameless).kind() == value_kind::none));
    const std::string two_values =
        message().nested(1, message().nested(1, message().text(1, "a").text(2, "").text(2, ""))).bytes();
    check_error<format_error>([&] { only(two_values, place); }, "a feature has two values",
                              to_text({place_text, ", Example, byte"}));
}

BOOST_AUTO_TEST_CASE(what_is_asked_for_must_be_there) {
    const std::string bytes = tfrecord::example().floats("x", {1, 2, 3}).integers("label", {3}).text("t", "a").bytes();
    example_view e;
    e.parse(as_bytes(bytes), place);
    const std::string of_x = to_text({place_text, ", feature 'x'"});
    float x[5];
    std::int64_t n[5];
    check_error<data_error>([&] { e.at("x").integers({n, 3}); }, "feature is of another kind", of_x, "floats",
                            "integers");
    check_error<data_error>([&] { e.at("x").text(); }, "feature is of another kind", of_x, "floats", "bytes");
    check_error<data_error>([&] { e.at("label").floats({x, 1}); }, "feature is of another kind", "feature 'label'",
                            "integers", "floats");
    check_error<data_error>([&] { e.at("t").each_floats([](auto) {}); }, "feature is of another kind", "feature 't'",
                            "bytes", "floats");
    for (const std::size_t k : {0u, 2u, 4u})
        check_error<data_error>([&] { e.at("x").floats({x, k}); }, "feature has another number of values", of_x,
                                "3 floats", to_text({k}));
    for (const std::size_t k : {0u, 2u})
        check_error<data_error>([&] { e.at("label").integers({n, k}); }, "feature has another number of values",
                                "feature 'label'", "1 integers", to_text({k}));
    check_error<data_error>([&] { e.at("t").text(1); }, "feature has another number of values", "feature 't'",
                            "1 bytes", "more than 1");
    const std::string unset = of_feature("u", "");   // no kind: no values of any kind
    only(unset).floats({});
    only(unset).integers({});
    check_error<data_error>([&] { only(unset).floats({x, 1}); }, "another number of values", "feature 'u'",
                            "0 no values", "1");
    check_error<data_error>([&] { only(unset).text(); }, "another number of values", "feature 'u'");
    const std::string odd = of_feature("a\n\xff", "");   // a name as it is shown
    check_error<data_error>([&] { only(odd).text(); }, {}, "feature 'a\\x0a\\xff'");
}

BOOST_AUTO_TEST_CASE(damaged_examples_are_refused) {
    const auto refused = [](const std::string& bytes, std::string_view fault, std::string_view at) {
        example_view e;
        check_error<format_error>([&] { e.parse(as_bytes(bytes), place); }, fault, to_text({place_text, ", ", at}));
        BOOST_TEST(e.features().empty());
    };
    refused("\x0a", "message is cut short", "Example, byte 1");
    refused("\x0a\x05\x0a\x03\x0a\x05y", "message is cut short", "Example, byte 6");
    refused("\x0a\x01\x07", "message is damaged", "Example, byte 3");
    refused(of_feature("x", "\x0a"), "message is cut short", "Example, byte 10");
    // In a list: when it is read.
    float x[4];
    std::int64_t n[4];
    const std::string floats = of_feature("x", message().nested(2, message().text(1, "12345")).bytes());
    for (const auto& read : {std::function<void(const feature_view&)>([&](const feature_view& f) { f.floats(x); }),
                             std::function<void(const feature_view&)>([](const feature_view& f) {
                                 f.each_floats([](span<const float>) {});
                             })})
        check_error<format_error>([&] { read(only(floats, place)); }, "a list of floats is cut short",
                                  to_text({place_text, ", feature 'x', Feature, byte"}), "5 bytes", "multiple of 4");
    const std::string integers = of_feature("x", message().nested(3, message().text(1, "\xff\xff")).bytes());
    check_error<format_error>([&] { only(integers, place).integers(n); }, "message is cut short",
                              "feature 'x', Feature, byte", "within a number");
    // A message of many features of no bytes asks for no more memory than features of a sane number take.
    std::string empties;
    for (std::size_t i = 0; i <= tfrecord::most_features; ++i) empties += "\x0a\0"s;
    refused(message().text(1, empties).bytes(), "too many features", "Example, byte ");
    sequence_example_view s;
    const std::string lists = message().text(2, empties).bytes();
    check_error<format_error>([&] { s.parse(as_bytes(lists), place); }, "too many lists", place_text);
    const std::string list =
        message().nested(2, message().nested(1, message().text(1, "l").nested(2, message().text(1, "\x1a")))).bytes();
    s.parse(as_bytes(list), place);
    check_error<format_error>([&] { s.at("l").size(); }, "message is cut short",
                              to_text({place_text, ", list 'l', FeatureList, byte"}));
}

// Whatever is cut off or changed: an error, or some Example; no byte beyond it is looked at (as sanitizers see).
BOOST_AUTO_TEST_CASE(any_damage) {
    const auto use = [](const feature_view& f) {
        std::size_t n = f.size();
        if (f.kind() == value_kind::floats) BOOST_REQUIRE(floats_of(f).size() == n);
        if (f.kind() == value_kind::integers) BOOST_REQUIRE(integers_of(f).size() == n);
        if (f.kind() == value_kind::bytes) BOOST_REQUIRE(texts_of(f).size() == n);
    };
    const auto read = [&](const std::string& bytes) {
        const std::vector<char> exact(bytes.begin(), bytes.end());
        const span<const std::byte> all(reinterpret_cast<const std::byte*>(exact.data()), exact.size());
        try {
            example_view e;
            e.parse(all);
            for (const feature_view& f : e.features()) use(f);
        } catch (const format_error&) {}
        try {
            sequence_example_view e;
            e.parse(all);
            for (const feature_view& f : e.context().features()) use(f);
            for (const tfrecord::feature_list_view& l : e.lists())
                l.each([&](std::size_t, const feature_view& f) { use(f); });
        } catch (const format_error&) {}
    };
    tfrecord::example e;
    e.integers("label", {3, 300}).text("t", "abc").floats("x", {1, 2});
    tfrecord::sequence_example s;
    s.context = e;
    s.floats("f", {1, 2}).text("w", "a").text("w", "b");
    const std::string whole = s.bytes();
    for (std::size_t n = 0; n <= whole.size(); ++n) read(whole.substr(0, n));
    for (std::size_t i = 0; i < whole.size(); ++i)
        for (int other = 0; other < 256; ++other) {
            std::string bytes = whole;
            bytes[i] = static_cast<char>(other);
            read(bytes);
        }
}
