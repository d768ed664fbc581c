// SPDX-License-Identifier: BSL-1.0
// shows data: features: a fit counts whole or not at all; large numbers keep their digits
// needs: zlib
#define BOOST_TEST_MODULE data_features
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/features/save.hpp>
#include <sinter/data/features/stream.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <sinter/io/file.hpp>
#include <cmath>
#include <span>

using namespace sinter;
namespace csv = data::csv;

static const std::string people =
    "age,job,hours,income,pay\n"
    "20,cook,10,low,100\n"
    "30,smith,20,low,200\n"
    "40,cook,,high,300\n"
    "?,,40,low,400\n"
    "70,baker,30,high,500\n";
static csv::table train() { return csv::parse(people, "people.csv"); }
static std::vector<float> column(const data::dataset& s, int width, int c) {
    std::vector<float> x;
    for (std::int64_t i = 0; i < s.size(); ++i) x.push_back(s.x()[static_cast<std::size_t>(i * width + c)]);
    return x;
}
static std::vector<std::int32_t> indices_of(const data::categories& c, const csv::table& fitted_on,
                                            const csv::table& applied_to) {
    data::features f;
    f.index(c).fit(fitted_on);
    const data::dataset s = f.apply(applied_to);
    std::vector<std::int32_t> i;
    for (std::int64_t r = 0; r < s.size(); ++r) i.push_back(*static_cast<const std::int32_t*>(s.row(0, r)));
    return i;
}
using ints = std::vector<std::int32_t>;
static data::features everything();

BOOST_AUTO_TEST_CASE(numbers_are_standardised_by_the_training_data) {
    data::features f;
    f.number("age").number("age", {.standardise = false, .tell_missing = true}).number("pay", {.logarithm = true});
    BOOST_TEST(f.width() == 4);
    f.fit(train());
    const data::dataset s = f.apply(train());
    // mean 40, variance (400 + 100 + 0 + 900) / 4
    const std::vector<float> age = column(s, 4, 0), wanted{-20, -10, 0, 0, 30};
    for (std::size_t i = 0; i < 5; ++i) BOOST_TEST(std::abs(age[i] - wanted[i] / std::sqrt(350.)) < 1e-6);
    BOOST_TEST((column(s, 4, 1) == std::vector<float>{20, 30, 40, 40, 70}));   // the mean where it is missing
    BOOST_TEST((column(s, 4, 2) == std::vector<float>{0, 0, 0, 1, 0}));
    double mean = 0, square = 0;
    for (const double p : {100., 200., 300., 400., 500.}) mean += std::log(1 + p) / 5;
    for (const double p : {100., 200., 300., 400., 500.}) square += std::pow(std::log(1 + p) - mean, 2) / 5;
    BOOST_TEST(std::abs(column(s, 4, 3)[1] - (std::log(201.) - mean) / std::sqrt(square)) < 1e-6);

    const data::dataset other = f.apply(csv::parse("pay,hours,age\n-200,,50\n0,1,\n", "test.csv"));
    BOOST_TEST(std::abs(column(other, 4, 0)[0] - 10 / std::sqrt(350.)) < 1e-6);
    BOOST_TEST(column(other, 4, 0)[1] == 0);
    BOOST_TEST(std::abs(column(other, 4, 3)[0] - (-std::log(201.) - mean) / std::sqrt(square)) < 1e-6);
}
BOOST_AUTO_TEST_CASE(a_number_that_never_changes) {
    data::features f;
    f.number("x").number("y");
    const csv::table t = csv::parse("x,y\n7,\n7,\n", "t");
    f.fit(t);
    const data::dataset s = f.apply(t);
    BOOST_TEST(s.x().size() == 4u);
    for (const float v : s.x()) BOOST_TEST(v == 0);
}
// Times in seconds, ten apart: as floats, of which there is one every 128 there, nearly all of them would be equal.
static csv::table times() {
    std::string text = "time,price\n";
    for (int i = 0; i < 8; ++i)
        text += std::to_string(1700000000 + 10 * i) + "," + std::to_string(90000000 + i) + ".25\n";
    return csv::parse(text, "times.csv");
}
BOOST_AUTO_TEST_CASE(digits_of_large_numbers_are_kept) {
    data::features f;
    f.number("time").number("time", {.logarithm = true}).target("price");
    f.index(data::quantiles("time", 4)).index(data::bucketized("time", {1700000030, 1700000031, 1700000060.5}));
    f.fit(times());
    const data::dataset s = f.apply(times());
    const int bucket[] = {0, 0, 0, 1, 2, 2, 2, 3};
    for (int i = 0; i < 8; ++i) {
        const double wanted = (i - 3.5) / std::sqrt(5.25);   // the variance of 0 to 7
        const auto row = static_cast<std::size_t>(i);
        BOOST_TEST(std::abs(s.x()[2 * row] - wanted) < 1e-6);
        BOOST_TEST(std::abs(s.x()[2 * row + 1] - wanted) < 1e-4);   // log(1.7e9 + x) has eight digits of x left
        BOOST_TEST(std::abs(s.targets()[row] - wanted) < 1e-6);
        BOOST_TEST(std::abs(f.target().original(f.target().scaled(90000000.25 + i)) - (90000000.25 + i)) < 1e-6);
        BOOST_TEST(*static_cast<const std::int32_t*>(s.row(1, i)) == i / 2);
        BOOST_TEST(*static_cast<const std::int32_t*>(s.row(2, i)) == bucket[i]);
    }
    BOOST_TEST(std::abs(f.target().mean - 90000003.75) < 1e-6);
    BOOST_TEST(std::abs(f.target().deviation - std::sqrt(5.25)) < 1e-9);

    const std::string text = data::feature_file::text(f);   // and no digit is lost in a file
    io::memory_source in(std::as_bytes(std::span(text)), "f");
    const data::features again = data::feature_file::parse(in);
    BOOST_TEST(again.target().mean == f.target().mean);
    const data::dataset t = again.apply(times());
    for (std::int64_t i = 0; i < 8; ++i) {
        BOOST_TEST(std::memcmp(s.row(0, i), t.row(0, i), s.columns()[0].bytes()) == 0);
        BOOST_TEST(std::memcmp(s.row(1, i), t.row(1, i), 4) == 0);
        BOOST_TEST(std::memcmp(s.row(2, i), t.row(2, i), 4) == 0);
    }
}
BOOST_AUTO_TEST_CASE(rows_to_predict_on_need_no_target) {
    data::features f = everything();
    f.fit(train());
    const csv::table unlabelled = csv::parse("age,job,hours,pay\n20,cook,10,100\n", "new.csv");
    const data::dataset s = f.inputs_only().apply(unlabelled), all = f.apply(train());
    BOOST_TEST(s.columns().size() == all.columns().size() - 1);
    BOOST_TEST(s.labels().empty());
    for (std::size_t c = 0; c < s.columns().size(); ++c)
        BOOST_TEST(std::memcmp(s.row(c, 0), all.row(c, 0), s.columns()[c].bytes()) == 0);
    BOOST_CHECK_THROW((void)f.apply(unlabelled), data_error);

    data::features t;
    t.number("age").target("pay").fit(train());
    BOOST_TEST(t.inputs_only().apply(unlabelled).targets().empty());
    BOOST_TEST(t.inputs_only().apply(unlabelled).x()[0] == t.apply(train()).x()[0]);
    const temporary_folder folder;
    const std::string path = write_bytes(folder / "new.csv", "age\n20\n");
    auto p = data::csv_examples(path, t.inputs_only()) | data::batch(2);
    const data::batch_view* const b = p.next();
    BOOST_TEST(b->size == 1);
    BOOST_TEST(b->x[0] == t.apply(train()).x()[0]);
    BOOST_TEST(b->y == nullptr);
}
BOOST_AUTO_TEST_CASE(own_words_for_missing_values) {
    const std::string text = "a,b\n1,-1\n-1,2\nnone,3\n - ,4\n,NA\n";
    const csv::options words{.missing = {"none", "-"}, .missing_in = {{"b", {"NA"}}, {"a", {"-1"}}}};
    const auto values = [](const csv::table& t, const char* name) {
        std::string s;
        for (const double x : t.numbers(name)) s += x == x ? std::to_string(static_cast<int>(x)) + " " : "? ";
        return s;
    };
    const csv::table t = csv::parse(text, "t", words);
    BOOST_TEST(values(t, "a") == "1 ? ? ? ? ");
    BOOST_TEST(values(t, "b") == "-1 2 3 4 ? ");
    data::features f;
    f.number("a", {.tell_missing = true}).index(data::bucketized("a", {0})).fit(t);
    const data::dataset s = f.apply(t);
    BOOST_TEST((column(s, 2, 1) == std::vector<float>{0, 1, 1, 1, 1}));
    BOOST_TEST(*static_cast<const std::int32_t*>(s.row(1, 1)) == 2);
    check_error<format_error>([&] { (void)csv::parse(text, "t").numbers("a"); }, "not a number", "t:4:1, column 'a'",
                              "'none'");
    check_error<format_error>([&] { (void)csv::parse(text, "t", {.missing = {}}).numbers("b"); }, "not a number",
                              "t:6:2, column 'b'", "'NA'");
    check_error<data_error>([&] { (void)csv::parse(text, "t", {.missing_in = {{"c", {"x"}}}}); }, "no such column",
                            "t", "'c'");
    const csv::table headless =
        csv::parse("7;x\n", "t", {.delimiter = ';', .header = false, .missing_in = {{"1", {"x"}}}});
    BOOST_TEST(values(headless, "1") == "? ");
}
BOOST_AUTO_TEST_CASE(buckets) {
    const csv::table t = csv::parse("x\n-1e9\n9.99\n10\n19\n20\n1e9\n\n\"\"\n", "t");
    BOOST_TEST((indices_of(data::bucketized("x", {10, 20}), t, t) == ints{0, 0, 1, 1, 2, 2, 3}));
    BOOST_TEST((indices_of(data::bucketized("x", {}), t, t) == ints{0, 0, 0, 0, 0, 0, 1}));
    for (const std::vector<double>& bad : {std::vector<double>{2, 1}, {1, 1}, {NAN}, {1, INFINITY}})
        BOOST_CHECK_THROW(data::bucketized("x", bad), option_error);
}
BOOST_AUTO_TEST_CASE(quantiles_hold_equally_many) {
    std::string text = "x\n", repeated = "x\n";
    for (int i = 0; i < 1000; ++i) {
        text += std::to_string(i * 7919 % 1000) + "\n";
        repeated += i < 900 ? "0\n" : std::to_string(i) + "\n";
    }
    const csv::table t = csv::parse(text, "t"), r = csv::parse(repeated, "r");
    int times[6] = {};
    for (const std::int32_t i : indices_of(data::quantiles("x", 5), t, t)) ++times[i];
    for (int i = 0; i < 5; ++i) BOOST_TEST(times[i] == 200);
    BOOST_TEST(times[5] == 0);
    BOOST_TEST((indices_of(data::quantiles("x", 5), t, csv::parse("x\n-5\n199\n200\n5000\nNA\n", "u")) ==
                ints{0, 0, 1, 4, 5}));
    for (const std::int32_t i : indices_of(data::quantiles("x", 5), r, r)) BOOST_TEST((i == 0 || i == 1));
}
BOOST_AUTO_TEST_CASE(vocabularies) {
    const csv::table test = csv::parse("job\n  cook \nsmith\nking\n\"\"\n", "t");
    BOOST_TEST((indices_of(data::vocabulary("job", {"smith", "cook"}), train(), test) == ints{2, 1, 0, 0}));
    BOOST_TEST((indices_of(data::vocabulary("job", {"smith", ""}), train(), test) == ints{0, 1, 0, 2}));
    // learned: cook twice; then "", baker, smith by the alphabet
    BOOST_TEST((indices_of(data::vocabulary("job", 5), train(), test) == ints{1, 4, 0, 2}));
    BOOST_TEST((indices_of(data::vocabulary("job", 2), train(), test) == ints{1, 0, 0, 0}));
    BOOST_TEST((indices_of(data::vocabulary("job", 9), train(), test) == ints{1, 4, 0, 2}));
    BOOST_CHECK_THROW(data::vocabulary("job", 0), option_error);
}
BOOST_AUTO_TEST_CASE(hashes) {
    std::string text = "x\n";
    for (int i = 0; i < 10'000; ++i) text += "word" + std::to_string(i) + "\n";
    const csv::table t = csv::parse(text, "t");
    int times[10] = {};
    const ints all = indices_of(data::hashed("x", 10), t, t);
    for (const std::int32_t i : all) ++times[i];
    for (const int n : times) BOOST_TEST(std::abs(n - 1000) < 150);   // five standard deviations
    BOOST_TEST((indices_of(data::hashed("x", 10), t, csv::parse("x\n word9999\n", "u"))[0] == all[9999]));
    // The hash must never change: files of weights hang on it.
    BOOST_TEST((indices_of(data::hashed("x", 1000), t, csv::parse("x\nHawaii\n\"\"\n", "u")) == ints{249, 911}));
}
BOOST_AUTO_TEST_CASE(crossings) {
    // three each
    const data::categories job = data::vocabulary("job", {"cook", "smith"}), age = data::bucketized("age", {35});
    const ints exact = indices_of(data::crossed(9, {job, age}), train(), train());
    BOOST_TEST((exact == ints{3, 6, 4, 2, 1}));   // 3 * job + age
    const ints few = indices_of(data::crossed(4, {job, age}), train(), train());
    for (const std::int32_t i : few) BOOST_TEST((i >= 0 && i < 4));
    // parts learn
    const ints learned = indices_of(data::crossed(100, {data::vocabulary("job", 5), age}), train(), train());
    BOOST_TEST((learned == ints{3, 12, 4, 8, 10}));
    BOOST_CHECK_THROW(data::crossed(9, {job}), option_error);
    BOOST_CHECK_THROW(data::crossed(9, {job, data::crossed(9, {job, age})}), option_error);
    BOOST_CHECK_THROW(data::crossed(0, {job, age}), option_error);
}
static data::features everything() {
    data::features f;
    f.indicator(data::vocabulary("job", 3)).number("age").index(data::quantiles("pay", 4));
    f.indicator(data::bucketized("hours", {15.5f, 25}));
    f.index(data::crossed(50, {data::vocabulary("job", {"co,ok", "a \"smith\""}), data::hashed("hours", 7)}));
    f.number("pay", {.logarithm = true, .tell_missing = true}).label("income", {"low", "high"});
    return f;
}
static bool same(const data::dataset& a, const data::dataset& b) {
    bool equal = a.size() == b.size() && a.columns().size() == b.columns().size();
    for (std::size_t c = 0; equal && c < a.columns().size(); ++c)
        for (std::int64_t i = 0; equal && i < a.size(); ++i)
            equal = a.columns()[c].bytes() == b.columns()[c].bytes() &&
                    std::memcmp(a.row(c, i), b.row(c, i), a.columns()[c].bytes()) == 0;
    return equal;
}
BOOST_AUTO_TEST_CASE(what_comes_where) {
    data::features f = everything();
    BOOST_TEST(f.width() == 3 + 1 + 4 + 2);
    BOOST_TEST(f.indices() == 2);
    f.fit(train());
    const data::dataset s = f.apply(train());
    BOOST_TEST(s.columns().size() == 4u);
    BOOST_TEST(s.columns()[0].width() == 10);
    BOOST_TEST((s.columns()[1].row.type == dtype::i32));
    const float* const second = static_cast<const float*>(s.row(0, 1));   // smith, 30, 20 hours
    const float first_two[] = {1, 0, 0};
    BOOST_TEST(std::equal(first_two, first_two + 3, second));   // the vocabulary is cook and the empty word
    const float hours[] = {0, 1, 0, 0};
    BOOST_TEST(std::equal(hours, hours + 4, second + 4));
    BOOST_TEST((std::vector<std::int32_t>(s.labels().begin(), s.labels().end()) == ints{0, 0, 1, 0, 1}));
    BOOST_CHECK_THROW(f.target("pay"), option_error);
}
BOOST_AUTO_TEST_CASE(targets) {
    data::features f;
    f.number("age").target("pay", {.logarithm = true}).fit(train());
    const data::dataset s = f.apply(train());
    double mean = 0;
    for (const float y : s.targets()) mean += static_cast<double>(y) / 5;
    BOOST_TEST(std::abs(mean) < 1e-6);
    for (std::size_t i = 0; i < 5; ++i) {
        const double pay = f.target().original(s.targets())[i];
        BOOST_TEST(pay == f.target().original(static_cast<double>(s.targets()[i])));
        BOOST_TEST(std::abs(pay - 100. * static_cast<double>(i + 1)) < 1e-3);
    }
}
BOOST_AUTO_TEST_CASE(saved_and_loaded) {
    const temporary_folder folder;
    data::features f = everything();
    f.fit(train());
    data::save(f, folder / "f.csv");
    const data::features again = data::load_features(folder / "f.csv");
    BOOST_TEST(data::feature_file::text(again) == data::feature_file::text(f));
    BOOST_TEST(again.width() == f.width());
    const csv::table test =
        csv::parse("pay,income,hours,age,job\n250,low,16,33,smith\n,high,,,cook\n1e5,low,-7,1,\"co,ok\"\n",
                   "test.csv");
    BOOST_TEST(same(again.apply(test), f.apply(test)));

    data::features t;
    t.number("age").target("pay", {.standardise = false}).fit(train());
    data::save(t, folder / "t.csv");
    const data::features told = data::load_features(folder / "t.csv");
    BOOST_TEST(data::feature_file::text(told) == data::feature_file::text(t));
    check_error<format_error>([&] { (void)told.apply(test); }, "the target is missing",
                              "test.csv:3:1, column 'pay'", "''");
}
BOOST_AUTO_TEST_CASE(straight_from_a_file) {
    const temporary_folder folder;
    const std::string path = write_bytes(folder / "people.csv", people);
    data::features f = everything();
    f.fit(train());
    {   // fitting from the file is fitting from memory
        data::features g = everything();
        io::input_file file(path);
        csv::reader reader(file);
        g.fit(reader);
        BOOST_TEST(data::feature_file::text(g) == data::feature_file::text(f));
    }
    const data::dataset wanted = f.apply(train());
    auto p = data::csv_examples(path, f) | data::batch(2);
    BOOST_TEST(p.size() == data::unknown_size);
    for (int pass = 0; pass < 2; ++pass) {
        std::int64_t row = 0;
        for (const data::batch_view& b : p)
            for (int i = 0; i < b.size; ++i, ++row) {
                BOOST_TEST(std::memcmp(b.x + i * f.width(), wanted.row(0, row), wanted.columns()[0].bytes()) == 0);
                for (const std::size_t k : {1u, 2u})
                    BOOST_TEST(b.inputs[k].indices[i] == *static_cast<const std::int32_t*>(wanted.row(k, row)));
                BOOST_TEST(b.labels[i] == wanted.labels()[static_cast<std::size_t>(row)]);
            }
        BOOST_TEST(row == 5);
        BOOST_TEST(p.size() == 5);
    }
    p.rewind();
    p.next();
    const data::position at = p.position();
    p.next();
    const std::int32_t label = p.next()->labels[0];   // of the fifth
    p.seek(at);
    p.next();
    BOOST_TEST(p.next()->labels[0] == label);

    const std::string no_header = write_bytes(folder / "h.csv", "7;x\n8;y\n");
    auto headless = data::csv_examples(no_header, data::features{}.number("0", {.standardise = false}),
                                       {.delimiter = ';', .header = false}) | data::shuffle(10, 1) | data::batch(5);
    const data::batch_view* const b = headless.next();
    BOOST_TEST(b->size == 2);
    BOOST_TEST(b->x[0] + b->x[1] == 15);
    BOOST_CHECK_THROW(data::csv_examples(folder / "absent", f), io_error);
    BOOST_CHECK_THROW(data::csv_examples(path, data::features{}), option_error);
    BOOST_CHECK_THROW(data::csv_examples(path, data::features{}.number("size")), data_error);
}
BOOST_AUTO_TEST_CASE(faults_say_where) {
    data::features f = everything();
    f.fit(train());
    const std::string head = "age,job,hours,income,pay\n";
    check_error<format_error>([&] { (void)f.apply(csv::parse(head + "1,x,2,medium,3\n", "t.csv")); }, "not a class",
                              "t.csv:2:7, column 'income'", "'medium'", "'low, high'");
    check_error<format_error>([&] { (void)f.apply(csv::parse(head + "1,x,2,low,3\nold,x,2,low,3\n", "t.csv")); },
                              "not a number", "t.csv:3:1, column 'age'", "'old'");
    check_error<data_error>([&] { (void)f.apply(csv::parse("age,job\n1,x\n", "t.csv")); }, "no such column", "t.csv",
                            "'pay'", "age, job");
    const csv::table old = csv::parse(head + "old,x,2,low,3\n", "t.csv");
    check_error<format_error>([&] { everything().fit(old); }, "not a number", "t.csv:2:1");
}
/// What has yet to be learned is not applied: numbers would go on as they are. What needs nothing learned is.
BOOST_AUTO_TEST_CASE(nothing_is_applied_before_it_is_learned) {
    const auto train = data::csv::parse("area,kind,price\n100,a,1000\n200,b,2000\n300,a,3100\n", "train.csv");
    const auto refused = [&](data::features f) {
        check_error<option_error>([&] { f.apply(train); }, "have not learned", "apply", "no fit()", "fit()");
        f.fit(train);
        f.apply(train);
        f.inputs_only().apply(train);
    };
    refused(data::features().number("area"));
    refused(data::features().number("area", {.standardise = false}).target("price"));
    refused(data::features().number("area", {.standardise = false}).indicator(data::vocabulary("kind", 3)));
    refused(data::features().index(data::quantiles("area", 2)));
    data::features f;
    f.number("area", {.standardise = false}).indicator(data::vocabulary("kind", {"a", "b"}))
        .index(data::bucketized("price", {1500}));
    BOOST_TEST(f.apply(train).x()[0] == 100.f);
}
/// Nor is what was added behind fit(), and it is not saved as if it were learned.
BOOST_AUTO_TEST_CASE(what_is_added_later_is_learned_anew) {
    const auto table = csv::parse("area,kind\n100,a\n300,b\n", "t.csv");
    const auto check = [&](auto add) {
        data::features f;
        f.number("area").fit(table);
        add(f);
        check_error<option_error>([&] { f.apply(table); }, "have not learned", "apply");
        check_error<option_error>([&] { (void)data::feature_file::text(f); }, "have not learned", "save");
        f.fit(table);
        BOOST_TEST(f.apply(table).x()[0] == -1.f);
    };
    check([](data::features& f) { f.number("area"); });
    check([](data::features& f) { f.index(data::vocabulary("kind", 3)); });
    check([](data::features& f) {
        f.indicator(data::crossed(9, {data::vocabulary("kind", 3), data::hashed("area", 2)}));
    });
    check([](data::features& f) { f.target("area"); });
    data::features f;
    f.number("area").fit(table);
    f.index(data::bucketized("area", {150}));   // which learns nothing
    BOOST_TEST(f.apply(table).x()[1] == 1.f);
}
/// A fit that fails leaves all as it was, and the next one does not count what it had seen.
BOOST_AUTO_TEST_CASE(a_fit_that_fails) {
    data::features f;
    f.number("x").index(data::vocabulary("w", 2)).index(data::quantiles("x", 2)).target("x");
    const auto good = csv::parse("x,w\n1,b\n3,b\n", "good.csv");
    for (int time = 0; time < 2; ++time) {
        check_error<format_error>([&] { f.fit(csv::parse("x,w\n1000,a\n1000,a\n1000,a\nold,a\n", "bad.csv")); },
                                  "not a number", "bad.csv:5:1");
        if (time == 0) check_error<option_error>([&] { f.apply(good); }, "have not learned", "apply");
        else BOOST_TEST(f.apply(good).x()[0] == -1.f);
        f.fit(good);
        BOOST_TEST(f.items()[0].value.mean == 2);
        BOOST_TEST(f.items()[1].classes.words[0] == "b");
        BOOST_TEST(f.items()[2].classes.boundaries[0] == 3);
        BOOST_TEST(f.target().mean == 2);
    }
    check_error<data_error>([&] { f.fit(csv::parse("x,w\n", "none.csv")); }, "nothing to learn from", "none.csv");
    BOOST_TEST(f.apply(good).x()[0] == -1.f);
    const std::string text = "x,w\n";
    io::memory_source none(std::as_bytes(std::span(text)), "none.csv");
    csv::reader records(none);
    check_error<data_error>([&] { f.fit(records); }, "nothing to learn from", "none.csv");
}
/// Words are told apart as the texts of a column are, without spaces around them; none stands there twice,
/// for then the numbers of all behind it would be others.
BOOST_AUTO_TEST_CASE(words_that_are_none) {
    const auto t = csv::parse("c\n x\ny \n", "t");
    data::features f;
    f.label("c", {" x", "y\t"}).fit(t);
    BOOST_TEST((f.apply(t).labels()[0] == 0 && f.apply(t).labels()[1] == 1));
    check_error<option_error>([] { (void)data::vocabulary("c", {"a", "b", " a"}); }, "two words are the same",
                              "vocabulary, 'c'", "'a' at 0 and 2");
    BOOST_CHECK_THROW(data::features().label("c", {"x", "x"}), option_error);
    check_error<option_error>([] { data::features().label("c", {}); }, "a label without classes", "features, 'c'");
}
/// Records of any length, where they are allowed: none is read beyond its end.
BOOST_AUTO_TEST_CASE(records_that_are_too_short) {
    const csv::options any{.ragged = true};
    const std::string text = "a,b\n1,2\n3\n";
    check_error<format_error>([&] { (void)csv::parse(text, "t", any); }, "another number of fields", "t:3:1", "1", "2");
    const auto refused = [&](data::features f) {
        io::memory_source in(std::as_bytes(std::span(text)), "t");
        csv::reader records(in, any);
        check_error<format_error>([&] { f.fit(records); }, "too few fields", "t:3:1", "1", "2 or more");
    };
    refused(data::features().number("b"));
    refused(data::features().index(data::vocabulary("b", 3)));
    refused(data::features().index(data::quantiles("b", 3)));
    refused(data::features().target("b"));
    const temporary_folder folder;
    const std::string path = write_bytes(folder / "t.csv", text);
    const auto whole = csv::parse("a,b\n1,2\n3,4\n", "t");
    for (data::features f : {data::features().label("b", {"2"}), data::features().index(data::hashed("b", 3)),
                             data::features().index(data::bucketized("b", {1}))}) {
        f.fit(whole);
        auto p = data::csv_examples(path, f, any) | data::batch(2);
        check_error<format_error>([&] { p.next(); }, "too few fields", "t.csv:3:1");
    }
}
