// SPDX-License-Identifier: BSL-1.0
// shows data: files that several threads turn into batches give the same bytes as one
#define BOOST_TEST_MODULE files_in_batches
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "support/gzipped.hpp"
#include <sinter/data/batches.hpp>
#include <sinter/data/source/csv/stream.hpp>
#include <sinter/data/stages/examples_as.hpp>
#include <sinter/data/stages/fixed_length_records.hpp>
#include <sinter/data/stages/ignore_errors.hpp>
#include <sinter/data/stages/interleave.hpp>
#include <sinter/data/stages/list_files.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle_window.hpp>
#include <sinter/data/stages/text_lines.hpp>
#include <sinter/data/stages/tfrecords.hpp>
#include <sinter/io/tfrecord/example_writer.hpp>
#include <sinter/io/tfrecord/writer.hpp>

using namespace sinter;

namespace {

struct numbered {
    float x;
    std::int32_t i;
};
constexpr port_info one_float{.s = {.rank = 1, .d = {1}}}, one_number{.s = {.type = dtype::i32, .rank = 1, .d = {1}}};
constexpr data::model_ports ports{{&one_float, 1}, {&one_number, 1}};

/// All numbers of three passes: what was read, and a random number of each.
template <class Stages>
std::vector<std::pair<float, int>> numbers_of(const Stages& stages, int threads) {
    data::batches<Stages> all = stages | data::batch(7);
    if (threads > 0) all = std::move(all) | data::parallel(threads);
    data::pipeline& p = data::pipeline_for<ports>(all);
    std::vector<std::pair<float, int>> numbers;
    for (int pass = 0; pass < 3; ++pass)
        while (const batch_view* b = p.next())
            for (int r = 0; r < b->size; ++r)
                numbers.emplace_back(b->inputs[0].values[r], b->targets[0].indices[r]);
    return numbers;
}
template <class Stages>
void are_equal_for_any_threads(const Stages& stages, std::size_t elements) {
    const auto drawn = stages | data::map([](const numbered& n, random_stream& r) {
                           return numbered{n.x + r.uniform(), n.i};
                       });
    const auto by_one = numbers_of(drawn, 0);
    BOOST_TEST(by_one.size() == 3 * elements);
    for (const int threads : {1, 2, 8}) BOOST_TEST((numbers_of(drawn, threads) == by_one));
}

} // namespace

BOOST_AUTO_TEST_CASE(any_number_of_threads) {
    temporary_folder folder;
    for (int f = 0; f < 4; ++f) {
        std::string rows = "i,x\n", bytes;
        tfrecord::write(folder / std::to_string(f) + ".tfrecord", [&](tfrecord::writer& w) {
            for (int i = 100 * f; i < 100 * f + 25 * f; ++i) {
                rows += std::to_string(i) + ',' + std::to_string(i) + ".5\n";
                bytes += std::to_string(1000 + i);
                w.add(tfrecord::example().floats("x", {static_cast<float>(i)}).integers("i", {i}).bytes());
            }
        });
        write_bytes(folder / std::to_string(f) + ".csv", f % 2 ? rows : gzipped(rows));
        write_bytes(folder / std::to_string(f) + ".bin", bytes);
    }
    const auto list = [&](const char* pattern) { return data::list_files(folder / pattern, {.seed = 5}); };
    are_equal_for_any_threads(list("*.csv") | data::interleave([](const std::string& path) {
                                  return data::csv::stream<numbered>(path);
                              }, {.cycle = 2, .block = 3}), 150);
    are_equal_for_any_threads(list("*.tfrecord") | data::interleave([](const std::string& path) {
                                  return data::tfrecords_indexed(path) | data::shuffle({.seed = 3}) |
                                         data::examples_as<numbered>();
                              }), 150);
    are_equal_for_any_threads(data::tfrecords({folder / "3.tfrecord", folder / "1.tfrecord"}) |
                                  data::examples_as<numbered>(), 100);
    are_equal_for_any_threads(data::fixed_length_records({folder / "3.bin", folder / "1.bin"}, 4) |
                                  data::map([](const std::string& r) { return numbered{0, std::stoi(r)}; }), 100);
    are_equal_for_any_threads(data::text_lines({folder / "3.csv", folder / "2.csv"}) |
                                  data::map([](const std::string& line) {
                                      return numbered{0, static_cast<std::int32_t>(line.size())};
                                  }), 127);
}

BOOST_AUTO_TEST_CASE(errors_come_where_the_record_is) {
    temporary_folder folder;
    const auto rows = data::csv::stream<numbered>(write_bytes(folder / "a.csv", "x,i\n1,1\n2,b\n3,3\n4,4\n"));
    for (const int threads : {0, 1, 2}) {
        data::batches<std::remove_const_t<decltype(rows)>> all = rows | data::batch(1);
        if (threads > 0) all = std::move(all) | data::parallel(threads);
        data::pipeline& p = data::pipeline_for<ports>(all);
        BOOST_TEST_REQUIRE(p.next());
        BOOST_CHECK_THROW(p.next(), format_error);
        BOOST_CHECK_THROW(p.next(), format_error);   // it is still there
    }
}

BOOST_AUTO_TEST_CASE(errors_that_are_left_out) {
    temporary_folder folder;
    const std::string a = write_bytes(folder / "a.csv", "x,i\n1,1\n2,b\n3,3\n4\n5,5\n6,\"6\n"),
                      b = write_bytes(folder / "b.csv", "x,i\n7,7\n");
    const data::ignored_errors ignored;
    const auto rows = data::csv::stream<numbered>({a, b}) | data::ignore_errors(3, ignored);
    std::vector<std::pair<float, int>> wanted;
    for (int pass = 0; pass < 3; ++pass)
        for (const int n : {1, 3, 5, 7}) wanted.emplace_back(static_cast<float>(n), n);
    for (const int threads : {0, 2}) BOOST_TEST((numbers_of(rows, threads) == wanted));
    BOOST_TEST(ignored.first().find("a.csv:3:3, column 'i'") != std::string::npos);
    are_equal_for_any_threads(rows | data::shuffle(3), 4);
}
