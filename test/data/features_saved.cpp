// SPDX-License-Identifier: BSL-1.0
// shows data: features: a fit counts whole or not at all; large numbers keep their digits
// needs: zlib
#define BOOST_TEST_MODULE data_features_saved
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/features/save.hpp>
#include <sinter/data/features/stream.hpp>
#include <sinter/data/scaling/save.hpp>
#include <span>

// Files of features: older ones, broken ones, and what was not learned.
using namespace sinter;
namespace csv = data::csv;

// Files of before, whose boundaries were floats and compared with numbers rounded to floats: each falls where it fell.
BOOST_AUTO_TEST_CASE(older_files_sort_as_they_did) {
    // the last two: floats 128 apart
    const std::string text = "sinter features,1\nindex,quantiles,x,5,1,3,0.1,1700000000,1700000100\n";
    io::memory_source in(std::as_bytes(std::span(text)), "f");
    const data::features f = data::feature_file::parse(in);
    const float boundaries[] = {0.1f, 1700000000.f, 1700000100.f};
    for (const double x : {0.0999999, 0.0999999999, 0.1, 0.10000000149, 0.11, 1699999935.9, 1699999936., 1699999936.1,
                           1700000000., 1700000063.9, 1700000064., 1700000064.1, 1700000100.}) {
        int wanted = 0;
        for (const float b : boundaries) wanted += static_cast<float>(x) >= b;
        char digits[40];
        std::snprintf(digits, sizeof digits, "%.17g", x);
        const csv::table t = csv::parse("x\n" + std::string(digits) + "\n", "t");
        const data::dataset s = f.apply(t);
        BOOST_TEST(*static_cast<const std::int32_t*>(s.row(0, 0)) == wanted, digits);
    }
}
/// Words were once allowed to stand there twice: nets were trained with these numbers.
BOOST_AUTO_TEST_CASE(older_files_with_a_word_twice) {
    const std::string text = "sinter features,2\nindex,vocabulary,x,4,0,3,a,a,b\nlabel,vocabulary,x,4,0,3,a,a,b\n";
    io::memory_source in(std::as_bytes(std::span(text)), "f");
    const data::features f = data::feature_file::parse(in);
    const data::dataset s = f.apply(csv::parse("x\na\nb\n", "t"));
    for (const int i : {0, 1}) {
        BOOST_TEST(*static_cast<const std::int32_t*>(s.row(0, i)) == 1 + i);
        BOOST_TEST(s.labels()[static_cast<std::size_t>(i)] == i);
    }
    BOOST_TEST(data::feature_file::text(f) == text);
}
BOOST_AUTO_TEST_CASE(boundaries_of_any_size_are_saved) {
    const std::string first = "sinter features,1\nindex,bucketized,x,4,0,2,-3.4028234e38,3.4028234e38\n";
    io::memory_source in(std::as_bytes(std::span(first)), "f");
    for (const data::features& f :
         {data::feature_file::parse(in), data::features{}.index(data::bucketized("x", {-1e300, 1e-300}))}) {
        const std::string text = data::feature_file::text(f);
        io::memory_source written(std::as_bytes(std::span(text)), "written");
        BOOST_TEST(data::feature_file::text(data::feature_file::parse(written)) == text);
    }
}
BOOST_AUTO_TEST_CASE(files_of_features_are_checked) {
    const auto refuses = [](const std::string& lines, const char* fault, const char* where) {
        const std::string text = "sinter features,1\n" + lines;
        io::memory_source in(std::as_bytes(std::span(text)), "f");
        check_error<format_error>([&] { data::feature_file::parse(in); }, fault, where);
    };
    refuses("numer,age\n", "unknown feature", "f:2");
    refuses("number,age,0,1,0,3\n", "too short", "f:2");
    refuses("number,age,0,2,0,3,1\n", "cannot be used", "f:2:14");
    refuses("number,age,0,1,0,nan,1\n", "cannot be used", "f:2:18");
    refuses("number,age,0,1,0,,1\n", "cannot be used", "f:2:18");
    refuses("number,age,0,0,0,nan,1\n", "cannot be used", "f:2:18");
    refuses("number,age,0,0,0\n", "too short", "f:2");
    refuses("number,age,0,1,0,3,0\n", "deviation of zero", "f:2:20");
    refuses("number,age,0,1,0,3,1,9\n", "more than was expected", "f:2:22");
    refuses("index,hashed,x,0,0,0\n", "cannot be used", "f:2:16");
    refuses("index,hashed,x,99999999,0,0\n", "cannot be used", "f:2:16");
    refuses("index,hashed,x,1.5,0,0\n", "not whole", "f:2:16");
    refuses("index,other,x,5,0,0\n", "unknown categories", "f:2:7");
    refuses("index,bucketized,x,4,0,2,1,1\n", "must ascend", "f:2:28");
    refuses("index,bucketized,x,3,0,2,1,2\n", "does not fit", "f:2:24");
    refuses("index,vocabulary,x,2,0,2,a,b\n", "does not fit", "f:2");
    refuses("index,vocabulary,x,9,0,3,a,b\n", "does not fit", "f:2");
    refuses("index,crossed,,9,0,2\nindex,hashed,x,5,0,0\n", "a part is missing", "f:3:1");
    refuses("index,crossed,,9,0,2\npart,crossed,,9,0,2\n", "unknown categories", "f:3");
    refuses("label,hashed,x,5,0,0\n", "without classes", "f:2");
    refuses("target,age,0,1,0,3,1\nlabel,vocabulary,x,2,0,1,a\n", "a label and a target", "f:3");
    const std::string other = "age,job\n";
    io::memory_source in(std::as_bytes(std::span(other)), "f");
    check_error<format_error>([&] { data::feature_file::parse(in); }, "not a file of features", "f:1");
}
/// A number that is not standardised needs a mean for missing values alone. Where none was learned there is none, in
/// a file, too.
BOOST_AUTO_TEST_CASE(a_missing_number_without_a_mean) {
    const auto train = csv::parse("area,rooms\n100,2\n200,4\n", "train.csv"),
               gaps = csv::parse("area,rooms\n150,5\n100,?\n", "gaps.csv");
    const auto check = [&](const data::features& f, std::size_t column) {
        BOOST_TEST(f.apply(train).x()[column] == 2.f);
        check_error<option_error>([&] { (void)f.apply(gaps); }, "a number is missing, and no mean was learned",
                                  "gaps.csv:3:5, column 'rooms'", "'?'", "fit()");
    };
    const auto again = [](const data::features& f) {
        const std::string text = data::feature_file::text(f);
        io::memory_source in(std::as_bytes(std::span(text)), "f");
        const data::features read = data::feature_file::parse(in);
        BOOST_TEST(data::feature_file::text(read) == text);
        return read;
    };
    data::features alone, later;
    alone.number("rooms", {.standardise = false, .tell_missing = true});
    later.number("area").fit(train);
    later.number("rooms", {.standardise = false});
    for (const data::features& f : {alone, again(alone)}) check(f, 0);
    for (const data::features& f : {later, again(later)}) check(f, 1);
    later.fit(train);
    for (const data::features& f : {later, again(later)}) BOOST_TEST(f.apply(gaps).x()[3] == 3.f);

    const temporary_folder folder;
    const std::string path = write_bytes(folder / "gaps.csv", "rooms\n5\n\"\"\n");
    auto p = data::csv_examples(path, alone) | data::batch(2);
    check_error<option_error>([&] { p.next(); }, "a number is missing", "gaps.csv:3:1");
    data::features target;
    target.number("area", {.standardise = false}).target("rooms", {.standardise = false});
    BOOST_TEST(again(target).apply(train).targets()[1] == 4.f);
}
/// A file that was cut anywhere is refused, whatever is left of it.
BOOST_AUTO_TEST_CASE(files_that_were_cut) {
    const temporary_folder folder;
    const std::string path = folder / "cut";
    const auto bytes_of = [&] {
        std::string all;
        io::input_file in(path);
        all.resize(in.size());
        in.read_up_to(std::as_writable_bytes(std::span(all)));
        return all;
    };
    const auto refused_wherever = [&](auto load) {
        const std::string all = bytes_of();
        load(path);
        for (std::size_t n = 0; n <= all.size(); ++n) {
            const std::string part = n < all.size() ? all.substr(0, n) : all + "\nnumber,b,0,0,0,,1\n";
            io::atomic_write(path, [&](io::output_file& file) { file.write(part); });
            BOOST_CHECK_THROW(load(path), format_error);
        }
        io::atomic_write(path, [&](io::output_file& file) { file.write(all + "\n"); });   // of an editor's
        load(path);
    };
    data::features f;
    f.number("age").index(data::vocabulary("a", {"x", "y\nz"})).index(
        data::crossed(40, {data::hashed("b", 5), data::bucketized("c", {0.25, 1.5})}));
    f.indicator(data::bucketized("c", {1, 2})).target("t", {.standardise = false});
    data::csv::table t = csv::parse("age,a,b,c,t\n1,x,q,1,2\n5,x,r,2,2\n", "t");
    f.fit(t);
    save(f, path);
    refused_wherever([](const std::string& p) { data::load_features(p); });
    data::scaling s = data::scaling::fit(data::dataset(extents(3), {1, 2, 3, 4, 6, 9}));
    save(s, path);
    refused_wherever([](const std::string& p) { data::load_scaling(p); });
}
