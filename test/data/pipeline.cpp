// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE pipeline
#include <boost/test/unit_test.hpp>
#include <sinter/data/transform/augment.hpp>
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/transform/map.hpp>
#include <sinter/data/runtime/prefetch.hpp>
#include <sinter/data/transform/repeat.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace sinter;
using data::batch_view;

// Examples whose label is their index and whose two features follow from it.
static data::dataset numbered(int n) {
    std::vector<float> x;
    std::vector<std::int32_t> labels;
    for (int i = 0; i < n; ++i) {
        x.push_back(static_cast<float>(i));
        x.push_back(static_cast<float>(-i));
        labels.push_back(i);
    }
    return data::dataset(extents(2), x).labels(labels);
}

static std::vector<int> one_pass(data::pipeline& p) {
    std::vector<int> seen;
    for (const batch_view& b : p)
        for (int i = 0; i < b.size; ++i) {
            BOOST_REQUIRE(b.x[2 * i] == static_cast<float>(b.labels[i]));   // the columns of an example stay together
            BOOST_REQUIRE(b.x[2 * i + 1] == static_cast<float>(-b.labels[i]));
            seen.push_back(b.labels[i]);
        }
    return seen;
}

static std::vector<int> counting(int n) {
    std::vector<int> v(static_cast<std::size_t>(n));
    std::iota(v.begin(), v.end(), 0);
    return v;
}

BOOST_AUTO_TEST_CASE(batches_keep_order_and_end_with_the_remainder) {
    auto p = data::source(numbered(10)) | data::batch(4);
    std::vector<int> sizes;
    for (const batch_view& b : p) {
        sizes.push_back(b.size);
        BOOST_TEST(reinterpret_cast<std::uintptr_t>(b.x) % 64 == 0u);
        BOOST_TEST(reinterpret_cast<std::uintptr_t>(b.labels) % 64 == 0u);
    }
    BOOST_TEST(sizes == (std::vector<int>{4, 4, 2}));
    BOOST_TEST(one_pass(p) == counting(10));
    auto dropping = numbered(10) | data::batch(4, {.drop_remainder = true});
    BOOST_TEST(one_pass(dropping) == counting(8));
    BOOST_TEST(one_pass(dropping) == counting(8));
    BOOST_TEST(dropping.size() == 8);
}

BOOST_AUTO_TEST_CASE(shuffle_is_a_new_permutation_each_epoch_and_the_same_for_one_seed) {
    auto p = numbered(50) | data::shuffle(1000, 3) | data::batch(8);
    auto q = numbered(50) | data::shuffle(50, 3) | data::batch(7);
    auto other = numbered(50) | data::shuffle(50, 4) | data::batch(7);
    const auto first = one_pass(p), second = one_pass(p);
    BOOST_TEST(first != second);
    BOOST_TEST(first == one_pass(q));
    BOOST_TEST(second == one_pass(q));
    BOOST_TEST(first != one_pass(other));
    for (auto v : {first, second}) {
        BOOST_TEST(v != counting(50));
        std::sort(v.begin(), v.end());
        BOOST_TEST(v == counting(50));
    }
}

BOOST_AUTO_TEST_CASE(shuffle_without_a_number_is_that_of_the_whole_pass) {
    auto whole = numbered(50) | data::shuffle({.seed = 3}) | data::batch(8);
    auto buffered = numbered(50) | data::shuffle(50, 3) | data::batch(8);
    for (int pass = 0; pass < 3; ++pass) BOOST_TEST(one_pass(whole) == one_pass(buffered));
    auto empty = numbered(0) | data::shuffle() | data::batch(8);
    BOOST_TEST(one_pass(empty).empty());
    BOOST_CHECK_THROW(numbered(5) | data::repeat() | data::shuffle(), option_error);
}

BOOST_AUTO_TEST_CASE(a_full_buffer_makes_every_permutation_equally_likely) {
    auto p = numbered(4) | data::shuffle(4, 1) | data::batch(4);
    std::map<std::vector<int>, int> times;
    for (int i = 0; i < 24 * 200; ++i) ++times[one_pass(p)];
    BOOST_TEST(times.size() == 24u);
    double chi2 = 0;
    for (const auto& [order, n] : times) chi2 += (n - 200.0) * (n - 200.0) / 200.0;
    BOOST_TEST(chi2 < 49.7);   // 23 degrees of freedom, 0.1 %; the seed is fixed
}

BOOST_AUTO_TEST_CASE(a_small_buffer_never_yields_an_example_early) {
    auto p = numbered(100) | data::shuffle(10, 1) | data::batch(9);
    auto v = one_pass(p);
    for (int place = 0; place < 100; ++place) BOOST_TEST(v[static_cast<std::size_t>(place)] < place + 10);
    std::sort(v.begin(), v.end());
    BOOST_TEST(v == counting(100));
}

BOOST_AUTO_TEST_CASE(shuffling_computed_rows_gives_the_order_of_shuffling_places) {
    // Places go through all parts many at a time, computed rows one by one; 1500 are more than a
    // buffer is filled with at once.
    auto nothing = [](data::example&) {};
    for (const int n : {1, 15, 16, 17, 40, 1500})
        for (const int buffer : {1, 11, 16, 100, 2000})
            for (const int batch : {6, 300}) {
                auto by_place = numbered(n) | data::shuffle(buffer, 5) | data::repeat(2) | data::batch(batch);
                auto by_copy = numbered(n) | data::map(nothing) | data::shuffle(buffer, 5) | data::repeat(2) |
                    data::batch(batch);
                for (int epoch = 0; epoch < 2; ++epoch) BOOST_TEST(one_pass(by_place) == one_pass(by_copy));
            }
}

BOOST_AUTO_TEST_CASE(repeat_joins_passes) {
    auto p = numbered(5) | data::repeat(3) | data::batch(4);
    BOOST_TEST(one_pass(p) == (std::vector<int>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
    BOOST_TEST(p.size() == 15);
    auto apart = numbered(20) | data::shuffle(20, 2) | data::batch(20);
    auto joined = numbered(20) | data::shuffle(20, 2) | data::repeat(2) | data::batch(7);
    std::vector<int> all;
    for (int epoch = 0; epoch < 4; ++epoch)
        for (int label : one_pass(apart)) all.push_back(label);
    std::vector<int> two = one_pass(joined);
    for (int label : one_pass(joined)) two.push_back(label);
    BOOST_TEST(all == two);
    auto endless = numbered(3) | data::repeat() | data::batch(2);
    for (int i = 0; i < 100; ++i) BOOST_TEST(endless.next()->labels[0] == 2 * i % 3);
    auto empty = numbered(0) | data::repeat() | data::batch(2);
    BOOST_TEST(!empty.next());
}

BOOST_AUTO_TEST_CASE(map_changes_values_and_extents_and_draws_by_place) {
    auto p = numbered(6) | data::scale(2, 1) | data::batch(6);
    BOOST_TEST(p.next()->x[4] == 5.0f);
    auto relabelled = numbered(6) | data::map([](data::example& e) { *e.label += 100; }) | data::batch(6);
    BOOST_TEST(relabelled.next()->labels[5] == 105);
    auto sum = numbered(6) | data::map(extents(1), [](const data::example_view& in, data::example& out) {
        out.x[0] = in.x[0] - in.x[1];
    }) | data::batch(6);
    BOOST_TEST((sum.columns()[0].row == extents(1)));
    BOOST_TEST(sum.next()->x[5] == 10.0f);

    auto noise = [](data::example& e, random_stream& r) { e.x[0] = r.uniform(); };
    auto a = numbered(6) | data::map(noise, 1) | data::batch(6);
    auto b = numbered(6) | data::map(noise, 1) | data::repeat() | data::batch(1);
    std::set<float> values;
    for (int epoch = 0; epoch < 2; ++epoch) {
        const batch_view* whole = a.next();
        for (int i = 0; i < 6; ++i) {
            BOOST_TEST(whole->x[2 * i] == b.next()->x[0]);
            values.insert(whole->x[2 * i]);
        }
        BOOST_TEST(!a.next());
    }
    BOOST_TEST(values.size() == 12u);   // each example in each pass has numbers of its own
    auto twice = numbered(6) | data::map(noise) | data::map([](data::example& e, random_stream& r) {
        e.x[1] = r.uniform();
    }) | data::batch(1);
    const batch_view* one = twice.next();
    BOOST_TEST(one->x[0] != one->x[1]);   // two maps of one seed do not share a stream
}

BOOST_AUTO_TEST_CASE(image_functions) {
    std::vector<float> pixels;
    for (int i = 0; i < 12; ++i) pixels.push_back(static_cast<float>(i + 1));   // 3 x 4
    const data::dataset set(extents(3, 4, 1), pixels);
    auto crop = set | data::center_crop(1, 2, 1) | data::batch(1);
    const batch_view* b = crop.next();
    BOOST_TEST(b->x[0] == 6.0f);
    BOOST_TEST(b->x[1] == 7.0f);
    auto grown = set | data::center_crop(5, 4, 1) | data::batch(1);
    b = grown.next();
    BOOST_TEST(b->x[0] == 0.0f);
    BOOST_TEST(b->x[4] == 1.0f);
    BOOST_TEST(b->x[19] == 0.0f);
    std::set<float> first;
    auto flipped = set | data::random_flip() | data::repeat(50) | data::batch(1);
    for (const batch_view& f : flipped) first.insert(f.x[0]);
    BOOST_TEST(first == (std::set<float>{1, 4}));
    std::set<float> corner;
    auto cropped = set | data::random_crop(3, 4, 1, 1) | data::repeat(300) | data::batch(1);
    for (const batch_view& f : cropped) corner.insert(f.x[0]);
    BOOST_TEST(corner == (std::set<float>{0, 1, 2, 5, 6}));
    auto impossible = set | data::random_crop(9, 9, 1) | data::batch(1);
    BOOST_CHECK_THROW(impossible.next(), data_error);
    // Of three channels into one would write beyond the row.
    const data::dataset coloured(extents(3, 2, 3), std::vector<float>(18, 1.f));
    auto needs_channels = [](const data_error& e) {
        return e.fault() == "number of channels differs" && e.got() == "1";
    };
    auto centre = coloured | data::center_crop(3, 2, 1) | data::batch(1),
        random = coloured | data::random_crop(3, 2, 1) | data::batch(1);
    BOOST_CHECK_EXCEPTION(centre.next(), data_error, needs_channels);
    BOOST_CHECK_EXCEPTION(random.next(), data_error, needs_channels);
    BOOST_CHECK_THROW(set | data::center_crop(-1, 2, 1), option_error);
    BOOST_CHECK_THROW(set | data::random_crop(3, 0, 1), option_error);
}

BOOST_AUTO_TEST_CASE(several_inputs_and_targets) {
    data::dataset set(extents(3), {1, 2, 3, 4, 5, 6});
    set.input(extents(2), std::vector<std::int32_t>{7, 8, 9, 10}).targets(extents(1), {0.5f, 0.25f});
    auto p = set | data::batch(2);
    const batch_view* b = p.next();
    BOOST_TEST(b->inputs.size() == 2u);
    BOOST_TEST(b->inputs[0].values == b->x);
    BOOST_TEST(b->inputs[1].indices[3] == 10);
    BOOST_TEST(b->y[1] == 0.25f);
    BOOST_TEST(!b->labels);
    BOOST_TEST(b->y_width == 1);
    BOOST_TEST(b->label_width == 0);
}

// Three labels and no target, or a target of 2 x 2: their widths go along through every part.
BOOST_AUTO_TEST_CASE(several_labels_and_wide_targets) {
    std::vector<std::int32_t> labels;
    std::vector<float> values, targets;
    for (int i = 0; i < 10; ++i) {
        values.push_back(static_cast<float>(i));
        for (int k = 0; k < 3; ++k) labels.push_back(10 * i + k);
        for (int k = 0; k < 4; ++k) targets.push_back(static_cast<float>(10 * i + k));
    }
    const data::dataset tagged = data::dataset(extents(1), values).labels(extents(3), labels, 93);
    BOOST_TEST((tagged.columns()[1].row.rank == 1));
    BOOST_TEST(tagged.labels().size() == 30u);
    BOOST_TEST(tagged.slice(4, 2).labels()[5] == 52);
    auto p = tagged | data::map([](data::example& e) { e.label[2] += 1; }) | data::shuffle(10, 3) | data::batch(4) |
        data::prefetch();
    int seen = 0;
    for (const batch_view& b : p) {
        BOOST_TEST(b.label_width == 3);
        BOOST_TEST(b.y_width == 0);
        for (int i = 0; i < b.size; ++i, ++seen)
            for (int k = 0; k < 3; ++k) BOOST_TEST(b.labels[3 * i + k] == 10 * static_cast<int>(b.x[i]) + k + (k == 2));
    }
    BOOST_TEST(seen == 10);

    auto q = data::dataset(extents(1), values).targets(extents(2, 2), targets) | data::shuffle(10, 3) | data::batch(4);
    for (const batch_view& b : q) {
        BOOST_TEST(b.y_width == 4);
        for (int i = 0; i < b.size; ++i) BOOST_TEST(b.y[4 * i + 3] == 10 * b.x[i] + 3);
    }
    BOOST_CHECK_EXCEPTION(data::dataset(extents(1), values).labels(extents(3), labels, 92), data_error,
                          [](const data_error& e) {
                              return e.where() == "label 29" && e.got() == "92" && e.needed() == "0 to 91";
                          });
    // 30 are no rows of 4
    BOOST_CHECK_THROW(data::dataset(extents(1), values).labels(extents(4), labels), data_error);
    // 15 rows, 10 examples
    BOOST_CHECK_THROW(data::dataset(extents(1), values).labels(extents(2), labels), data_error);
}

template <class P>
static void resumes_everywhere(P make, int batches) {
    auto straight = make();
    std::vector<std::vector<float>> all;
    std::vector<data::position> places{{}};
    for (int i = 0; i < batches; ++i) {
        const batch_view* b = straight.next();
        all.push_back(b ? std::vector<float>(b->x, b->x + 2 * b->size) : std::vector<float>{});
        places.push_back(straight.position());
    }
    for (std::size_t from = 0; from < all.size(); ++from) {
        auto resumed = make();
        resumed.next();   // a pipeline in use can be moved just as a fresh one
        resumed.seek(places[from]);
        BOOST_TEST((resumed.position() == places[from]));
        for (std::size_t i = from; i < all.size(); ++i) {
            const batch_view* b = resumed.next();
            BOOST_REQUIRE((b ? std::vector<float>(b->x, b->x + 2 * b->size) : std::vector<float>{}) == all[i]);
            BOOST_REQUIRE((resumed.position() == places[i + 1]));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_resumed_pipeline_yields_the_same_remaining_sequence) {
    auto noise = [](data::example& e, random_stream& r) { e.x[0] += r.uniform(); };
    resumes_everywhere([&] { return numbered(13) | data::shuffle(5, 1) | data::map(noise) | data::batch(4); }, 14);
    resumes_everywhere([&] { return numbered(13) | data::map(noise) | data::shuffle(5, 1) | data::repeat()
                                    | data::batch(4) | data::prefetch(3); }, 14);
    resumes_everywhere([&] { return numbered(13) | data::shuffle(99, 1) | data::repeat(2) | data::map(noise)
                                    | data::batch(4, {.drop_remainder = true}) | data::prefetch(); }, 16);
    resumes_everywhere([&] { return numbered(12) | data::repeat(2) | data::shuffle(7) | data::batch(4); }, 16);
    resumes_everywhere([&] { return numbered(700) | data::shuffle(650) | data::repeat(2) | data::batch(280); }, 12);
}

BOOST_AUTO_TEST_CASE(leaving_a_loop_leaves_the_cursor) {
    auto p = numbered(10) | data::batch(2) | data::prefetch(2);
    for (const batch_view& b : p)
        if (b.labels[0] == 4) break;
    BOOST_TEST((p.position() == data::position{0, 6}));
    BOOST_TEST(one_pass(p) == (std::vector<int>{6, 7, 8, 9}));
    BOOST_TEST((p.position() == data::position{1, 0}));
    p.rewind();
    BOOST_TEST(one_pass(p) == counting(10));
}

BOOST_AUTO_TEST_CASE(impossible_requests_are_errors_in_words) {
    BOOST_CHECK_THROW(data::batch(0), option_error);
    BOOST_CHECK_THROW(data::shuffle(0), option_error);
    BOOST_CHECK_THROW(data::repeat(0), option_error);
    // the size of a pass must stay a number
    BOOST_CHECK_THROW(data::repeat((std::int64_t{1} << 31) + 1), option_error);
    BOOST_CHECK_THROW(data::prefetch(0), option_error);
    auto p = numbered(3) | data::batch(1);
    BOOST_CHECK_THROW(p.seek({-1, 0}), option_error);
    BOOST_CHECK_THROW(data::dataset(extents(2), {1, 2, 3}), data_error);
    BOOST_CHECK_THROW(data::dataset(extents(-1, -3), {1, 2, 3}), data_error);
    BOOST_CHECK_EXCEPTION(data::dataset(extents(65536, 65537), std::vector<float>(65536)), data_error,
                          [](const data_error& e) { return e.got() == "65536 x 65537"; });
    BOOST_CHECK_THROW(data::dataset(extents(1), {1, 2, 3}).labels({1, 2}), data_error);
    BOOST_CHECK_THROW(data::dataset(extents(1), {1, 2, 3}).slice(2, 2), data_error);
    BOOST_CHECK_EXCEPTION(data::dataset(extents(1), {1, 2, 3}).labels({0, 3, 1}, 3), data_error,
                          [](const data_error& e) { return e.where() == "label 1" && e.needed() == "0 to 2"; });
}

BOOST_AUTO_TEST_CASE(slices_share_and_shift) {
    auto p = numbered(10).slice(4, 3) | data::batch(5);
    BOOST_TEST(one_pass(p) == (std::vector<int>{4, 5, 6}));
    const auto part = numbered(10).slice(8, 2);
    BOOST_TEST(part.labels()[1] == 9);
    BOOST_TEST(part.x().size() == 4u);
}
