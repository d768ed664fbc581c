// SPDX-License-Identifier: BSL-1.0
// shows data: files mixed in streams give the same batches to any number of workers, and each opens its files alone
#define BOOST_TEST_MODULE interleave_streams
#include <boost/test/unit_test.hpp>
#include "data/stages/reading.hpp"
#include "fixtures/tf_data_files.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/interleave.hpp>
#include <sinter/data/stages/interleave_streams.hpp>
#include <sinter/data/stages/list_files.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/text_lines.hpp>
#include <set>

using namespace sinter;
using reading::i64;
using numbers = std::vector<i64>;

namespace {

/// Files of `lengths` elements, which are 100 f, 100 f + 1, ... of file f.
auto reader_of(const std::vector<i64>& lengths) {
    return [&lengths](i64 f) { return data::range(100 * f, 100 * f + lengths[static_cast<std::size_t>(f)]); };
}
/// The same as a stream.
auto stream_of(const std::vector<i64>& lengths) {
    return [&lengths](i64 f) {
        return data::range(100 * f, 100 * f + 100) | data::filter([n = lengths[static_cast<std::size_t>(f)]](i64 x) {
            return x % 100 < n;
        });
    };
}

/// The rows of each batch of each stream, computed from the streams' whole contents.
std::vector<std::vector<numbers>> model(const std::vector<i64>& lengths, i64 streams, i64 rows, i64 batches) {
    std::vector<numbers> of(static_cast<std::size_t>(streams));
    for (i64 f = 0; f < static_cast<i64>(lengths.size()); ++f)
        for (i64 x = 0; x < lengths[static_cast<std::size_t>(f)]; ++x)
            of[static_cast<std::size_t>(f % streams)].push_back(100 * f + x);
    std::vector<std::vector<numbers>> all;
    for (i64 b = 0; batches == 0 || b < batches; ++b) {
        bool any = false;
        std::vector<numbers> batch;
        for (i64 i = 0; i < streams; ++i) {
            const numbers& from = of[static_cast<std::size_t>(i)];
            const i64 n = rows * (i + 1) / streams - rows * i / streams;
            numbers& part = batch.emplace_back();
            for (i64 r = b * n; r < (b + 1) * n; ++r) {
                const i64 size = static_cast<i64>(from.size());
                if (r < size || batches) part.push_back(from[static_cast<std::size_t>(r % size)]);
            }
            any = any || !part.empty();
        }
        if (!any) break;
        all.push_back(batch);
    }
    return all;
}
numbers rows_of(const std::vector<std::vector<numbers>>& batches, std::size_t first, std::size_t last) {
    numbers all;
    for (const auto& b : batches)
        for (std::size_t i = first; i < last; ++i) all.insert(all.end(), b[i].begin(), b[i].end());
    return all;
}

struct numbered {
    float x;
    std::int32_t i;
};
constexpr port_info one_float{.s = {.rank = 1, .d = {1}}}, one_number{.s = {.type = dtype::i32, .rank = 1, .d = {1}}};
constexpr data::model_ports ports{{&one_float, 1}, {&one_number, 1}};

/// The rows of each batch of two passes.
template <class Stages>
std::vector<std::vector<std::int32_t>> batches_of(const Stages& stages, int threads) {
    data::batches<Stages> all = stages | data::batch(static_cast<int>(stages.rows_of_batch()));
    if (threads > 0) all = std::move(all) | data::parallel(threads);
    data::pipeline& p = data::pipeline_for<ports>(all);
    std::vector<std::vector<std::int32_t>> rows;
    for (int pass = 0; pass < 2; ++pass)
        while (const batch_view* b = p.next())
            rows.emplace_back(b->targets[0].indices, b->targets[0].indices + b->size);
    return rows;
}

template <class Make>
void check(Make make, const std::vector<i64>& lengths, i64 streams, i64 rows, i64 batches) {
    const auto files = static_cast<i64>(lengths.size());
    const auto stages = data::range(files) | data::interleave(data::streams(streams), make, rows, {.batches = batches});
    const auto expected = model(lengths, streams, rows, batches);
    const numbers whole = rows_of(expected, 0, static_cast<std::size_t>(streams));
    reading::check(stages, 3, whole, batches ? batches * rows : data::unknown_size);
    using stage = std::remove_const_t<decltype(stages)>;
    std::vector<typename stage::cursor> at{{}};
    typename stage::state s{};
    stages.begin(s, 3);
    for (typename stage::ticket k{};;) {
        auto c = at.back();
        if (!stages.next(s, c, k)) break;
        BOOST_TEST(stages.fits(c));
        at.push_back(c);
    }
    for (i64 n = 1; n <= streams; ++n) {
        if (streams % n != 0) continue;
        std::vector<numbers> of_workers;
        std::vector<i64> rows_of_worker;
        i64 all_rows = 0;
        for (i64 w = 0; w < n; ++w) {
            const i64 first = w * streams / n, last = (w + 1) * streams / n;
            const stage own = stages.only(first, last);
            const numbers mine = rows_of(expected, static_cast<std::size_t>(first), static_cast<std::size_t>(last));
            reading::check(own, 3, mine, batches ? batches * own.rows_of_batch() : data::unknown_size);
            rows_of_worker.push_back(own.rows_of_batch());
            all_rows += own.rows_of_batch();
            of_workers.push_back(mine);
            // Where one reader of all streams stopped, this one goes on.
            const std::set<i64> is_mine(mine.begin(), mine.end());
            for (std::size_t i = 0; i < at.size(); ++i) {
                numbers later;
                for (std::size_t r = i; r < whole.size(); ++r)
                    if (is_mine.count(whole[r])) later.push_back(whole[r]);
                BOOST_TEST((reading::rest(own, 3, at[i]) == later));
            }
        }
        BOOST_TEST(all_rows == rows);
        for (i64 b = 0; b < batches; ++b) {   // the workers' batches side by side are those of one
            numbers joined;
            for (std::size_t w = 0; w < of_workers.size(); ++w) {
                const auto begin = of_workers[w].begin() + b * rows_of_worker[w];
                joined.insert(joined.end(), begin, begin + rows_of_worker[w]);
            }
            BOOST_TEST((joined == numbers(whole.begin() + b * rows, whole.begin() + (b + 1) * rows)));
        }
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(in_tensorflows_order) {
    for (const auto& t : tf_data_files::streams) {
        const auto stages = data::range(t.files) | data::interleave(data::streams(t.n), [](i64 x) {
            return data::range(10 * x, 10 * x + (x * 5 + 3) % 7);
        }, i64{t.n} * t.block);
        BOOST_TEST((reading::rest(stages, 0) == numbers(t.all.begin(), t.all.end())));
    }
}

BOOST_AUTO_TEST_CASE(the_same_for_any_number_of_workers) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        reading::dice d(seed);
        const i64 streams = d(1, 6), rows = streams + d(0, 9);
        std::vector<i64> lengths;
        for (i64 f = d(streams, 3 * streams); f > 0; --f) lengths.push_back(d(0, 5));
        for (i64 s = 0; s < streams; ++s) lengths[static_cast<std::size_t>(s)] += 1;   // none is empty
        BOOST_TEST_CONTEXT("seed " << seed) {
            check(reader_of(lengths), lengths, streams, rows, 0);
            check(stream_of(lengths), lengths, streams, rows, 0);
            const i64 batches = d(1, 3);
            check(reader_of(lengths), lengths, streams, rows, batches);
            check(stream_of(lengths), lengths, streams, rows, batches);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_worker_opens_its_files_alone) {
    temporary_folder folder;
    for (int f = 0; f < 8; ++f) {
        std::string text;
        for (int i = 0; i <= f; ++i) text += std::to_string(10 * f + i) + '\n';
        write_bytes(folder / std::to_string(f), text);
    }
    static std::set<std::string> opened;
    const auto lines = data::list_files(folder / "*", {.shuffle = false}) |
                       data::interleave(data::streams(4), [](const std::string& path) {
                           opened.insert(path.substr(path.rfind('/') + 1));
                           return data::text_lines(path);
                       }, 8);
    const auto own = lines.only(2, 3);
    BOOST_TEST(own.rows_of_batch() == 2);
    const std::vector<std::string> wanted{"20", "21", "22", "60", "61", "62", "63", "64", "65", "66"};
    BOOST_TEST((reading::rest(own, 0) == wanted));
    BOOST_TEST((opened == std::set<std::string>{"2", "6"}));
    const auto mapped = own | data::map([](const std::string& line) { return std::stoi(line); });
    BOOST_TEST((reading::rest(mapped, 0) == std::vector<int>{20, 21, 22, 60, 61, 62, 63, 64, 65, 66}));
    std::filesystem::remove(folder / "6");   // its files again, without the other
    std::remove_const_t<decltype(own)>::state s{};
    std::remove_const_t<decltype(own)>::cursor c{};
    std::remove_const_t<decltype(own)>::ticket k{};
    own.begin(s, 0);
    for (int i = 0; i < 3; ++i) BOOST_TEST(own.next(s, c, k));
    check_error<io_error>([&] { own.next(s, c, k); }, "cannot open", "/6");
    BOOST_TEST(!own.next(s, c, k));
}

BOOST_AUTO_TEST_CASE(batches_of_workers_with_several_threads) {
    const auto whole = data::range(7) | data::shuffle({.seed = 5}) |
                       data::interleave(data::streams(4), [](i64 f) {
                           return data::range(3 + f) | data::filter([](i64 i) { return i != 1; }) |
                                  data::map([f](i64 i, random_stream& r) {
                                      return numbered{r.uniform(), static_cast<std::int32_t>(10 * f + i)};
                                  });
                       }, 12, {.batches = 5});
    const auto all = batches_of(whole, 0);
    const auto left = batches_of(whole.only(0, 2), 2), right = batches_of(whole.only(2, 4), 8);
    BOOST_TEST_REQUIRE(all.size() == 10u);
    BOOST_TEST((batches_of(whole, 3) == all));
    for (std::size_t b = 0; b < all.size(); ++b) {
        std::vector<std::int32_t> joined = left.at(b);
        joined.insert(joined.end(), right.at(b).begin(), right.at(b).end());
        BOOST_TEST((joined == all[b]));
    }
    BOOST_TEST((all[0] != all[5]));   // files come in another order
}

BOOST_AUTO_TEST_CASE(passes_and_nested_ones) {
    const auto shuffled = data::range(6) | data::shuffle({.seed = 1}) |
                          data::interleave(data::streams(3), [](i64 x) {
                              return data::range(2) | data::interleave([x](i64 y) {
                                  return data::range(10 * x + 5 * y, 10 * x + 5 * y + 5) | data::shuffle({.seed = 2});
                              }, {.cycle = 2});
                          }, 6);
    numbers all = reading::rest(shuffled, 7);
    BOOST_TEST((all != reading::rest(shuffled, 6)));
    reading::check(shuffled, 7, all, data::unknown_size);
    std::sort(all.begin(), all.end());
    for (i64 i = 0; i < 60; ++i) BOOST_TEST(all[static_cast<std::size_t>(i)] == i);
}

BOOST_AUTO_TEST_CASE(what_cannot_be) {
    const auto make = [](i64 n) { return data::range(n); };
    const auto refuse = [&](i64 streams, i64 rows, data::stream_options o, std::string_view what,
                            std::string_view got) {
        check_error<option_error>([&] { data::interleave(data::streams(streams), make, rows, o); }, what, "interleave",
                                  got);
    };
    refuse(0, 8, {}, "impossible number of streams", "0");
    refuse(65537, 65537, {}, "impossible number of streams", "65537");
    refuse(4, 3, {}, "fewer rows in a batch than streams", "3");
    refuse(4, 4, {.batches = -1}, "impossible number of batches", "-1");
    const auto step = [&] { return data::interleave(data::streams(4), make, 8); };
    check_error<option_error>([&] { data::range(3) | step(); }, "fewer files than streams", "interleave", "3 files",
                              "4 or more");
    for (const auto& [first, last] : {std::pair{-1, 2}, {2, 2}, {3, 2}, {0, 5}})
        check_error<option_error>([&, f = first, l = last] { step().only(f, l); }, "no such streams", "only");
    BOOST_TEST(step().only(1, 3).rows_of_batch() == 4);

    // Files 0 and 4 of stream 0 are empty: without a number of batches it has none, with one it cannot begin again.
    const auto empty = [](i64 f) { return data::range(f % 4 == 0 ? 0 : 1); };
    const auto ends = data::range(8) | data::interleave(data::streams(4), empty, 4);
    BOOST_TEST((reading::rest(ends, 0) == numbers(6, 0)));
    const auto goes_on = data::range(8) | data::interleave(data::streams(4), empty, 4, {.batches = 3});
    std::remove_const_t<decltype(goes_on)>::state s{};
    std::remove_const_t<decltype(goes_on)>::cursor c{};
    std::remove_const_t<decltype(ends)>::ticket k2{};
    std::remove_const_t<decltype(goes_on)>::ticket k{};
    goes_on.begin(s, 0);
    check_error<data_error>([&] { goes_on.next(s, c, k); }, "a stream has no elements", "stream 0", "2 files");
    int rest = 0;
    while (goes_on.next(s, c, k)) BOOST_TEST_REQUIRE(++rest < 100);
    BOOST_TEST(rest == 9);   // the others fill their rows

    using cursor = std::remove_const_t<decltype(ends)>::cursor;
    BOOST_TEST(ends.fits(cursor{}));
    cursor bad;
    bad.stream = 4;
    BOOST_TEST(!ends.fits(bad));
    bad = {};
    bad.row = 1;
    BOOST_TEST(!ends.fits(bad));
    bad = {};
    bad.streams.resize(3);
    BOOST_TEST(!ends.fits(bad));
    bad.streams.resize(4);
    BOOST_TEST(ends.fits(bad));
    bad.streams[1].file = 3;
    BOOST_TEST(!ends.fits(bad));
    bad.streams[1].file = -1;
    BOOST_TEST(!ends.fits(bad));
    bad.streams[1] = {.file = 0, .at = -1};
    std::remove_const_t<decltype(ends)>::state t{};
    ends.begin(t, 0);
    check_error<option_error>([&] { while (ends.next(t, bad, k2)) {} }, "no place in a file", "stream 1, its file 0");
    description d, of_part;
    ends.describe(d);
    ends.only(1, 2).describe(of_part);
    BOOST_TEST(d.text() == of_part.text());
    BOOST_TEST(holds(d.text(), "rows of a batch\t4\n"));
}
