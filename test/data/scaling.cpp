// SPDX-License-Identifier: BSL-1.0
// shows data: splits, folds, scaling and class weights are scikit-learn's
// needs: zlib
#define BOOST_TEST_MODULE data_scaling
#include <boost/test/unit_test.hpp>
#include "fixtures/scikit_learn.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/scaling/save.hpp>
#include <cmath>
#include <span>

using namespace sinter;
namespace golden = fixture::scikit_learn;
using data::scaling;

template <std::size_t N>
static std::vector<double> all(const double (&x)[N]) { return {x, x + N}; }

static void close(const std::vector<float>& got, const std::vector<double>& wanted, double tolerance) {
    BOOST_REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        const auto y = static_cast<double>(got[i]);
        BOOST_TEST((std::isnan(wanted[i]) ? std::isnan(y)
                    : std::abs(y - wanted[i]) <= tolerance * (1 + std::abs(wanted[i]))),
                   i << ": " << y << " and not " << wanted[i]);
    }
}
// one column is of times in seconds, one never changes, values are missing
BOOST_AUTO_TEST_CASE(standard_as_scikit_learn) {
    const scaling s = scaling::fit(all(golden::x), 4);
    for (std::size_t c = 0; c < 4; ++c) {
        BOOST_TEST(std::abs(s.statistics()[c].shift - golden::mean[c]) <= 1e-15 * std::abs(golden::mean[c]) * 4);
        BOOST_TEST(std::abs(s.statistics()[c].spread - golden::deviation[c]) <= 1e-9 * golden::deviation[c]);
    }
    close(s.apply(all(golden::x)), all(golden::standard_x), 1e-6);
    close(s.apply(all(golden::fresh)), all(golden::standard_fresh), 1e-6);
}
BOOST_AUTO_TEST_CASE(min_max_as_scikit_learn) {
    const scaling s = scaling::fit(all(golden::x), 4, {.form = data::scaling_form::min_max, .low = -1, .high = 3});
    close(s.apply(all(golden::x)), all(golden::min_max_x), 1e-6);
    close(s.apply(all(golden::fresh)), all(golden::min_max_fresh), 1e-6);
}
BOOST_AUTO_TEST_CASE(and_back) {
    const std::vector<double> x = all(golden::x);
    for (const auto form : {data::scaling_form::standard, data::scaling_form::min_max}) {
        const scaling s = scaling::fit(x, 4, {.form = form, .low = -2, .high = 5});
        const std::vector<double> again = s.original(s.apply(x));
        for (std::size_t i = 0; i < x.size(); ++i)
            // of a float's 24 bits
            BOOST_TEST((std::isnan(x[i]) ? std::isnan(again[i]) : std::abs(again[i] - x[i]) < 1e-4));
        for (std::size_t i = 0; i < x.size(); ++i)
            if (!std::isnan(x[i]))
                BOOST_TEST(std::abs(s.original(s.scaled(x[i], static_cast<int>(i % 4)), static_cast<int>(i % 4)) -
                                    x[i]) < 1e-6);
    }
}
BOOST_AUTO_TEST_CASE(one_statistic_for_all_or_for_each_channel) {
    const std::vector<float> x{1, 10, 2, 20, 3, 30, 4, 40};
    const auto whole = scaling::fit(x, 4, {.of = data::statistics_of::everything});
    BOOST_TEST(whole.columns() == 1);
    BOOST_TEST(whole.statistics()[0].shift == 13.75);
    const data::dataset images(extents(2, 1, 2), x);   // two images of two channels
    const auto channels = scaling::fit(images, {.of = data::statistics_of::last_axis});
    BOOST_TEST(channels.columns() == 2);
    BOOST_TEST(channels.statistics()[0].shift == 2.5);
    BOOST_TEST(channels.statistics()[1].shift == 25.);
    BOOST_TEST(std::abs(channels.statistics()[1].spread - std::sqrt(125.)) < 1e-12);
    const data::dataset applied = channels.apply(images);
    close({applied.x().begin(), applied.x().end()},
          {-1.5 / std::sqrt(1.25), -15 / std::sqrt(125.), -0.5 / std::sqrt(1.25),
           -5 / std::sqrt(125.), 0.5 / std::sqrt(1.25), 5 / std::sqrt(125.), 1.5 / std::sqrt(1.25),
           15 / std::sqrt(125.)}, 1e-6);
    const auto columns = scaling::fit(images);
    BOOST_TEST(columns.columns() == 4);
    BOOST_TEST(columns.statistics()[0].shift == 2.);
    const std::vector<std::int32_t> ids{1'700'000'000, 1'700'000'010};   // integers keep their digits, too
    close(scaling::fit(ids, 1).apply(ids), {-1, 1}, 0);
}
BOOST_AUTO_TEST_CASE(sets_and_pipelines) {
    const std::vector<std::uint8_t> bytes{0, 51, 102, 255, 153, 204};
    data::dataset set;
    set.pixels(extents(3), span<const std::uint8_t>(bytes)).labels({4, 5}).targets(extents(1),
                                                                                   {10, 30}).weights({1, 2});
    const scaling s = scaling::fit(set);
    const std::vector<double> wanted{-1, -1, -1, 1, 1, 1};
    const data::dataset scaled = s.apply(set);
    BOOST_TEST(!scaled.columns()[0].pixels);
    close({scaled.x().begin(), scaled.x().end()}, wanted, 1e-6);
    BOOST_TEST(scaled.labels()[1] == 5);
    BOOST_TEST(scaled.columns().size() == 4u);
    auto p = set | data::map(s) | data::batch(2);
    const data::batch_view* const b = p.next();
    close({b->x, b->x + 6}, wanted, 1e-6);

    const scaling t = scaling::fit(set, {.form = data::scaling_form::min_max}, data::role::target);
    const data::dataset told = t.apply(set, data::role::target);
    BOOST_TEST(told.columns()[0].pixels);
    BOOST_TEST(told.targets()[0] == 0.f);
    BOOST_TEST(told.targets()[1] == 1.f);
    BOOST_TEST(t.original(0.5) == 20.);
}
BOOST_AUTO_TEST_CASE(saved_and_loaded) {
    const temporary_folder folder;
    for (const auto of :
         {data::statistics_of::columns, data::statistics_of::last_axis, data::statistics_of::everything}) {
        const scaling s = scaling::fit(all(golden::x), 4,
                                       {.form = data::scaling_form::min_max, .of = of, .low = -0.1, .high = 0.3});
        data::save(s, folder / "s.csv");
        const scaling again = data::load_scaling(folder / "s.csv");
        BOOST_TEST(data::scaling_file::text(again) == data::scaling_file::text(s));
        const std::vector<float> a = s.apply(all(golden::fresh)), b = again.apply(all(golden::fresh));
        BOOST_TEST(std::memcmp(a.data(), b.data(), 4 * a.size()) == 0);
    }
    const auto refuses = [](const std::string& text, const char* fault, const char* where) {
        io::memory_source in(std::as_bytes(std::span(text)), "s");
        check_error<format_error>([&] { data::scaling_file::parse(in); }, fault, where);
    };
    const std::string head = "sinter scaling,1\n", line = "standard,columns,0,1\n";
    refuses("a,b\n", "not a file of a scaling", "s:1:1");
    refuses("", "not a file of a scaling", "s");
    refuses(head, "unknown scaling", "s");
    refuses(head + "robust,columns,0,1\n", "unknown scaling", "s:2:1");
    refuses(head + "standard,rows,0,1\n", "unknown statistics", "s:2:10");
    refuses(head + "standard,columns,0,x\n", "a number cannot be used", "s:2:20");
    refuses(head + "standard,columns,1,1\n", "a range that is empty", "s:2:20");
    refuses(head + line, "no columns", "s");
    refuses(head + line + "1,2,3,4\n", "a line of other length", "s:3:1");
    refuses(head + line + "1,2,inf\n", "a number cannot be used", "s:3:5");
    refuses(head + line + "1,0\n", "a number cannot be used", "s:3:3");
    refuses(head + line + "nan,1\n", "a number cannot be used", "s:3:1");
    BOOST_CHECK_THROW(data::load_scaling(folder / "absent"), io_error);
}
BOOST_AUTO_TEST_CASE(faults) {
    const std::vector<float> x{1, 2, 3};
    BOOST_CHECK_THROW(scaling::fit(x, 0), option_error);
    BOOST_CHECK_THROW(scaling::fit(x, 3, {.low = 1, .high = 1}), option_error);
    BOOST_CHECK_THROW(scaling({}, {}), option_error);
    BOOST_CHECK_THROW(scaling({{0, 0}}, {}), option_error);
    check_error<data_error>([&] { scaling::fit(x, 2); }, "values do not fill whole rows", "scaling", "3",
                            "a multiple of 2");
    check_error<data_error>([&] { scaling::fit(std::vector<float>{1, INFINITY}, 1); }, "a number is not finite",
                            "scaling, value 1");
    const scaling s = scaling::fit(x, 3);
    check_error<data_error>([&] { (void)s.apply(std::vector<float>{1, 2}); }, "values do not fill whole rows",
                            "scaling", "2");
    check_error<data_error>([&] { (void)s.apply(data::dataset(extents(6), std::vector<float>(6))); },
                            "number of columns differs", "scaling", "6", "3, as were learned");
    check_error<data_error>([&] { (void)s.apply(data::dataset().labels({1})); }, "the set has none", "scaling",
                            "no float input");
}

/// Times in nanoseconds, one apart: doubles are 256 apart there.
BOOST_AUTO_TEST_CASE(integers_beyond_those_of_doubles) {
    const std::int64_t first = 1'700'000'000'000'000'001;
    std::vector<std::int64_t> t;
    for (int i = 0; i < 8; ++i) t.push_back(first + i);
    const scaling s = scaling::fit(t, 1), r = scaling::fit(t, 1, {.form = data::scaling_form::min_max});
    const std::vector<float> x = s.apply(t), y = r.apply(t);
    for (std::size_t i = 0; i < 8; ++i) {
        BOOST_TEST(std::abs(x[i] - (static_cast<double>(i) - 3.5) / std::sqrt(5.25)) < 1e-6);   // of 0 to 7
        BOOST_TEST(std::abs(y[i] - static_cast<double>(i) / 7) < 1e-7);
    }
    const std::vector<std::uint64_t> largest{UINT64_MAX - 2, UINT64_MAX};
    BOOST_TEST((scaling::fit(largest, 1).apply(largest) == std::vector<float>{-1, 1}));
    const temporary_folder folder;
    data::save(s, folder / "times");
    BOOST_TEST((data::load_scaling(folder / "times").apply(t) == x));
}
/// The first is one that doubles hold, those behind it are not all: on both sides of zero, and with values that
/// are doubles in between.
BOOST_AUTO_TEST_CASE(integers_around_the_last_that_doubles_hold) {
    const std::int64_t end = std::int64_t{1} << 53;
    for (const std::int64_t first : {end - 2, end - 1, end, -end - 3, -end})
        for (const std::int64_t step : {1, -1}) {
            std::vector<std::int64_t> t;
            for (int i = 0; i < 8; ++i) t.push_back(first + step * i);
            const scaling s = scaling::fit(t, 1), r = scaling::fit(t, 1, {.form = data::scaling_form::min_max});
            const std::vector<float> x = s.apply(t), y = r.apply(t);
            for (std::size_t i = 0; i < 8; ++i) {
                const auto place = static_cast<double>(step > 0 ? i : 7 - i);
                BOOST_TEST(std::abs(x[i] - (place - 3.5) / std::sqrt(5.25)) < 1e-6, first << ", " << i);
                BOOST_TEST(std::abs(y[i] - place / 7) < 1e-7, first << ", " << i);
            }
        }
}
BOOST_AUTO_TEST_CASE(nothing_is_learned_from_no_rows) {
    check_error<data_error>([] { (void)scaling::fit(std::vector<float>{}, 3); }, "nothing to learn from", "scaling");
    check_error<data_error>([] { (void)scaling::fit(data::dataset(extents(2), std::vector<float>{})); },
                            "nothing to learn from", "scaling");
}
