// SPDX-License-Identifier: BSL-1.0
// shows data: a snapshot is whole or not there; runs that were killed leave nothing that is read
#define BOOST_TEST_MODULE data_stages_snapshot
#include <boost/test/unit_test.hpp>
#include "data/stages/restored.hpp"
#include "fixtures/tf_data_batches.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/snapshot.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <sinter/data/stages/tfrecords.hpp>
#include <atomic>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace snapshot_test {

using namespace sinter;
using reading::rest;
using stage_test::elements_of;
using i64 = std::int64_t;
using texts = std::vector<std::string>;

struct spelled {
    std::atomic<int>* times;
    std::string operator()(i64 i) const {
        times->fetch_add(1);
        return std::string(static_cast<std::size_t>(i % 5), static_cast<char>('a' + i));
    }
};
const auto odd = [](i64 i) { return i % 2 == 1; };
auto by_number(std::atomic<int>& times) { return data::range(17) | data::map(spelled{&times}); }
auto streamed(std::atomic<int>& times) { return data::range(17) | data::filter(odd) | data::map(spelled{&times}); }
texts expected(bool stream) {
    texts all;
    for (i64 i = 0; i < 17; ++i)
        if (!stream || i % 2 == 1) all.emplace_back(static_cast<std::size_t>(i % 5), static_cast<char>('a' + i));
    return all;
}
std::size_t runs_in(const temporary_folder& folder) {
    std::size_t n = 0;
    for (const auto& e : std::filesystem::directory_iterator(folder.path())) n += e.path().extension() == ".tfrecord";
    return n;
}
/// Runs f in a child, which then ends by SIGKILL while what f gave is there.
template <class F>
void killed_child(F f) {
    const pid_t child = ::fork();
    if (child == 0) {
        const auto alive = f();
        ::kill(::getpid(), SIGKILL);
    }
    BOOST_REQUIRE(child > 0);
    int status = 0;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_TEST(WIFSIGNALED(status));
}

template <class Make>
void written_once(Make make, i64 size) {
    const temporary_folder folder;
    std::atomic<int> times{0};
    const texts all = expected(size < 0);
    const auto n = static_cast<int>(all.size());
    {   // a pass that is broken off
        const auto s = make(times) | data::snapshot(folder.path());
        BOOST_TEST(rest(s, 0, {}, 5).size() == 5u);
        BOOST_TEST(runs_in(folder) == 8u);
    }
    BOOST_TEST(runs_in(folder) == 0u);
    times = 0;
    {
        const auto s = make(times) | data::snapshot(folder.path(), {.shards = 3});
        BOOST_TEST(rest(s, 0, {}, 5).size() == 5u);
        BOOST_TEST((elements_of(s, 1) == all));   // by now it is whole
        BOOST_TEST(std::filesystem::exists(folder / "snapshot"));
        BOOST_TEST(times == n);
        reading::check(s, 0, all, size);
        BOOST_TEST(times == n);
    }
    times = 0;
    for (const int shards : {3, 5}) {
        reading::check(make(times) | data::snapshot(folder.path(), {.shards = shards}), 2, all, size);
        BOOST_TEST(runs_in(folder) == 3u);
    }
    BOOST_TEST(times == 0);
}
BOOST_AUTO_TEST_CASE(the_first_whole_pass_is_written) {
    written_once([](std::atomic<int>& times) { return by_number(times); }, 17);
    written_once([](std::atomic<int>& times) { return streamed(times); }, data::unknown_size);
}

/// Gives 10 p + i in pass p.
struct numbers_of_passes {
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = int;
    struct state {
        i64 pass = 0;
    };
    i64 size() const { return 3; }
    void begin(state& s, i64 pass) const { s.pass = pass; }
    int get(state& s, i64 i) const { return static_cast<int>(10 * s.pass + i); }
    void prefetch(state&, i64) const {}
    void describe(description& d) const { d.stage("numbers of passes"); }
};
BOOST_AUTO_TEST_CASE(as_tf_data) {
    // What is read are the numbers of pass 0.
    const temporary_folder folder;
    std::vector<int> snapshots, cached;
    const auto s = numbers_of_passes{} | data::snapshot(folder.path());
    const auto c = numbers_of_passes{} | data::cache();
    for (i64 pass = 0; pass < 3; ++pass) {
        for (const int n : elements_of(s, pass)) snapshots.push_back(n);
        for (const int n : elements_of(c, pass)) cached.push_back(n);
    }
    namespace tf = tf_data_batches;
    BOOST_TEST((snapshots == std::vector<int>(std::begin(tf::snapshot), std::end(tf::snapshot))));
    BOOST_TEST((cached == std::vector<int>(std::begin(tf::cached), std::end(tf::cached))));
}

BOOST_AUTO_TEST_CASE(several_threads_write_it) {
    for (int round = 0; round < 10; ++round) {
        const temporary_folder folder;
        std::atomic<int> times{0};
        {
            const auto s = by_number(times) | data::snapshot(folder.path(), {.shards = 2});
            const auto t = streamed(times) | data::snapshot(folder / "other", {.shards = 2});
            std::atomic<int> good{0};
            std::vector<std::thread> threads;
            for (int n = 0; n < 4; ++n)
                threads.emplace_back([&, n] {
                    good += elements_of(s | data::shuffle({.seed = static_cast<std::uint64_t>(n)})).size() == 17;
                    good += elements_of(t, n) == expected(true);
                });
            for (auto& thread : threads) thread.join();
            BOOST_TEST(good == 8);
        }
        times = 0;
        BOOST_TEST((elements_of(by_number(times) | data::snapshot(folder.path())) == expected(false)));
        BOOST_TEST((elements_of(streamed(times) | data::snapshot(folder / "other")) == expected(true)));
        BOOST_TEST(times == 0);
    }
}

BOOST_AUTO_TEST_CASE(killed_runs_are_removed) {
    const temporary_folder folder;
    std::atomic<int> times{0};
    const auto reads = [](auto stages, std::size_t most) {
        static_cast<void>(rest(stages, 0, {}, most));
        return stages;
    };
    killed_child([&] { return reads(by_number(times) | data::snapshot(folder.path()), 16); });
    BOOST_TEST(runs_in(folder) == 8u);
    BOOST_TEST(!std::filesystem::exists(folder / "snapshot"));
    write_bytes(folder / "0123456789abcdef-mine.txt", "not a run's");
    const auto living = by_number(times) | data::snapshot(folder.path());
    BOOST_TEST(runs_in(folder) == 8u);
    const auto other = by_number(times) | data::snapshot(folder.path());
    BOOST_TEST(runs_in(folder) == 16u);   // two that write at the same time
    BOOST_TEST((elements_of(other) == expected(false)));
    BOOST_TEST((elements_of(living) == expected(false)));
    const std::string kept = read_bytes(folder / "snapshot");
    killed_child([&] { return reads(living, 17); });   // a child decides nothing
    BOOST_TEST(read_bytes(folder / "snapshot") == kept);
    times = 0;
    // A child that is killed after it was whole.
    BOOST_TEST((elements_of(by_number(times) | data::snapshot(folder.path())) == expected(false)));
    BOOST_TEST(times == 0);
    const temporary_folder second;
    killed_child([&] { return reads(by_number(times) | data::snapshot(second.path()), 17); });
    BOOST_TEST((elements_of(by_number(times) | data::snapshot(second.path())) == expected(false)));
    BOOST_TEST(times == 0);
    BOOST_TEST(std::filesystem::exists(folder / "0123456789abcdef-mine.txt"));
}

BOOST_AUTO_TEST_CASE(other_stages_and_damaged_files) {
    const temporary_folder folder;
    std::atomic<int> times{0};
    const auto make = [&] { return by_number(times) | data::snapshot(folder.path(), {.shards = 2}); };
    static_cast<void>(elements_of(make()));
    check_error<mismatch_error>([&] { static_cast<void>(by_number(times) | data::take(9) |
                                                        data::snapshot(folder.path())); },
                                "other stages have made this snapshot", folder / "snapshot",
                                "stage 3: this pipeline has take, the snapshot has snapshot", "another folder");
    std::vector<std::string> files{folder / "snapshot"};
    for (const auto& e : std::filesystem::directory_iterator(folder.path()))
        if (e.path().extension() == ".tfrecord") files.push_back(e.path().string());
    BOOST_REQUIRE(files.size() == 3u);
    const auto refused = [&](const std::string& file, const std::string& bytes) {
        std::filesystem::remove(file);
        write_bytes(file, bytes);
        try {
            BOOST_REQUIRE((elements_of(make()) == expected(false)));
            return false;
        } catch (const format_error&) {
        } catch (const mismatch_error&) {
        }
        return true;
    };
    for (const std::string& file : files) {
        const std::string whole = read_bytes(file);
        for (std::size_t n = 0; n < whole.size(); ++n) BOOST_REQUIRE(refused(file, whole.substr(0, n)));
        for (std::size_t at = 0; at < whole.size(); ++at) {
            std::string bad = whole;
            bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
            BOOST_REQUIRE(refused(file, bad));
        }
        BOOST_REQUIRE(!refused(file, whole));
    }
    BOOST_TEST(times == 17);   // all that was ever computed
    std::filesystem::remove(files[1]);
    BOOST_CHECK_THROW(make(), io_error);
    check_error<option_error>([] { data::snapshot("a", {.shards = 0}); }, "number of shards", "snapshot", "0");
    check_error<option_error>([] { data::snapshot("a", {.shards = 10'001}); }, "number of shards", "snapshot");
    BOOST_CHECK_THROW(data::range(3) | data::snapshot(files[0]), io_error);   // a file, and no folder
}

BOOST_AUTO_TEST_CASE(its_files_are_tfrecords) {
    const temporary_folder folder;
    static_cast<void>(elements_of(data::range(5) | data::snapshot(folder.path(), {.shards = 1})));
    std::vector<std::string> records;
    for (const auto& e : std::filesystem::directory_iterator(folder.path()))
        if (e.path().extension() == ".tfrecord") records = elements_of(data::tfrecords(e.path().string()));
    BOOST_REQUIRE(records.size() >= 6u);
    using namespace std::string_literals;
    BOOST_TEST(records[3] == "\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"s);   // its number, and the number that it is
}

} // namespace snapshot_test
