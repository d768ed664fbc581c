// SPDX-License-Identifier: BSL-1.0
// shows servers: tables: admission, expiry, a full table, saves amid changes, files of changes
// What has changed of a table: an older copy and the changes are the table; the file is as long as
// there are rows in it.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <random>
#include <sinter/parameter_server/checkpoint/table_delta.hpp>

#include "io/temporary_folder.hpp"

using namespace sinter;
using namespace sinter::parameter_servers;

namespace {
constexpr int width = 16;
using copy = std::map<std::int64_t, std::vector<float>>;

void update(row_store& s, std::int64_t key, std::int64_t step) {
    const std::int32_t r = s.add(key, step);
    if (r < 0) return;
    for (int j = 0; j < width; ++j)
        s.values()[std::int64_t{r} * width + j] = static_cast<float>(step * 100 + j) + static_cast<float>(key % 7);
}
copy all(const row_store& s) {
    copy c;
    for (std::size_t i = 0; i < s.keys().size(); ++i) {
        const float* const row = s.values() + static_cast<std::int64_t>(i) * width;
        c[s.keys()[i]] = {row, row + width};
    }
    return c;
}
delta_counts apply(copy& c, const std::string& path) {
    return read_delta(path, "words", width, [&](std::int64_t key, const float* row) { c[key] = {row, row + width}; },
                      [&](std::int64_t key) { c.erase(key); });
}
} // namespace

BOOST_AUTO_TEST_CASE(a_copy_and_the_changes_are_the_table) {
    const temporary_folder folder;
    const std::string path = folder / "delta";
    row_store s({.row_floats = width, .slots = 2, .rows = -1, .options = {.most_rows = 500, .full = when_full::evict}});
    std::mt19937 random(5);
    std::int64_t step = 0;
    for (; step < 100; ++step)
        for (int i = 0; i < 10; ++i) update(s, static_cast<std::int64_t>(random() % 700) * 1000003, step);
    copy c = all(s);
    for (int round = 0; round < 5; ++round) {
        const std::int64_t since = step;
        for (; step < since + 7; ++step)
            for (int i = 0; i < 10; ++i) update(s, static_cast<std::int64_t>(random() % 700) * 1000003, step);
        const delta_counts w = write_delta(path, "words", changes_of(s, since, step));
        BOOST_TEST((w.rows > 0 && w.rows <= 70));
        BOOST_TEST(w.removed > 0);
        const delta_header h = read_delta_header(path);
        BOOST_TEST((h.table == "words" && h.since == since && h.step == step));
        const delta_counts r = apply(c, path);
        BOOST_TEST((r.rows == w.rows && r.removed == w.removed));
        BOOST_TEST((c == all(s)));
    }
    // Longer ago than is remembered: all rows.
    for (; step < 2000; ++step)
        for (int i = 0; i < 10; ++i) update(s, static_cast<std::int64_t>(random() % 7000) * 1000003, step);
    write_delta(path, "words", changes_of(s, 100, step));
    BOOST_TEST(read_delta_header(path).since == 0);
    c.clear();
    BOOST_TEST(apply(c, path).removed == 0);
    BOOST_TEST((c == all(s)));
    BOOST_CHECK_THROW(read_delta(path, "other", width, [](auto, auto) {}, [](auto) {}), mismatch_error);
    BOOST_CHECK_THROW(read_delta(path, "words", width + 1, [](auto, auto) {}, [](auto) {}), mismatch_error);
}

BOOST_AUTO_TEST_CASE(bytes_are_of_the_rows_that_were_touched) {
    const temporary_folder folder;
    const std::string path = folder / "delta";
    std::uintmax_t bytes[2] = {};
    for (const std::int64_t rows : {std::int64_t{10'000}, std::int64_t{1'000'000}}) {
        row_store s({.row_floats = width, .slots = 1, .rows = rows});
        for (std::int64_t r = 0; r < rows; r += 7) update(s, r, 1);
        for (const int touched : {100, 400}) {
            for (int i = 0; i < touched; ++i) update(s, i * 21 % rows, touched);
            BOOST_TEST(write_delta(path, "words", changes_of(s, touched, touched)).rows == touched);
            std::uintmax_t& is = bytes[touched == 400];
            const std::uintmax_t now = std::filesystem::file_size(path);
            BOOST_TEST((is == 0 || now < is + 16));   // whatever the table's rows
            is = now;
            read_delta(path, "words", width,
                       [&](std::int64_t row, const float*) { BOOST_TEST(row % 21 == 0); }, [](auto) {});
        }
    }
    BOOST_TEST(bytes[1] - bytes[0] < 300 * (4 * width + 8) + 64);
    BOOST_TEST(bytes[1] - bytes[0] >= 300 * (4 * width + 8));
}

/// What cannot be is refused before the first row is handed on.
BOOST_AUTO_TEST_CASE(what_no_table_has_written) {
    using safetensors::dtype;
    const temporary_folder folder;
    const std::string path = folder / "delta";
    const auto said = [&](std::vector<std::int64_t> keys, std::vector<std::int64_t> removed) {
        const std::vector<float> values(keys.size() * width);
        safetensors::write(path,
                           {{"keys", dtype::i64, {std::ssize(keys)}, keys.data()},
                            {"values", dtype::f32, {std::ssize(keys), width}, values.data()},
                            {"removed", dtype::i64, {std::ssize(removed)}, removed.data()}},
                           {{"table", "words"}});
        std::size_t calls = 0;
        try {
            read_delta(path, "words", width, [&](auto, auto) { ++calls; }, [&](auto) { ++calls; });
        } catch (const format_error& e) {
            BOOST_TEST(calls == 0u);
            return std::string(e.what());
        }
        BOOST_TEST(calls == keys.size() + removed.size());
        return std::string();
    };
    BOOST_TEST(said({4, -1, 9}, {5}) == "");
    BOOST_TEST(said({4, -1, 4}, {}).find("a key twice") != std::string::npos);
    BOOST_TEST(said({4}, {7, 7}).find("a key twice") != std::string::npos);
    BOOST_TEST(said({4}, {5, 4}).find("a key twice") != std::string::npos);
    const std::string pipe = folder / "pipe";
    BOOST_TEST(::mkfifo(pipe.c_str(), 0600) == 0);
    BOOST_CHECK_THROW(read_delta_header(path), format_error);   // it says no step
    for (const std::string& other : {pipe, folder / "."})
        BOOST_CHECK_THROW(read_delta(other, "words", width, [](auto, auto) {}, [](auto) {}), io_error);
}
