// SPDX-License-Identifier: BSL-1.0
// shows data: splits, folds, scaling and class weights are scikit-learn's
// What must hold of any split, looked at example by example: parts are disjoint and complete, of the right
// sizes, of each class as many as its share, groups whole, rows unchanged.
#define BOOST_TEST_MODULE data_split
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/transform/k_fold.hpp>
#include <cmath>
#include <map>
#include <set>

using namespace sinter;

static constexpr int most = 103;
// Every kind of column; each row says whose it is.
static data::dataset examples(int n) {
    std::vector<float> x, y, w;
    std::vector<std::int32_t> index, labels;
    std::vector<std::byte> bytes;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < 3; ++k)
            x.push_back(static_cast<float>(10 * i + k)), bytes.push_back(static_cast<std::byte>(i + k));
        index.push_back(1'000'000'000 + i);
        labels.push_back(i), labels.push_back(-i);
        y.push_back(static_cast<float>(-i));
        w.push_back(static_cast<float>(i) / 2);
    }
    return data::dataset().input(extents(3), x).pixels(extents(3, 1), bytes).input(extents(1), index)
        .labels(extents(2), labels).targets(extents(1), y).weights(w);
}
// Which example of `from` a set's i-th is; fails unless it is that in all columns.
static std::int64_t place(const data::dataset& from, const data::dataset& set, std::int64_t i) {
    const std::int64_t p = *static_cast<const std::int32_t*>(set.row(2, i)) - 1'000'000'000;
    for (std::size_t c = 0; c < from.columns().size(); ++c) {
        BOOST_REQUIRE((set.columns()[c].use == from.columns()[c].use && set.columns()[c].row == from.columns()[c].row));
        BOOST_REQUIRE(set.columns()[c].pixels == from.columns()[c].pixels);
        BOOST_REQUIRE(std::memcmp(set.row(c, i), from.row(c, p), set.columns()[c].stored_bytes()) == 0);
    }
    return p;
}
// The part of each example, after a look at whether each is in one part, in ascending order.
static std::vector<std::size_t> parts_of(const data::dataset& from, const std::vector<data::dataset>& parts) {
    std::vector<std::size_t> part(static_cast<std::size_t>(from.size()), parts.size());
    std::int64_t all = 0;
    for (std::size_t p = 0; p < parts.size(); ++p)
        for (std::int64_t i = 0, before = -1; i < parts[p].size(); ++i, ++all) {
            const std::int64_t at = place(from, parts[p], i);
            BOOST_TEST(at > before);
            before = at;
            part[static_cast<std::size_t>(at)] = p;
        }
    BOOST_TEST(all == from.size());
    for (const std::size_t p : part) BOOST_TEST(p < parts.size());
    return part;
}
using longs = std::vector<std::int64_t>;

BOOST_AUTO_TEST_CASE(gathered) {
    const data::dataset set = examples(most);
    const longs places{5, 0, 5, 102};
    const data::dataset some = data::gather(set, places);
    BOOST_TEST(some.size() == 4);
    for (std::int64_t i = 0; i < 4; ++i) BOOST_TEST(place(set, some, i) == places[static_cast<std::size_t>(i)]);
    const data::dataset of_slice = data::gather(set.slice(10, 5), longs{4, 0});
    BOOST_TEST(place(set, of_slice, 0) == 14);
    BOOST_TEST(data::gather(set, longs{}).size() == 0);
    BOOST_TEST(data::gather(set, longs{}).columns().size() == 6u);
    check_error<data_error>([&] { (void)data::gather(set, longs{0, 103}); }, "no such example", "gather, place 1",
                            "103", "0 to 102");
    BOOST_CHECK_THROW((void)data::gather(set.slice(0, 3), longs{-1}), data_error);
}
BOOST_AUTO_TEST_CASE(joined_again) {
    const data::dataset set = examples(most);
    const data::dataset all = data::concat({set.slice(50, 53), set.slice(0, 0), set.slice(0, 50)});
    BOOST_REQUIRE(all.size() == most);
    for (std::int64_t i = 0; i < most; ++i) BOOST_TEST(place(set, all, i) == (i + 50) % most);
    BOOST_TEST(data::concat({}).size() == 0);
    const data::dataset a(extents(2), {1, 2}), b(extents(1, 2), {1, 2});
    check_error<data_error>([&] { (void)data::concat({a, a, b}); }, "sets of different columns",
                            "concat, set 2, column 0");
    check_error<data_error>([&] { (void)data::concat({a, data::dataset(a).labels({1})}); }, "sets of different columns",
                            "concat, set 1", "2 columns");
    const data::dataset bytes = data::dataset().pixels(extents(2), std::vector<std::byte>(2));
    BOOST_CHECK_THROW((void)data::concat({a, bytes}), data_error);
}
BOOST_AUTO_TEST_CASE(orders_are_equally_likely) {
    int times[24] = {};
    for (std::uint64_t seed = 0; seed < 2400; ++seed) {
        const longs o = data::random_order(4, seed);
        int rank = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            int smaller = 0;
            for (std::size_t k = i + 1; k < 4; ++k) smaller += o[k] < o[i];
            rank = rank * static_cast<int>(4 - i) + smaller;
        }
        ++times[rank];
    }
    for (const int n : times) BOOST_TEST(std::abs(n - 100) < 50);   // five standard deviations
    BOOST_TEST((data::random_order(100, 1) == data::random_order(100, 1)));
    BOOST_TEST((data::random_order(100, 1) != data::random_order(100, 2)));
    BOOST_TEST(data::random_order(0).empty());
}
// By its definition: what is left after rounding down goes to the largest remainders. Thousandths, so in
// integers.
static std::vector<std::int64_t> by_largest_remainder(std::int64_t n, const std::vector<int>& thousandths) {
    std::vector<std::int64_t> sizes;
    std::int64_t left = n;
    for (const int t : thousandths) sizes.push_back(n * t / 1000), left -= n * t / 1000;
    std::vector<std::int64_t> remainders;
    for (const int t : thousandths) remainders.push_back(n * t % 1000);
    for (; left > 0; --left) {
        const auto at = std::max_element(remainders.begin(), remainders.end()) - remainders.begin();
        ++sizes[static_cast<std::size_t>(at)];
        remainders[static_cast<std::size_t>(at)] = -1;
    }
    return sizes;
}
BOOST_AUTO_TEST_CASE(shares_of_any_number) {
    const std::vector<std::vector<int>> all{{800, 200}, {1000}, {0, 1000}, {333, 333, 334}, {700, 150, 150},
                                            {100, 200, 300, 400}, {999, 1}};
    for (const auto& thousandths : all) {
        std::vector<double> shares;
        for (const int t : thousandths) shares.push_back(t / 1000.);
        for (const int n : {0, 1, 2, 3, 5, 10, 30, 49, 100, most}) {
            const data::dataset set = examples(n);
            const auto parts = data::split(set, shares, {.seed = 7});
            (void)parts_of(set, parts);
            const auto sizes = by_largest_remainder(n, thousandths);
            for (std::size_t p = 0; p < sizes.size(); ++p) BOOST_TEST(parts[p].size() == sizes[p]);
        }
    }
    // shares alone: nobody has such sets in a test
    for (const std::int64_t n : {std::int64_t{1} << 31, std::int64_t{3'999'999'999}}) {
        std::vector<double> owed(3);
        const std::vector<double> shares{0.1, 0.2, 0.7};
        BOOST_TEST((data::detail::apportion(n, shares, owed) == by_largest_remainder(n, {100, 200, 700})));
    }
}
BOOST_AUTO_TEST_CASE(seeds_decide) {
    const data::dataset set = examples(most);
    const auto of = [&](data::split_options o) { return parts_of(set, data::split(set, {0.5, 0.5}, o)); };
    BOOST_TEST((of({.seed = 3}) == of({.seed = 3})));
    BOOST_TEST((of({.seed = 3}) != of({.seed = 4})));
    const auto stretches = of({.shuffle = false});
    BOOST_TEST(std::is_sorted(stretches.begin(), stretches.end()));
    int both = 0;   // of a fair split, in a quarter
    const auto a = of({.seed = 1}), b = of({.seed = 2});
    for (std::size_t i = 0; i < a.size(); ++i) both += a[i] == 0 && b[i] == 0;
    BOOST_TEST(std::abs(both - most / 4) < 13);
}
BOOST_AUTO_TEST_CASE(each_class_has_its_share) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        random_stream random(seed);
        const int n = 20 + static_cast<int>(random.below(83)), classes = 1 + static_cast<int>(random.below(9));
        const data::dataset set = examples(n);
        std::vector<std::int32_t> of(static_cast<std::size_t>(n));
        for (std::int32_t& c : of)
            c = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(classes))) * 1'000'003 - 5;
        const std::vector<double> shares{0.6, 0.25, 0.15};
        const auto part = parts_of(set,
                                   data::split(set, shares, {.seed = seed, .shuffle = seed % 3 > 0, .classes = of}));
        std::map<std::int32_t, std::vector<int>> counts;
        std::vector<int> sizes(3);
        for (std::size_t i = 0; i < of.size(); ++i) {
            auto& c = counts[of[i]];
            c.resize(3);
            ++c[part[i]], ++sizes[part[i]];
        }
        for (const auto& [name, c] : counts)
            for (std::size_t p = 0; p < 3; ++p)
                BOOST_TEST(std::abs(c[p] - shares[p] * (c[0] + c[1] + c[2])) < 1);   // rounded up or down
        // so is, nearly, the whole
        for (std::size_t p = 0; p < 3; ++p) BOOST_TEST(std::abs(sizes[p] - shares[p] * n) < 1.5);
    }
    const data::dataset set = examples(most);   // many classes of few: the whole has its shares all the same
    std::vector<std::int32_t> of;
    for (int i = 0; i < most; ++i) of.push_back(i / 7);
    const auto parts = data::split(set, {0.8, 0.2}, {.classes = of});
    BOOST_TEST(std::abs(static_cast<double>(parts[1].size()) - 0.2 * most) < 1.5);
}
BOOST_AUTO_TEST_CASE(groups_stay_whole) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        random_stream random(seed);
        const int n = 50 + static_cast<int>(random.below(53));
        const data::dataset set = examples(n);
        longs of(static_cast<std::size_t>(n));
        for (std::int64_t& g : of) g = static_cast<std::int64_t>(random.below(20)) << 40;   // beyond int32
        std::map<std::int64_t, int> size;
        for (const std::int64_t g : of) ++size[g];
        int largest = 0;
        for (const auto& [g, k] : size) largest = std::max(largest, k);
        const std::vector<double> shares{0.7, 0.3, 0};
        const auto parts = data::split(set, shares, {.seed = seed, .groups = of});
        const auto part = parts_of(set, parts);
        std::map<std::int64_t, std::size_t> where;
        for (std::size_t i = 0; i < of.size(); ++i) BOOST_TEST(where.emplace(of[i], part[i]).first->second == part[i]);
        for (std::size_t p = 0; p < 2; ++p)
            BOOST_TEST(std::abs(static_cast<double>(parts[p].size()) - shares[p] * n) <= largest);
        BOOST_TEST(parts[2].size() == 0);
    }
}
BOOST_AUTO_TEST_CASE(folds) {
    const data::dataset set = examples(most);
    std::vector<std::int32_t> classes;
    longs groups;
    for (int i = 0; i < most; ++i) classes.push_back(i % 10 == 0), groups.push_back(i / 8);
    for (const int k : {2, 5, 10, most}) {
        for (int kind = 0; kind < (k == most ? 1 : 3); ++kind) {
            data::split_options o{.seed = 2};
            if (kind == 1) o.classes = classes;
            if (kind == 2) o.groups = groups;
            const data::k_fold f(set, k, o);
            BOOST_TEST(f.size() == k);
            std::vector<int> out(most);
            for (int i = 0; i < k; ++i) {
                const data::dataset training = f.training(i), held_out = f.held_out(i);
                (void)parts_of(set, {training, held_out});
                std::set<std::int64_t> held_groups;
                int rare = 0;
                for (const std::int64_t p : f.places(i)) {
                    ++out[static_cast<std::size_t>(p)];
                    rare += classes[static_cast<std::size_t>(p)];
                    held_groups.insert(groups[static_cast<std::size_t>(p)]);
                }
                if (kind < 2) BOOST_TEST(std::abs(static_cast<double>(held_out.size()) - 1. * most / k) < 1);
                if (kind == 1) BOOST_TEST(std::abs(rare - 11. / k) < 1);
                if (kind == 2)
                    for (std::int64_t e = 0; e < training.size(); ++e)
                        BOOST_TEST(!held_groups.count(groups[static_cast<std::size_t>(place(set, training, e))]));
            }
            for (const int times : out) BOOST_TEST(times == 1);
        }
    }
    BOOST_CHECK_THROW(data::k_fold(set, 1), option_error);
    BOOST_CHECK_THROW(data::k_fold(set, most + 1), option_error);
    BOOST_CHECK_THROW(data::k_fold(set, 20, {.groups = groups}), option_error);   // of 13
}
BOOST_AUTO_TEST_CASE(faults) {
    const data::dataset set = examples(4);
    check_error<option_error>([&] { (void)data::split(set, {0.5, 0.4}); }, "shares do not make a whole", "split",
                              "0.9");
    check_error<option_error>([&] { (void)data::split(set, {1.5, -0.5}); }, "impossible share", "split", "1.5");
    BOOST_CHECK_THROW((void)data::split(set, {NAN, 1}), option_error);
    BOOST_CHECK_THROW((void)data::split(set, std::initializer_list<double>{}), option_error);
    const std::vector<std::int32_t> classes(3);
    const longs groups(4);
    check_error<data_error>([&] { (void)data::split(set, {1}, {.classes = classes}); },
                            "one is needed for each example", "split, classes", "3", "4");
    const std::vector<std::int32_t> four(4);
    BOOST_CHECK_THROW((void)data::split(set, {1}, {.classes = four, .groups = groups}), option_error);
}
/// None where some were meant: a set has no labels, say.
BOOST_AUTO_TEST_CASE(classes_that_are_not_there) {
    const data::dataset set = data::dataset(extents(1), {1, 2}).targets(extents(1), {1, 2});
    check_error<data_error>([&] { (void)data::split(set, {1}, {.classes = set.labels()}); },
                            "one is needed for each example", "split, classes", "0", "2");
    const longs none;
    check_error<data_error>([&] { (void)data::split(set, {1}, {.groups = none}); }, "one is needed for each example",
                            "split, groups", "0", "2");
    check_error<data_error>([&] { (void)data::k_fold(set, 2, {.classes = set.labels()}); },
                            "one is needed for each example", "split, classes");
    BOOST_TEST(data::split(data::dataset(), {0.5, 0.5}, {.groups = none}).size() == 2u);
}
