// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE element_bytes
#include <boost/test/unit_test.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/data/element_bytes.hpp>
#include <map>
#include <memory>

// Elements as bytes and back. What must come out is written down byte by byte.
namespace element_bytes_test {

using namespace sinter;
using namespace std::string_literals;

enum class colour : std::uint8_t { red = 1, blue = 7 };
struct point {
    float x = 0;
    std::int16_t y = 0;
    bool operator==(const point&) const = default;
};
struct sample {
    std::array<float, 2> x{};
    std::int32_t rich = 0;
    bool operator==(const sample&) const = default;
};
struct everything {
    bool yes = false;
    colour of = colour::red;
    double d = 0;
    std::uint64_t n = 0;
    int grid[2][3] = {};
    std::string text;
    std::vector<float> numbers;
    std::vector<bool> bits;
    std::vector<std::string> words;
    std::vector<std::vector<point>> lists;
    std::array<point, 2> two{};
    point inner;
    std::tuple<int, std::string> pair{};
    data::pixels<2, 2> image;
    data::extra<std::string> file;
    bool operator==(const everything& o) const {
        return yes == o.yes && of == o.of && d == o.d && n == o.n && std::memcmp(grid, o.grid, sizeof grid) == 0 &&
               text == o.text && numbers == o.numbers && bits == o.bits && words == o.words && lists == o.lists &&
               two == o.two && inner == o.inner && pair == o.pair && image.bytes == o.image.bytes &&
               file.value == o.file.value;
    }
};

template <class T>
std::string bytes_of(const T& e) {
    std::string to;
    data::append_bytes(to, e);
    return to;
}
template <class T>
bool reads(std::string_view bytes, T& e) {
    return data::read_bytes<T>(as_bytes(bytes), e);
}

everything example() {
    everything e;
    e.yes = true;
    e.of = colour::blue;
    e.d = -0.1;
    e.n = UINT64_MAX - 5;
    e.grid[1][2] = -7;
    e.text = "two\0parts"s;
    e.numbers = {1.5f, -2.f};
    e.bits = {true, false, true};
    e.words = {"", "word", "another"};
    e.lists = {{}, {{1, 2}, {3, -4}}};
    e.two = {{{5, 6}, {7, 8}}};
    e.inner = {9, 10};
    e.pair = {11, "eleven"};
    e.image.bytes = {1, 2, 3, 255};
    e.file.value = "a.png";
    return e;
}

BOOST_AUTO_TEST_CASE(bytes_are_as_written_down) {
    BOOST_TEST(bytes_of(std::uint32_t{0x01020304}) == "\4\3\2\1"s);
    BOOST_TEST(bytes_of(1.f) == "\0\0\x80\x3f"s);
    BOOST_TEST(bytes_of("ab"s) == "\2\0\0\0\0\0\0\0ab"s);
    BOOST_TEST(bytes_of(std::vector<std::int16_t>{-1, 2}) == "\2\0\0\0\0\0\0\0\xff\xff\2\0"s);
    BOOST_TEST(bytes_of(sample{{1, 2}, 3}) == "\0\0\x80\x3f\0\0\0\x40\3\0\0\0"s);
    BOOST_TEST((bytes_of(std::pair<bool, colour>{true, colour::blue}) == "\1\7"s));
    BOOST_TEST(bytes_of(std::vector<bool>{true, false}) == "\2\0\0\0\0\0\0\0\1\0"s);
    BOOST_TEST(data::bytes_layout<sample>() == "{x: 2 float32, rich: int32}");
    BOOST_TEST((data::bytes_layout<std::vector<std::array<bool, 3>>>() == "any 3 bool"));
    BOOST_TEST((data::bytes_layout<std::tuple<std::string, data::pixels<2, 3>>>() == "{text, pixels 2 3 1}"));
    BOOST_TEST((data::bytes_layout<float[2][3]>() == "2 3 float32"));
}

BOOST_AUTO_TEST_CASE(elements_come_back) {
    const everything e = example();
    everything other;
    other.numbers.resize(100);
    other.words.resize(50, "left over");
    BOOST_REQUIRE(reads(bytes_of(e), other));
    BOOST_TEST((other == e));
    everything empty;
    BOOST_REQUIRE(reads(bytes_of(everything{}), other));
    BOOST_TEST((other == empty));
}

BOOST_AUTO_TEST_CASE(what_has_bytes) {
    static_assert(data::has_bytes<everything> && data::has_bytes<float> && data::has_bytes<std::array<sample, 0>>);
    static_assert(!data::has_bytes<int*> && !data::has_bytes<long double> && !data::has_bytes<std::map<int, int>>);
    static_assert(!data::has_bytes<std::shared_ptr<int>> && !data::has_bytes<std::string_view>);
    struct nothing {};
    static_assert(data::has_bytes<nothing> && !data::has_bytes<std::vector<nothing>>);
    BOOST_TEST(true);
}

BOOST_AUTO_TEST_CASE(bytes_from_anywhere) {
    const std::string good = bytes_of(example());
    everything e;
    for (std::size_t n = 0; n < good.size(); ++n) BOOST_TEST(!reads(good.substr(0, n), e));
    BOOST_TEST(!reads(good + '\0', e));
    for (std::size_t at = 0; at < good.size(); ++at)   // reads something, or refuses it
        for (const int bit : {0, 7}) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
            if (reads(bad, e)) BOOST_TEST(bytes_of(e) == bad);
        }
    random_stream random(3);
    for (int round = 0; round < 2000; ++round) {
        std::string noise(random.below(200), '\0');
        for (char& c : noise) c = static_cast<char>(random.below(3) ? 0 : random.word());
        if (reads(noise, e)) BOOST_TEST(bytes_of(e) == noise);
    }
    // Lengths beyond what is there take no memory.
    const auto long_list = [](std::uint64_t n, std::string_view behind) { return bytes_of(n) + std::string(behind); };
    std::vector<float> numbers;
    std::vector<std::array<std::string, 2>> texts;
    for (const std::uint64_t n : {std::uint64_t{1} << 63, UINT64_MAX, UINT64_MAX / 4 + 2, std::uint64_t{1} << 40}) {
        BOOST_TEST(!reads(long_list(n, "12345678"), numbers));
        BOOST_TEST(!reads(long_list(n, "1234567812345678"), texts));
        BOOST_TEST(numbers.capacity() + texts.capacity() < 100);
    }
    bool flag = false;
    BOOST_TEST(!reads("\2", flag));   // no value of a bool
}

} // namespace element_bytes_test
