// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE data_stages_group_by_window
#include <boost/test/unit_test.hpp>
#include "data/stages/restored.hpp"
#include "fixtures/tf_data_grouping.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/data/stages/bucket_by_sequence_length.hpp>
#include <sinter/data/stages/group_by_window.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <algorithm>

namespace group_by_window_test {

using namespace sinter;
using stage_test::elements_of;
using stage_test::goes_on_anywhere;
using numbers = std::vector<std::int64_t>;
using groups = std::vector<numbers>;

/// All windows at once: which input each group is complete at, and what it is made of.
groups grouped(const numbers& all, std::int64_t modulus, std::size_t size, std::size_t window, bool drop) {
    groups out;
    for (std::size_t first = 0; first < all.size(); first += window) {
        const std::size_t last = std::min(all.size(), first + window);
        std::vector<std::pair<std::pair<std::size_t, std::int64_t>, numbers>> found;   // by (where, key)
        for (std::int64_t key = 0; key < modulus; ++key) {
            numbers open;
            for (std::size_t i = first; i < last; ++i) {
                if (all[i] % modulus != key) continue;
                open.push_back(all[i]);
                if (open.size() < size) continue;
                found.push_back({{i, key}, open});
                open.clear();
            }
            if (!open.empty() && !drop) found.push_back({{last, key}, open});
        }
        std::sort(found.begin(), found.end());
        for (auto& f : found) out.push_back(f.second);
    }
    return out;
}

BOOST_AUTO_TEST_CASE(groups_of_equal_keys) {
    // tf.data's example: range(10) by key x % 2 in groups of 5 gives the even and the odd numbers.
    const auto odd = [](std::int64_t i) { return i % 2; };
    BOOST_TEST((elements_of(data::range(10) | data::group_by_window(odd, 5)) ==
                groups{{0, 2, 4, 6, 8}, {1, 3, 5, 7, 9}}));
    BOOST_TEST((elements_of(data::range(10) | data::group_by_window(odd, 4)) ==
                groups{{0, 2, 4, 6}, {1, 3, 5, 7}, {8}, {9}}));
    random_stream random(11);
    for (int round = 0; round < 10; ++round) {
        numbers all;
        for (int i = 0; i < 50; ++i) all.push_back(random.below(1000));
        const std::int64_t modulus = 1 + random.below(6), size = 1 + random.below(5);
        const auto key = [modulus](std::int64_t i) { return static_cast<int>(i % modulus); };
        for (const std::int64_t window : {0, 1, 7, 25, 50, 65'536})
            for (const bool drop : {false, true}) {
                const auto s = data::rows(all) |
                    data::group_by_window(key, size, {.window = window, .drop_remainder = drop});
                BOOST_REQUIRE((elements_of(s) == grouped(all, modulus, static_cast<std::size_t>(size),
                                                         static_cast<std::size_t>(window ? window : 1000), drop)));
                if (round < 3) goes_on_anywhere(s);
            }
    }
    goes_on_anywhere(data::range(0) | data::group_by_window(odd, 3));
    goes_on_anywhere(data::from(data::endless, [](std::int64_t i) { return i; }) |
                     data::group_by_window(odd, 3, {.window = 10}) | data::take(40));
}

template <std::size_t N>
groups recorded(const int (&flat)[N]) {
    groups all;
    for (std::size_t i = 0; i < N; i += static_cast<std::size_t>(flat[i]) + 1)
        all.emplace_back(flat + i + 1, flat + i + 1 + flat[i]);
    return all;
}

BOOST_AUTO_TEST_CASE(as_tf_data) {
    namespace tf = tf_data_grouping;
    const auto all = data::rows(numbers(std::begin(tf::numbers), std::end(tf::numbers)));
    BOOST_TEST((elements_of(all | data::group_by_window([](std::int64_t i) { return i % 5; }, 4)) ==
                recorded(tf::groups)));
    BOOST_TEST((elements_of(all | data::group_by_window([](std::int64_t i) { return i % 4; },
                                                        [](std::int64_t k) { return k + 1; })) ==
                recorded(tf::groups_of_sizes)));
    const auto length = [](std::int64_t i) { return i % 9 + 1; };
    BOOST_TEST((elements_of(all | data::bucket_by_sequence_length(length, {3, 5, 8}, {4, 3, 2, 2})) ==
                recorded(tf::buckets)));
    BOOST_TEST((elements_of(all | data::bucket_by_sequence_length(length, {3, 5, 8}, {4, 3, 2, 2},
                                                                  {.drop_remainder = true})) ==
                recorded(tf::whole_buckets)));
}

BOOST_AUTO_TEST_CASE(sizes_of_keys) {
    const auto key = [](std::int64_t i) { return i % 3; };
    const auto size = [](std::int64_t k) { return k + 1; };
    const auto s = data::range(12) | data::group_by_window(key, size);
    BOOST_TEST((elements_of(s) == groups{{0}, {3}, {1, 4}, {6}, {2, 5, 8}, {9}, {7, 10}, {11}}));
    goes_on_anywhere(s);
    BOOST_CHECK_THROW(data::group_by_window(key, 0), option_error);
    BOOST_CHECK_THROW(data::group_by_window(key, 1, {.window = -1}), option_error);
    const auto none = data::range(12) | data::group_by_window(key, [](std::int64_t k) { return 1 - k; });
    BOOST_CHECK_EXCEPTION(elements_of(none), data_error,
                          [](const data_error& e) { return e.where() == "group_by_window, key 1" && e.got() == "0"; });
}

/// tf.data's documentation of bucket_by_sequence_length: lengths 1 to 3, 3 to 5, 5 and more, in batches of 2.
BOOST_AUTO_TEST_CASE(buckets) {
    using text = std::vector<std::int32_t>;
    const std::vector<text> all{{0}, {1, 2, 3, 4}, {5, 6, 7}, {7, 8, 9, 10, 11}, {13, 14, 15, 16, 19, 20}, {21, 22}};
    const auto length = [](const text& t) { return t.size(); };
    const auto s = data::rows(all) | data::bucket_by_sequence_length(length, {3, 5}, {2, 2, 2});
    BOOST_TEST((elements_of(s) == std::vector<std::vector<text>>{{{1, 2, 3, 4}, {5, 6, 7}},
                                                                {{7, 8, 9, 10, 11}, {13, 14, 15, 16, 19, 20}},
                                                                {{0}, {21, 22}}}));
    goes_on_anywhere(s);
    BOOST_TEST((elements_of(data::rows(all) | data::bucket_by_sequence_length(length, {3, 5}, {4, 2, 1})) ==
                std::vector<std::vector<text>>{{{1, 2, 3, 4}, {5, 6, 7}}, {{7, 8, 9, 10, 11}},
                                               {{13, 14, 15, 16, 19, 20}}, {{0}, {21, 22}}}));
    BOOST_TEST(elements_of(data::rows(all) | data::bucket_by_sequence_length(length, {3, 5}, {4, 4, 4},
                                                                            {.drop_remainder = true})).empty());
    using longs = std::vector<std::int64_t>;
    const auto fails = [&](longs boundaries, longs sizes, std::string_view what) {
        BOOST_CHECK_EXCEPTION(data::bucket_by_sequence_length(length, boundaries, sizes), option_error,
                              [&](const option_error& e) { return e.fault() == what; });
    };
    fails({}, {1}, "no boundaries");
    fails({3, 3}, {1, 1, 1}, "impossible boundary");
    fails({0, 3}, {1, 1, 1}, "impossible boundary");
    fails({3, 5}, {1, 1}, "wrong number of sizes");
    fails({3, 5}, {1, 0, 1}, "impossible size of a group");
    description d;
    s.describe(d);
    BOOST_TEST(d.text().find("bucket_by_sequence_length") != std::string::npos);
}

} // namespace group_by_window_test
