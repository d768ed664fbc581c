// SPDX-License-Identifier: BSL-1.0
// shows data: stages that move elements give the sequences that tf.data gives
#define BOOST_TEST_MODULE data_stages_moving_recorded
#include <boost/test/unit_test.hpp>
#include "data/stages/reading.hpp"
#include "fixtures/tf_data_moving.hpp"
#include <sinter/data/stages/cardinality.hpp>
#include <sinter/data/stages/concatenate.hpp>
#include <sinter/data/stages/enumerate.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/reduce.hpp>
#include <sinter/data/stages/repeat.hpp>
#include <sinter/data/stages/scan.hpp>
#include <sinter/data/stages/shard.hpp>
#include <sinter/data/stages/skip.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <sinter/data/stages/take_while.hpp>
#include <sinter/data/stages/unbatch.hpp>
#include <sinter/data/stages/window.hpp>
#include <sinter/data/stages/zip.hpp>

using namespace sinter;
namespace tf = tf_data_moving;

namespace {

using reading::i64;
using numbers = std::vector<i64>;

void append(numbers& to, i64 e) { to.push_back(e); }
void append(numbers& to, const std::tuple<i64, i64>& e) {
    to.push_back(std::get<0>(e));
    to.push_back(std::get<1>(e));
}
void append(numbers& to, const numbers& e) {
    to.push_back(i64(e.size()));
    to.insert(to.end(), e.begin(), e.end());
}

template <class Stages>
numbers read(const Stages& s) {
    numbers all;
    for (const auto& e : reading::rest(s, 0)) append(all, e);
    return all;
}
template <std::size_t N>
numbers recorded(const int (&of)[N]) { return {of, of + N}; }

} // namespace

#define EQUAL(name, ...) BOOST_TEST(read(__VA_ARGS__) == recorded(tf::name), boost::test_tools::per_element())

BOOST_AUTO_TEST_CASE(one_by_one) {
    const auto r = [](i64 n) { return data::range(n); };
    EQUAL(take, r(10) | data::take(3));
    EQUAL(take_all, r(4) | data::take(-1));
    EQUAL(take_more, r(4) | data::take(9));
    EQUAL(skip, r(10) | data::skip(7));
    BOOST_TEST(read(r(4) | data::skip(-1)).empty());
    EQUAL(shard_0, r(10) | data::shard(3, 0));
    EQUAL(shard_1, r(10) | data::shard(3, 1));
    EQUAL(shard_2, r(10) | data::shard(3, 2));
    EQUAL(repeat, r(3) | data::repeat(2));
    EQUAL(repeat_for_ever, r(3) | data::repeat() | data::take(7));
    BOOST_TEST(read(r(0) | data::repeat() | data::take(7)).empty());
    EQUAL(enumerate, r(3) | data::enumerate(5));
    EQUAL(zip, data::zip(data::range(1, 4), data::range(4, 9)));
    EQUAL(concatenate, data::concatenate(data::range(1, 4), data::range(4, 8)));
    EQUAL(take_while, data::concatenate(r(10) | data::take_while([](i64 x) { return x < 5; }), r(2)));
    EQUAL(unbatch, data::rows(std::vector<numbers>{{1, 2, 3}, {4, 5, 6}}) | data::unbatch());
    EQUAL(unbatch, data::rows(std::vector<std::array<i64, 3>>{{1, 2, 3}, {4, 5, 6}}) | data::unbatch());
    EQUAL(flat_map, r(4) | data::flat_map([](i64 x) { return numbers(std::size_t(x), x); }));
    EQUAL(scan, r(10) | data::scan(i64{0}, [](i64 s, i64 x) { return std::pair(s + x, s + 2 * x); }));
    EQUAL(of_several, r(9) | data::filter([](i64 x) { return x % 4 != 0; }) | data::skip(1) | data::repeat(2) |
                          data::take(8) | data::shard(3, 1) | data::enumerate());
}

BOOST_AUTO_TEST_CASE(windows) {
    const int* at = tf::windows;
    while (at != std::end(tf::windows)) {
        const int n = at[0], size = at[1], shift = at[2], stride = at[3], drop = at[4];
        BOOST_TEST_CONTEXT(n << " elements, size " << size << ", shift " << shift << ", stride " << stride << ", drop "
                             << drop) {
            numbers expected;
            const int count = at[5];
            at += 6;
            for (int w = 0; w < count; ++w) {
                const int* const end = at + 1 + *at;
                expected.insert(expected.end(), at, end);
                at = end;
            }
            const data::window_step step =
                data::window(size, {.shift = shift, .stride = stride, .drop_remainder = drop == 1});
            const auto stream = data::range(n) | data::filter([](i64) { return true; });
            BOOST_TEST(read(data::range(n) | step) == expected);
            BOOST_TEST(data::cardinality(data::range(n) | step) == count);
            BOOST_TEST(read(stream | step) == expected);
        }
    }
    EQUAL(windows_of_a_stream,
          data::range(9) | data::filter([](i64 x) { return x % 3 != 0; }) | data::window(2, {.shift = 1}));
}

BOOST_AUTO_TEST_CASE(reduced_and_counted) {
    BOOST_TEST(data::reduce(data::range(5), i64{0}, [](i64 s, i64 x) { return 2 * s + x; }) == tf::reduced[0]);
    const numbers sizes{data::cardinality(data::range(42)),
                        data::cardinality(data::range(10) | data::shard(3, 1)),
                        data::cardinality(data::range(7) | data::window(3, {.shift = 2})),
                        data::cardinality(data::range(5) | data::take(9)),
                        data::cardinality(data::range(5) | data::skip(9)),
                        data::cardinality(data::concatenate(data::range(3), data::range(4))),
                        data::cardinality(data::zip(data::range(3), data::range(4))),
                        data::cardinality(data::range(3) | data::repeat(5))};
    BOOST_TEST(sizes == recorded(tf::sizes));
    BOOST_TEST(data::cardinality(data::range(42) | data::repeat()) == data::endless);
    BOOST_TEST(data::cardinality(data::range(42) | data::filter([](i64) { return true; })) == data::unknown_size);
}

#undef EQUAL
