// SPDX-License-Identifier: BSL-1.0
// needs: zlib
// The code of doc/data.md: each of its lines stands here as well (tools/documents.sh looks),
// compiled, and its results checked.
#define BOOST_TEST_MODULE data_guide
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/transform/augment.hpp>
#include <sinter/data/class_weights.hpp>
#include <sinter/data/features/save.hpp>
#include <sinter/data/features/stream.hpp>
#include <sinter/data/transform/k_fold.hpp>
#include <sinter/data/runtime/prefetch.hpp>
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/transform/repeat.hpp>
#include <sinter/data/scaling/save.hpp>
#include <sinter/data/source/csv/structs.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <sinter/data/source/text/characters.hpp>
#include <sinter/data/source/text/windows.hpp>
#include <cmath>

using namespace sinter;
using namespace sinter::base;

static const std::vector<float> numbers = [] {
    std::vector<float> x;
    for (int i = 0; i < 400; ++i) x.push_back(static_cast<float>(i % 37));
    return x;
}();
static const std::vector<std::int32_t> classes = [] {
    std::vector<std::int32_t> c;
    for (int i = 0; i < 100; ++i) c.push_back(i % 10 == 0);
    return c;
}();
/// A folder of its own, in which the program is meanwhile: the page's files have names without one.
struct within_folder {
    temporary_folder folder;
    std::filesystem::path before = std::filesystem::current_path();
    within_folder() { std::filesystem::current_path(folder / ""); }
    ~within_folder() { std::filesystem::current_path(before); }
};
static int seen = 0;
static void train(const data::batch_view& b) { seen += b.size; }
static void train_and_measure(const data::dataset& training, const data::dataset& held_out) {
    BOOST_TEST(training.size() + held_out.size() == 100);
}

BOOST_AUTO_TEST_CASE(sets_and_pipelines) {
    data::dataset set(extents(4), numbers);   // a hundred examples of four numbers
    set.labels(classes, 2);                       // int32, each checked to be 0 or 1

    auto batches = set | data::shuffle(100) | data::batch(32) | data::prefetch();
    for (int epoch = 0; epoch < 5; ++epoch)
        for (const data::batch_view& b : batches) train(b);   // 32, 32, 32 and 4 examples
    BOOST_TEST(seen == 500);

    const data::position at = batches.position();
    batches.next();
    batches.seek(at);   // the same batch comes again
    BOOST_TEST((batches.position() == at));
    BOOST_TEST(batches.next()->size == 32);
}
BOOST_AUTO_TEST_CASE(parts) {
    const data::dataset set = data::dataset(extents(4), numbers).labels(classes, 2);
    const std::vector<std::int64_t> patients(100, 7);
    const auto parts = data::split(set, {0.8, 0.1, 0.1}, {.seed = 1});
    const auto even = data::split(set, {0.8, 0.2}, {.seed = 1, .classes = set.labels()});
    const auto apart = data::split(set, {0.8, 0.2}, {.seed = 1, .groups = patients});
    BOOST_TEST(parts[0].size() == 80);
    BOOST_TEST(even[1].size() == 20);
    BOOST_TEST(apart[0].size() == 100);

    const data::k_fold folds(set, 5, {.classes = set.labels()});
    for (int i = 0; i < folds.size(); ++i) train_and_measure(folds.training(i), folds.held_out(i));

    std::vector<std::int64_t> rare;
    for (std::int64_t i = 0; i < set.size(); ++i)
        if (set.labels()[static_cast<std::size_t>(i)] == 1) rare.push_back(i);
    const data::dataset more = data::concat({set, data::gather(set, rare)});
    BOOST_TEST(more.size() == 110);

    const auto weights = data::balanced_class_weights(set.labels(), 2);   // {0.5556, 5}
    auto weighted_batches = data::class_weighted(set, weights) | data::batch(32);
    BOOST_TEST(weights[1] == 5.f);
    BOOST_TEST(weighted_batches.next()->weights[0] == 5.f);
}
BOOST_AUTO_TEST_CASE(scaled) {
    const within_folder here;
    const data::dataset training(extents(4), numbers), test = training;
    const data::scaling s = data::scaling::fit(training);                 // a mean and a deviation for each of the four
    const data::dataset a = s.apply(training), b = s.apply(test);     // both by the training data's
    data::save(s, "inputs.scaling");
    const data::scaling again = data::load_scaling("inputs.scaling");     // in another program, say
    auto as_they_come = training | data::map(again) | data::batch(32);    // the set itself stays as it is

    const std::vector<double> times{1700000000, 1700000010, 1700000020};
    const auto t = data::scaling::fit(times, 1, {.form = data::scaling_form::min_max});
    const std::vector<float> x = t.apply(times);                          // 0, 0.5, 1
    const std::vector<double> back = t.original(x);
    BOOST_TEST((x == std::vector<float>{0, 0.5f, 1}));
    BOOST_TEST((back == times));
    BOOST_TEST(as_they_come.next()->x[5] == a.x()[5]);
    BOOST_TEST(b.x()[5] == a.x()[5]);
}
BOOST_AUTO_TEST_CASE(augmented) {
    const data::dataset images = data::dataset().pixels(extents(8, 8, 1), std::vector<std::byte>(640, std::byte{255}));
    auto batches = images | data::shuffle(10'000) | data::random_flip() | data::random_crop(8, 8, 1, 2)
                 | data::map([](data::example& e, random_stream& random) {
                       for (float& v : e.x) v += 0.1f * random.normal();
                   })
                 | data::batch(64);
    const data::batch_view* b = batches.next();
    BOOST_TEST(b->size == 10);
    const std::vector<float> first(b->x, b->x + 640);
    batches.next();
    b = batches.next();
    BOOST_TEST((std::vector<float>(b->x, b->x + 640) != first));   // another pass, other numbers
    batches.rewind();
    b = batches.next();
    BOOST_TEST((std::vector<float>(b->x, b->x + 640) == first));
}

/// Waves of random frequency and phase, and the frequency to be told: `count` in a pass, other ones in each.
class waves final : public data::example_stage {
public:
    explicit waves(std::int64_t count) : count_(count), x_(64) {
        columns_.input(extents(64)).targets(extents(1));
    }
    const data::column_list& columns() const override { return columns_; }
    std::int64_t size() const override { return count_; }
    void describe(description& d) const override { d.stage("waves")("count", count_); }
    void begin(std::int64_t pass) override { pass_ = pass, at_ = 0; }
    bool next(const void** rows) override {
        if (at_ == count_) return false;
        random_stream random(base::stream(2024, static_cast<std::uint64_t>(at_++)), static_cast<std::uint64_t>(pass_));
        frequency_ = random.uniform(1, 8);
        const float phase = random.uniform(0, 6.2832f);
        for (std::size_t i = 0; i < x_.size(); ++i)
            x_[i] = std::sin(frequency_ * static_cast<float>(i) / 10 + phase);
        rows[0] = x_.data();       // one address a column, good until the next call
        rows[1] = &frequency_;
        return true;
    }
    void skip(std::int64_t n) override { at_ = n < count_ - at_ ? at_ + n : count_; }   // nothing need be made for it

private:
    std::int64_t count_, pass_ = 0, at_ = 0;
    data::column_list columns_;
    std::vector<float> x_;
    float frequency_ = 0;
};

BOOST_AUTO_TEST_CASE(a_source_of_ones_own) {
    auto batches = data::examples(new waves(10'000)) | data::shuffle(1000) | data::batch(64);
    std::int64_t n = 0;
    for (const data::batch_view& b : batches) n += b.size;
    BOOST_TEST(n == 10'000);
    const data::position at = batches.position();
    const data::batch_view* b = batches.next();
    const std::vector<float> x(b->x, b->x + 64 * 64), y(b->y, b->y + 64);
    BOOST_TEST(y[0] >= 1.f);
    batches.seek(at);
    b = batches.next();
    BOOST_TEST((std::vector<float>(b->x, b->x + 64 * 64) == x));
    batches.seek({1, 64 * 5});
    const data::batch_view* const later = batches.next();
    BOOST_TEST(later->size == 64);
}
/// Counts, with a class number for each.
class counts final : public data::example_stage {
public:
    explicit counts(data::column_list columns) : columns_(columns) {}
    /// Nothing stays of it that somebody could still read.
    static void operator delete(void* p, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) static_cast<volatile char*>(p)[i] = 0;
        ::operator delete(p);
        ++gone;
    }
    static inline int gone = 0;
    const data::column_list& columns() const override { return columns_; }
    std::int64_t size() const override { return 4; }
    void begin(std::int64_t) override { at_ = 0; }
    bool next(const void** rows) override {
        x_ = static_cast<float>(at_), label_ = at_ % 2;
        rows[0] = &x_, rows[1] = &label_;
        return at_++ < 4;
    }

private:
    data::column_list columns_;
    float x_ = 0;
    std::int32_t at_ = 0, label_ = 0;
};
BOOST_AUTO_TEST_CASE(a_source_with_labels) {
    auto batches = data::examples(new counts(data::column_list().input(extents(1)).labels())) | data::batch(4);
    const data::batch_view* const b = batches.next();
    BOOST_REQUIRE(b->labels);
    for (int i = 0; i < 4; ++i) BOOST_TEST(b->labels[i] == i % 2);
    data::column_list floats;   // labels by hand, of the type that extents have
    floats[floats.count++] = {data::role::input, extents(1)};
    floats[floats.count++] = {data::role::label, extents(1)};
    counts::gone = 0;
    check_error<option_error>([&] { data::examples(new counts(floats)); }, "labels must be int32",
                              "columns of a source");
    BOOST_TEST(counts::gone == 1);
    data::column_list many;
    for (int i = 0; i < 16; ++i) many.weights();
    check_error<option_error>([&] { many.weights(); }, "too many columns", "column_list");
}
BOOST_AUTO_TEST_CASE(tables) {
    const within_folder here;
    const std::string head = "age,capital_gain,occupation,native_country", rows = "39,2174,Sales,Cuba",
        row = "\n52,-,Sales,?";
    for (const char* name : {"train.csv", "test.csv"})
        write_bytes(name, head + ",income\n" + rows + ",<=50K" + row + ",>50K\n");
    write_bytes("new.csv", head + "\n" + rows + "\n");

    data::features people;
    people.number("age")                                              // standardised
        .number("capital_gain", {.logarithm = true})                  // sign(x) log(1 + |x|), then standardised
        .indicator(data::vocabulary("occupation", 15))                // 15 numbers, one of them 1
        .index(data::hashed("native_country", 64))                    // an int input for an embedding<64, 8>
        .label("income", {"<=50K", ">50K"});
    const data::csv::options words{.missing = {"?", "-"}, .missing_in = {{"age", {"999"}}}};
    // Means, vocabularies and boundaries come from here alone.
    people.fit(data::csv::read("train.csv", words));
    const data::dataset test = people.apply(data::csv::read("test.csv", words));
    const data::dataset unknown = people.inputs_only().apply(data::csv::read("new.csv", words));
    BOOST_TEST(test.size() == 2);
    BOOST_TEST(unknown.labels().empty());

    data::save(people, "people.features");
    const data::features loaded = data::load_features("people.features");
    auto stream = data::csv_examples("train.csv", loaded, words) | data::shuffle(10'000) | data::batch(64);
    BOOST_TEST(stream.next()->size == 2);

    io::input_file file("train.csv");
    io::gzip_source plain(file);                        // which passes on what is not gzip
    data::csv::reader records(plain, words);
    people.fit(records);
    data::save(people, "from_a_reader.features");
    BOOST_TEST(data::read_text("from_a_reader.features") == data::read_text("people.features"));
}
BOOST_AUTO_TEST_CASE(records_as_structs) {
    struct passenger {
        float age;
        std::optional<int> cabin;   // empty where the value is missing
        std::string town;
    };
    const std::string text = "town,name,cabin,age\nLima,x,3,31.5\nOslo,y,,7\n";
    io::memory_source source(as_bytes(text), "more.csv");
    data::csv::reader more(source);
    std::string towns;
    data::csv::struct_reader<passenger> rows(more);
    for (passenger p; rows.next(p);) towns += p.town;
    BOOST_TEST(towns == "LimaOslo");
}
BOOST_AUTO_TEST_CASE(texts) {
    const within_folder here;
    write_bytes("input.txt", std::string(40, 'a') + std::string(40, 'b'));
    const std::string text = data::read_text("input.txt");
    const data::characters vocabulary(text);
    auto training = data::windows(vocabulary.encode(text), 64, {.random = 10'000}) | data::batch(32);
    BOOST_TEST(training.next()->size == 32);
}
