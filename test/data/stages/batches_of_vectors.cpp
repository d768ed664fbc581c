// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE data_stages_batches_of_vectors
#include <boost/test/unit_test.hpp>
#include "data/stages/restored.hpp"
#include "fixtures/tf_data_batches.hpp"
#include "io/error_parts.hpp"
#include <sinter/data/element_bytes.hpp>
#include <sinter/data/stages/bucket_by_sequence_length.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/padded_batch.hpp>
#include <sinter/data/stages/ragged_batch.hpp>
#include <sinter/data/stages/rebatch.hpp>
#include <sinter/data/stages/source.hpp>

// padded_batch(), ragged_batch() and rebatch().
namespace batches_of_vectors_test {

using namespace sinter;
using stage_test::elements_of;
using stage_test::goes_on_anywhere;
using i64 = std::int64_t;
namespace tf = tf_data_batches;

using row = std::vector<int>;
const auto row_of = [](i64 r) {
    row all;
    for (i64 i = 0; i < 5 * r % 7; ++i) all.push_back(static_cast<int>(r + i));
    return all;
};
auto rows() { return data::from(11, row_of); }
const auto any_row = [](const row&) { return true; };

template <std::size_t N>
std::vector<int> recorded(const int (&all)[N]) {
    return {all, all + N};
}
std::vector<int> flat(const std::vector<data::padded_rows<int>>& batches) {
    std::vector<int> all;
    for (const auto& b : batches) {
        all.push_back(static_cast<int>(b.rows()));
        all.push_back(static_cast<int>(b.width));
        for (i64 r = 0; r < b.rows(); ++r)
            for (i64 i = 0; i < b.width; ++i) all.push_back(b(r, i));
    }
    return all;
}
std::vector<int> flat(const std::vector<data::ragged<int>>& batches) {
    std::vector<int> all;
    for (const auto& b : batches) {
        all.push_back(static_cast<int>(b.rows()));
        for (const i64 s : b.row_splits) all.push_back(static_cast<int>(s));
        for (i64 r = 0; r < b.rows(); ++r) all.insert(all.end(), b.row(r).begin(), b.row(r).end());
    }
    return all;
}
std::vector<int> flat(const std::vector<std::vector<i64>>& lists) {
    std::vector<int> all;
    for (const auto& l : lists) {
        all.push_back(static_cast<int>(l.size()));
        all.insert(all.end(), l.begin(), l.end());
    }
    return all;
}

BOOST_AUTO_TEST_CASE(as_tf_data) {
    BOOST_TEST((flat(elements_of(rows() | data::padded_batch(4))) == recorded(tf::padded)));
    BOOST_TEST((flat(elements_of(rows() | data::padded_batch(4, {.value = -1, .drop_remainder = true}))) ==
                recorded(tf::padded_whole)));
    BOOST_TEST((flat(elements_of(rows() | data::padded_batch(4, {.width = 9}))) == recorded(tf::padded_to_9)));
    BOOST_TEST((flat(elements_of(rows() | data::ragged_batch(4))) == recorded(tf::ragged)));
    BOOST_TEST((flat(elements_of(rows() | data::ragged_batch(4, {.drop_remainder = true}))) ==
                recorded(tf::ragged_whole)));
    const auto lists = data::range(23) | data::window(5) | data::rebatch(7);
    BOOST_TEST((flat(elements_of(lists)) == recorded(tf::rebatched)));
    BOOST_TEST((flat(elements_of(lists | data::rebatch(3, {.drop_remainder = true}))) ==
                recorded(tf::rebatched_whole)));
    using texts = std::vector<std::string>;
    std::vector<int> words;
    for (const auto& b : elements_of(data::rows(std::vector<texts>{{"a"}, {"bb", "c"}, {}, {"dd"}}) |
                                     data::padded_batch(2))) {
        words.push_back(static_cast<int>(b.rows()));
        words.push_back(static_cast<int>(b.width));
        for (const std::string& t : b.values) words.push_back(static_cast<int>(t.size()));
    }
    BOOST_TEST((words == recorded(tf::padded_words)));
}

BOOST_AUTO_TEST_CASE(lengths_are_the_rows_own) {
    for (const auto& b : elements_of(rows() | data::padded_batch(3, {.value = 7})))
        for (i64 r = 0; r < b.rows(); ++r) {
            const i64 n = b.lengths[static_cast<std::size_t>(r)];
            for (i64 i = n; i < b.width; ++i) BOOST_TEST(b(r, i) == 7);
            if (n > 0) BOOST_TEST((row(&b.values[static_cast<std::size_t>(r * b.width)],
                                       &b.values[static_cast<std::size_t>(r * b.width)] + n) == row_of(b(r, 0))));
        }
}

struct place {
    float x = 0, y = 0;
    bool operator==(const place&) const = default;
};
struct sample {
    std::vector<place> places;
    place home;   // its fields are columns of their own
    std::string name;
    int grid[2] = {};
    std::vector<std::array<std::uint8_t, 2>> bytes;
    std::vector<bool> bits;
    data::extra<std::string> file;
    bool known = false;
};

BOOST_AUTO_TEST_CASE(each_field_is_a_column) {
    const std::vector<sample> all{
        {{{1, 2}}, {3, 4}, "one", {5, 6}, {{{7, 8}}, {{9, 10}}}, {true}, {"a"}, true},
        {{}, {5, 6}, "two", {7, 8}, {}, {false, true}, {"b"}, false}};
    const auto padded = elements_of(data::rows(all) | data::padded_batch(2, {.value = 1}));
    BOOST_REQUIRE(padded.size() == 1u);
    const auto& [places, x, y, names, grids, bytes, bits, files, known] = padded[0];
    BOOST_TEST((places.values == std::vector<place>{{1, 2}, {}}));
    BOOST_TEST((x == std::vector<float>{3, 5}));
    BOOST_TEST((y == std::vector<float>{4, 6}));
    BOOST_TEST((names == std::vector<std::string>{"one", "two"}));
    BOOST_TEST((grids == std::vector<std::array<int, 2>>{{5, 6}, {7, 8}}));
    BOOST_TEST((bytes.values == std::vector<std::array<std::uint8_t, 2>>{{7, 8}, {9, 10}, {1, 1}, {1, 1}}));
    BOOST_TEST((bits.values == std::vector<bool>{true, true, false, true}));
    BOOST_TEST((bits.lengths == std::vector<i64>{1, 2}));
    BOOST_TEST((files == std::vector<std::string>{"a", "b"}));
    BOOST_TEST((known == std::vector<bool>{true, false}));

    const auto ragged = elements_of(data::rows(all) | data::ragged_batch(5));
    BOOST_TEST((std::get<0>(ragged[0]) == data::ragged<place>{{{1, 2}}, {0, 1, 1}}));
    BOOST_TEST((std::get<6>(ragged[0]) == data::ragged<bool>{{true, false, true}, {0, 1, 3}}));
    BOOST_TEST((std::get<3>(ragged[0]) == names));
    // Such batches have bytes: cache(file) takes them.
    static_assert(data::has_bytes<std::tuple_element_t<0, std::remove_cvref_t<decltype(padded[0])>>>);
    static_assert(data::has_bytes<std::remove_cvref_t<decltype(ragged[0])>>);
    // A tuple, and a pair.
    const auto pairs = elements_of(data::rows(std::vector<std::pair<row, int>>{{{1}, 2}, {{3, 4}, 5}}) |
                                   data::ragged_batch(2));
    BOOST_TEST((pairs[0] == std::tuple<data::ragged<int>, row>{{{1, 3, 4}, {0, 1, 3}}, {2, 5}}));
}

BOOST_AUTO_TEST_CASE(of_elements_that_are_together) {
    // Groups by length, as lists: the batches are those of each list alone.
    const auto length = [](const row& r) { return r.size(); };
    const auto groups = rows() | data::bucket_by_sequence_length(length, {2, 4}, {3, 2, 2});
    const auto padded =
        groups | data::map([](const std::vector<row>& g) { return data::padded_batch_of(g, {.value = 8}); });
    const auto ragged = groups | data::map([](const std::vector<row>& g) { return data::ragged_batch_of(g); });
    const auto lists = elements_of(groups);
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const auto n = static_cast<i64>(lists[i].size());
        const auto list = data::rows(lists[i]);
        BOOST_TEST((elements_of(padded)[i] == elements_of(list | data::padded_batch(n, {.value = 8}))[0]));
        BOOST_TEST((elements_of(ragged)[i] == elements_of(list | data::ragged_batch(n))[0]));
    }
    BOOST_TEST((data::padded_batch_of(std::vector<row>{}) == data::padded_rows<int>{}));
    BOOST_CHECK_THROW(data::padded_batch_of(std::vector<row>{{1, 2}}, {.width = 1}), data_error);
    BOOST_CHECK_THROW(data::padded_batch_of(std::vector<row>{{1, 2}}, {.width = -1}), option_error);
}

BOOST_AUTO_TEST_CASE(they_go_on_anywhere) {
    static_assert(decltype(rows() | data::padded_batch(2))::is_indexed);
    static_assert(!decltype(rows() | data::filter(any_row) | data::padded_batch(2))::is_indexed);
    for (const i64 n : {1, 2, 3, 5, 11, 20}) {
        for (const bool drop : {false, true}) {
            const data::padded_batch_options o{.value = 3, .drop_remainder = drop};
            goes_on_anywhere(rows() | data::padded_batch(n, o));
            goes_on_anywhere(rows() | data::ragged_batch(n, {.drop_remainder = drop}));
            const auto streamed = rows() | data::filter(any_row) | data::padded_batch(n, o);
            goes_on_anywhere(streamed);
            BOOST_TEST((elements_of(streamed) == elements_of(rows() | data::padded_batch(n, o))));
            BOOST_TEST((rows() | data::padded_batch(n, o)).size() == (drop ? 11 : 10 + n) / n);
            goes_on_anywhere(rows() | data::filter(any_row) | data::ragged_batch(n, {.drop_remainder = drop}));
        }
        for (const i64 before : {1, 3, 4})
            for (const bool drop : {false, true}) {
                const auto s = data::range(13) | data::window(before) | data::rebatch(n, {.drop_remainder = drop});
                goes_on_anywhere(s);
                const auto plain = data::range(13) | data::window(n, {.drop_remainder = drop});
                BOOST_TEST((elements_of(s) == elements_of(plain)));
            }
    }
    // Lists of one length that can be found by number stay so.
    const auto arrays = data::from(4, [](i64 i) { return std::array<i64, 3>{3 * i, 3 * i + 1, 3 * i + 2}; });
    static_assert(decltype(arrays | data::rebatch(5))::is_indexed);
    goes_on_anywhere(arrays | data::rebatch(5));
    BOOST_TEST((elements_of(arrays | data::rebatch(5)) == elements_of(data::range(12) | data::window(5))));
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
    check_error<option_error>([] { data::padded_batch(0); }, "impossible batch size", "padded_batch", "0", "1 or more");
    check_error<option_error>([] { data::padded_batch(1, {.width = -1}); }, "impossible width", "padded_batch", "-1");
    check_error<option_error>([] { data::ragged_batch(-1); }, "impossible batch size", "ragged_batch", "-1");
    check_error<option_error>([] { data::rebatch(0); }, "impossible number of elements", "rebatch", "0");
    check_error<option_error>([] { static_cast<void>(rows() | data::padded_batch(2, {.value = 0.5})); },
                              "impossible padding", "padded_batch", "0.5");
    const auto bytes = [](double value) {
        static_cast<void>(data::rows(std::vector<std::vector<std::uint8_t>>{{1}}) |
                          data::padded_batch(2, {.value = value}));
    };
    BOOST_CHECK_THROW(bytes(-1), option_error);
    BOOST_CHECK_THROW(bytes(256), option_error);
    BOOST_CHECK_THROW(bytes(__builtin_nan("")), option_error);
    bytes(255);
    using data::stage_parts::has_value;
    static_assert(has_value<i64>(-0x1p63) && !has_value<i64>(0x1p63) && has_value<std::uint64_t>(0x1p63));
    static_assert(has_value<bool>(1) && !has_value<bool>(2) && has_value<std::string>(5));
    static_assert(!has_value<std::array<std::int8_t, 2>>(128) && has_value<float>(0.1));
    check_error<data_error>([] { static_cast<void>(elements_of(rows() | data::padded_batch(4, {.width = 5}))); },
                            "longer than what it is padded to", "padded_batch", "6 values", "at most 5");
}

} // namespace batches_of_vectors_test
