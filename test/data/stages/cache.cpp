// SPDX-License-Identifier: BSL-1.0
// shows data: a cache that is filled in any order, by several threads and runs, killed in the middle, damaged
#define BOOST_TEST_MODULE data_stages_cache
#include <boost/test/unit_test.hpp>
#include "data/stages/restored.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/stages/cache.hpp>
#include <sinter/data/stages/concatenate.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <atomic>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cache_test {

using namespace sinter;
using reading::rest;
using stage_test::elements_of;
using i64 = std::int64_t;
using numbers = std::vector<i64>;

struct text {
    i64 number = 0;
    std::string words;
    bool operator==(const text&) const = default;
};
/// Of 0 to 6 letters.
text text_of(i64 i) { return {i, std::string(static_cast<std::size_t>(i % 7), static_cast<char>('a' + i % 26))}; }
/// It, and how often any was made.
struct made {
    std::atomic<int>* times;
    text operator()(const i64& i) const {
        times->fetch_add(1);
        return text_of(i);
    }
};
std::vector<text> texts(const numbers& of) {
    std::vector<text> all;
    for (const i64 i : of) all.push_back(text_of(i));
    return all;
}
numbers count(i64 n) {
    numbers all;
    for (i64 i = 0; i < n; ++i) all.push_back(i);
    return all;
}
const auto odd = [](i64 i) { return i % 2 == 1; };
const numbers odd_numbers{1, 3, 5, 7, 9, 11, 13, 15, 17, 19};

// Stages over which the same tests run: 20 texts by number, and the 10 odd ones of a stream.
auto by_number(std::atomic<int>& times) { return data::range(20) | data::map(made{&times}); }
auto streamed(std::atomic<int>& times) { return data::range(20) | data::filter(odd) | data::map(made{&times}); }

BOOST_AUTO_TEST_CASE(in_memory_each_element_is_computed_once) {
    std::atomic<int> times{0};
    const auto s = by_number(times) | data::cache();
    using state = decltype(s)::state;
    static_assert(decltype(s)::is_indexed && std::is_reference_v<decltype(s.get(std::declval<state&>(), 0))>);
    for (i64 pass = 0; pass < 3; ++pass) BOOST_TEST((elements_of(s, pass) == texts(count(20))));
    BOOST_TEST(times == 20);
    reading::check(s, 4, texts(count(20)), 20);
    const auto fresh = by_number(times) | data::cache();
    reading::check(fresh, 1, texts(count(20)), 20);
    BOOST_TEST(times == 40);
    // Behind shuffle() they are asked for in another order each pass.
    const auto mixed = by_number(times) | data::cache() | data::shuffle({.seed = 3});
    const auto plain = by_number(times) | data::shuffle({.seed = 3});
    times = 0;
    for (i64 pass = 0; pass < 3; ++pass) static_cast<void>(elements_of(mixed, pass));
    BOOST_TEST(times == 20);
    BOOST_TEST((elements_of(mixed, 2) == elements_of(plain, 2)));
}

BOOST_AUTO_TEST_CASE(of_a_stream) {
    std::atomic<int> times{0};
    const auto s = streamed(times) | data::cache();
    for (i64 pass = 0; pass < 3; ++pass) BOOST_TEST((elements_of(s, pass) == texts(odd_numbers)));
    BOOST_TEST(times == 10);
    reading::check(s, 4, texts(odd_numbers), data::unknown_size);
    reading::check(streamed(times) | data::cache(), 1, texts(odd_numbers), data::unknown_size);
    // A first pass that is broken off, in the middle of another one: what is there is not computed again.
    times = 0;
    const auto part = streamed(times) | data::cache();
    BOOST_TEST(rest(part, 0, {}, 4).size() == 4u);
    BOOST_TEST((elements_of(part, 1) == texts(odd_numbers)));
    BOOST_TEST(times == 10);
    reading::check(data::range(0) | data::filter(odd) | data::cache(), 0, {}, data::unknown_size);
}

BOOST_AUTO_TEST_CASE(going_on_with_an_empty_cache) {
    // The cursor of a pass in which all was there, for a reader in which nothing is.
    std::atomic<int> times{0};
    const auto full = streamed(times) | data::cache();
    static_cast<void>(elements_of(full));
    typename decltype(full)::state st{};
    full.begin(st, 1);
    typename decltype(full)::cursor c{};
    typename decltype(full)::ticket k{};
    for (int i = 0; i < 6; ++i) BOOST_REQUIRE(full.next(st, c, k));
    BOOST_TEST(c.up_place == 0);
    BOOST_TEST(full.fits(c));
    times = 0;
    const auto empty = streamed(times) | data::cache();
    BOOST_TEST((rest(empty, 1, c) == texts({13, 15, 17, 19})));
    BOOST_TEST(times == 4);
    BOOST_TEST((rest(empty, 2) == texts(odd_numbers)));
    BOOST_TEST(times == 10);
    BOOST_TEST(!full.fits({{}, 3, 2}));
    BOOST_TEST(!full.fits({{}, -1, 2}));
}

BOOST_AUTO_TEST_CASE(random_numbers_before_it_are_those_of_pass_0) {
    const auto drawn = data::range(30) | data::map([](i64 i, random_stream& r) { return i * 1000 + r.below(1000); }) |
                       data::shuffle();
    const auto kept = drawn | data::cache();
    const numbers first = rest(drawn, 0);
    BOOST_TEST((rest(kept, 5) == first));
    BOOST_TEST((rest(kept, 0) == first));
    BOOST_TEST((rest(drawn, 5) != first));
}

template <class Stages>
void filled_by_threads(const Stages& s, std::atomic<int>& times, int least) {
    const auto expected = texts(Stages::is_indexed ? count(20) : odd_numbers);
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            if constexpr (Stages::is_indexed) {
                typename Stages::state st{};
                s.begin(st, t);
                bool all = true;
                for (i64 i = 0; i < 20; ++i) {
                    const i64 at = (i * 7 + t * 5) % 20;
                    s.prefetch(st, at);
                    all = all && s.get(st, at) == expected[static_cast<std::size_t>(at)];
                }
                good += all;
            } else {
                good += elements_of(s, t) == expected;
            }
        });
    for (auto& t : threads) t.join();
    BOOST_TEST(good == 4);
    BOOST_TEST(times >= least);
    times = 0;
    BOOST_TEST((elements_of(s) == expected));
    BOOST_TEST(times == 0);
}
BOOST_AUTO_TEST_CASE(several_threads_fill_it) {
    const temporary_folder folder;
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> times{0};
        const std::string file = folder / ("a" + std::to_string(round)), other = folder / ("b" + std::to_string(round));
        filled_by_threads(by_number(times) | data::cache(), times, 20);
        filled_by_threads(streamed(times) | data::cache(), times, 10);
        filled_by_threads(by_number(times) | data::cache(file), times, 20);
        filled_by_threads(streamed(times) | data::cache(other), times, 10);
    }
}

BOOST_AUTO_TEST_CASE(in_a_file_each_element_is_computed_once_in_all_runs) {
    const temporary_folder folder;
    std::atomic<int> times{0};
    const std::string file = folder / "new/folder/a";
    {
        const auto s = by_number(times) | data::cache(file);
        BOOST_TEST(rest(s, 3, 13).size() == 7u);   // the last ones first
    }
    BOOST_TEST(times == 7);
    {
        const auto s = by_number(times) | data::cache(file);
        reading::check(s, 0, texts(count(20)), 20);
        BOOST_TEST(times == 20);
    }
    const std::string whole = read_bytes(file);
    reading::check(by_number(times) | data::cache(file), 1, texts(count(20)), 20);
    BOOST_TEST(times == 20);
    BOOST_TEST(read_bytes(file) == whole);

    times = 0;
    const std::string other = folder / "b";
    BOOST_TEST(rest(streamed(times) | data::cache(other), 0, {}, 4).size() == 4u);
    BOOST_TEST(times == 4);
    reading::check(streamed(times) | data::cache(other), 0, texts(odd_numbers), data::unknown_size);
    BOOST_TEST(times == 10);
    reading::check(streamed(times) | data::cache(other), 2, texts(odd_numbers), data::unknown_size);
    BOOST_TEST(times == 10);
}

BOOST_AUTO_TEST_CASE(other_stages_are_refused) {
    const temporary_folder folder;
    const std::string file = folder / "a";
    static_cast<void>(elements_of(data::range(20) | data::take(10) | data::cache(file)));
    const std::string before = read_bytes(file);
    const auto refuses = [&](auto stages, const char* got) {
        check_error<mismatch_error>([&] { static_cast<void>(std::move(stages) | data::cache(file)); },
                                    "other stages have made these elements", file, got, "another file");
    };
    refuses(data::range(20) | data::take(11),
            "elements kept, stage 2 (take): elements: this pipeline has 11, the file has 10; elements kept, stage 3");
    refuses(data::range(20) | data::take(10) | data::shuffle(),
            "elements kept: stage 3: this pipeline has shuffle, the file has cache");
    struct same {
        i64 operator()(i64 i) const { return i; }
    };
    struct one {
        std::int32_t a = 0, b = 0;
    };
    struct two {
        std::int32_t a = 0;
        float b = 0;
    };
    static_cast<void>(elements_of(data::from(3, [](i64) { return one{}; }) | data::cache(folder / "b")));
    BOOST_CHECK_THROW(data::from(3, [](i64) { return two{}; }) | data::cache(folder / "b"), mismatch_error);
    BOOST_TEST(read_bytes(file) == before);
    check_error<option_error>([&] { static_cast<void>(data::from(data::endless, same{}) | data::cache(file)); },
                              "all elements of a pass", "cache", "without end", "take(n)");
    check_error<option_error>([&] { static_cast<void>(data::from(data::endless, same{}) | data::cache()); },
                              "all elements of a pass", "cache", "without end", "take(n)");
}

BOOST_AUTO_TEST_CASE(files_that_are_none) {
    const temporary_folder folder;
    const auto refuses = [&](const std::string& file, const char* got) {
        const std::string before = read_bytes(file);
        check_error<format_error>([&] { static_cast<void>(data::range(3) | data::cache(file)); },
                                  "not a file of elements", file, got);
        BOOST_TEST(read_bytes(file) == before);
    };
    refuses(write_bytes(folder / "a", "a text"), "other bytes");
    refuses(write_bytes(folder / "b", std::string(100, '\0')), "other bytes");
    BOOST_CHECK_THROW(data::range(3) | data::cache(folder.path()), io_error);
    BOOST_CHECK_THROW(data::range(3) | data::cache("/dev/null"), io_error);
    BOOST_CHECK_THROW(data::range(3) | data::cache(std::string("a\0b", 3)), io_error);
    // An empty file is none yet.
    const std::string empty = write_bytes(folder / "c", "");
    BOOST_TEST((elements_of(data::range(3) | data::cache(empty)) == numbers{0, 1, 2}));
}

/// The texts that come of a file with these bytes are the right ones, or there is a typed error; false: that.
template <class Make>
bool right_or_refused(const std::string& file, std::string_view bytes, Make make, const std::vector<text>& expected) {
    std::filesystem::remove(file);   // cutting it off and writing it anew would wait for the disk
    write_bytes(file, bytes);
    try {
        const auto got = elements_of(make() | data::cache(file));
        BOOST_REQUIRE((got == expected));
        BOOST_REQUIRE((elements_of(make() | data::cache(file)) == expected));
        return true;
    } catch (const format_error& e) {
        BOOST_REQUIRE(holds(e.where(), file));
    } catch (const mismatch_error&) {
    }
    return false;
}
template <class Make>
void damaged_in_all_ways(Make make, const std::vector<text>& expected) {
    const temporary_folder folder;
    const std::string file = folder / "a";
    static_cast<void>(elements_of(make() | data::cache(file)));
    const std::string whole = read_bytes(file);
    // A file that ends anywhere is a cache of fewer elements. (In its first record at some places only: a file that is
    // cut off and begun anew waits for the disk.)
    const std::size_t first = whole.find("text}");
    BOOST_TEST_REQUIRE(first > 100u);
    for (std::size_t n = 0; n <= whole.size(); n += n + 30 < first ? 29 : 1)
        BOOST_REQUIRE(right_or_refused(file, whole.substr(0, n), make, expected));
    // So is one of which zeros came to the disk.
    for (std::size_t n = whole.size() - 100; n < whole.size(); ++n)
        right_or_refused(file, whole.substr(0, n) + std::string(whole.size() - n, '\0'), make, expected);
    std::size_t refused = 0;
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const int bit : {0, 3, 7}) {
            std::string bad = whole;
            bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
            refused += !right_or_refused(file, bad, make, expected);
        }
    BOOST_TEST(refused > whole.size() * 2);
    BOOST_REQUIRE(right_or_refused(file, whole, make, expected));
}
BOOST_AUTO_TEST_CASE(damaged_files) {
    std::atomic<int> times{0};
    damaged_in_all_ways([&] { return data::range(5) | data::map(made{&times}); }, texts(count(5)));
    damaged_in_all_ways([&] { return data::range(8) | data::filter(odd) | data::map(made{&times}); },
                        texts({1, 3, 5, 7}));
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

BOOST_AUTO_TEST_CASE(a_killed_process_leaves_what_it_has_added) {
    const temporary_folder folder;
    const std::string file = folder / "a", other = folder / "b";
    std::atomic<int> times{0};
    killed_child([&] {
        auto s = by_number(times) | data::cache(file);
        static_cast<void>(rest(s, 0, 15));
        return s;
    });
    killed_child([&] {
        auto s = streamed(times) | data::cache(other);
        static_cast<void>(rest(s, 0, {}, 7));
        return s;
    });
    BOOST_TEST((elements_of(by_number(times) | data::cache(file)) == texts(count(20))));
    BOOST_TEST(times == 15);
    times = 0;
    BOOST_TEST((elements_of(streamed(times) | data::cache(other)) == texts(odd_numbers)));
    BOOST_TEST(times == 3);
}

BOOST_AUTO_TEST_CASE(one_of_two_pipelines_adds_and_the_other_sees_it) {
    const temporary_folder folder;
    const std::string file = folder / "a";
    std::atomic<int> times{0}, others{0};
    std::optional writer{by_number(times) | data::cache(file)};
    const auto reader = by_number(others) | data::cache(file);
    const auto half = rest(*writer, 0, 10);
    BOOST_TEST((rest(reader, 0, 10) == half));
    BOOST_TEST(times == 10);
    BOOST_TEST(others == 0);
    BOOST_TEST((rest(reader, 0) == texts(count(20))));
    BOOST_TEST(others == 10);   // which it cannot add
    BOOST_TEST((rest(reader, 0) == texts(count(20))));
    BOOST_TEST(others == 20);
    writer.reset();
    BOOST_TEST((rest(reader, 0) == texts(count(20))));   // now it can
    BOOST_TEST((rest(reader, 0) == texts(count(20))));
    BOOST_TEST(others == 30);
    reading::check(by_number(times) | data::cache(file), 0, texts(count(20)), 20);
    BOOST_TEST(times == 10);
}

BOOST_AUTO_TEST_CASE(several_processes_with_one_file) {
    const temporary_folder folder;
    std::atomic<int> times{0};
    for (int round = 0; round < 5; ++round) {
        const std::string file = folder / std::to_string(round);
        std::vector<pid_t> children;
        for (int n = 0; n < 3; ++n) {
            const pid_t child = ::fork();
            if (child == 0) {
                const auto s = by_number(times) | data::cache(file);
                bool good = true;
                for (int again = 0; again < 3; ++again) good = good && elements_of(s) == texts(count(20));
                ::_exit(good ? 0 : 1);
            }
            BOOST_REQUIRE(child > 0);
            children.push_back(child);
        }
        for (const pid_t child : children) {
            int status = 0;
            BOOST_TEST(::waitpid(child, &status, 0) == child);
            BOOST_TEST(status == 0);
        }
        const auto s = by_number(times) | data::cache(file);
        BOOST_TEST((elements_of(s) == texts(count(20))));
    }
    BOOST_TEST(times <= 60);   // of this process, in which the last of them may have left some
}

BOOST_AUTO_TEST_CASE(a_forked_child_reads_and_adds_nothing) {
    const temporary_folder folder;
    const std::string file = folder / "a";
    std::atomic<int> times{0};
    const auto s = by_number(times) | data::cache(file);
    BOOST_TEST(rest(s, 0, 15).size() == 5u);
    const std::string before = read_bytes(file);
    killed_child([&] {
        if (elements_of(s) != texts(count(20)) || times != 20) ::_exit(1);
        return s;
    });
    BOOST_TEST(read_bytes(file) == before);
    BOOST_TEST((elements_of(s) == texts(count(20))));
}

BOOST_AUTO_TEST_CASE(what_throws_is_not_kept) {
    const temporary_folder folder;
    const auto fails = [](i64 i) {
        if (i == 2) throw data_error("no 2", "here");
        return i;
    };
    const auto s = data::range(4) | data::map(fails) | data::cache(folder / "a");
    typename decltype(s)::state st{};
    s.begin(st, 0);
    for (int twice = 0; twice < 2; ++twice) {
        BOOST_CHECK_THROW(s.get(st, 2), data_error);
        BOOST_TEST(s.get(st, 3) == 3);
    }
}

BOOST_AUTO_TEST_CASE(large_elements_and_large_numbers) {
    using block = std::array<i64, 5000>;
    const auto s = data::from(i64{1} << 40, [](i64 i) { return block{i}; }) | data::cache();
    typename decltype(s)::state st{};
    s.begin(st, 0);
    for (const i64 i : {i64{0}, i64{3}, (i64{1} << 12) + 1}) {
        const block* const at = &s.get(st, i);
        BOOST_TEST((*at)[0] == i);
        BOOST_TEST(&s.get(st, i) == at);
    }
}

} // namespace cache_test
