// SPDX-License-Identifier: BSL-1.0
// shows data: take, skip, shard, repeat, zip, window, flat_map and scan move elements as plain vectors would
#define BOOST_TEST_MODULE data_stages_moving
#include <boost/test/unit_test.hpp>
#include "data/stages/reading.hpp"
#include <sinter/data/stages/concatenate.hpp>
#include <sinter/data/stages/enumerate.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/repeat.hpp>
#include <sinter/data/stages/scan.hpp>
#include <sinter/data/stages/shard.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/skip.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <sinter/data/stages/take_while.hpp>
#include <sinter/data/stages/unbatch.hpp>
#include <sinter/data/stages/window.hpp>
#include <sinter/data/stages/zip.hpp>

using namespace sinter;

namespace {

using reading::check;
using reading::dice;
using reading::i64;
using reading::joined;
using reading::rest;
using reading::those;
using numbers = std::vector<i64>;

constexpr int draws = 300;
/// f(dice) for so many draws; a failure names its seed.
template <class F>
void for_each_draw(F f) {
    for (std::uint64_t seed = 1; seed <= draws; ++seed)
        BOOST_TEST_CONTEXT("seed " << seed) {
            dice d(seed);
            f(d);
        }
}

/// All but those divisible by `by`; by == 1 leaves nothing.
auto without(i64 by) {
    return data::filter([by](i64 e) { return e % by != 0; });
}
numbers counted(i64 n) {
    numbers all;
    while (i64(all.size()) < n) all.push_back(i64(all.size()));
    return all;
}
numbers without(numbers all, i64 by) {
    return those(all, [&](i64 e, i64) { return e % by != 0; });
}

// The models look at elements' numbers where the stages count.
template <class T>
std::vector<T> taken(const std::vector<T>& all, i64 n) {
    return those(all, [&](const T&, i64 i) { return n < 0 || i < n; });
}
template <class T>
std::vector<T> skipped(const std::vector<T>& all, i64 n) {
    return those(all, [&](const T&, i64 i) { return n >= 0 && i >= n; });
}
template <class T>
std::vector<T> sharded(const std::vector<T>& all, i64 n, i64 of) {
    return those(all, [&](const T&, i64 i) { return i % n == of; });
}
template <class T>
std::vector<std::tuple<i64, T>> enumerated(const std::vector<T>& all, i64 start) {
    std::vector<std::tuple<i64, T>> r;
    for (const T& e : all) r.emplace_back(start++, e);
    return r;
}
template <class A, class B>
std::vector<std::tuple<A, B>> zipped(const std::vector<A>& a, const std::vector<B>& b) {
    std::vector<std::tuple<A, B>> r;
    while (r.size() < a.size() && r.size() < b.size()) r.emplace_back(a[r.size()], b[r.size()]);
    return r;
}
/// As tf.data says it: elements first, first + stride, ... for first = 0, shift, 2 shift, ...
std::vector<numbers> windows(const numbers& all, i64 size, i64 shift, i64 stride, bool drop) {
    std::vector<numbers> r;
    for (i64 first = 0; first < i64(all.size()); first += shift) {
        numbers w;
        for (i64 i = first; i < i64(all.size()) && i64(w.size()) < size; i += stride) w.push_back(all[std::size_t(i)]);
        if (!drop || i64(w.size()) == size) r.push_back(w);
    }
    return r;
}
template <class T>
i64 count(const std::vector<T>& all) { return i64(all.size()); }

struct drawn_window {
    i64 size, shift, stride;
    bool drop;
    explicit drawn_window(dice& d) : size(d(1, 4)), shift(d(0, 5)), stride(d(1, 3)), drop(d(0, 1) == 1) {}
    data::window_step step() const {
        return data::window(size, {.shift = shift, .stride = stride, .drop_remainder = drop});
    }
    std::vector<numbers> of(const numbers& all) const {
        return windows(all, size, shift ? shift : size, stride, drop);
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(take_skip_shard_and_enumerate_by_number) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 25), s = d(-1, 9), t = d(-1, 15), shards = d(1, 4), of = d(0, shards - 1), start = d(-3, 3);
        const auto expected = enumerated(sharded(taken(skipped(counted(n), s), t), shards, of), start);
        check(data::range(n) | data::skip(s) | data::take(t) | data::shard(shards, of) | data::enumerate(start),
              d(0, 3), expected, count(expected));
    });
}

BOOST_AUTO_TEST_CASE(take_skip_shard_and_enumerate_of_a_stream) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 25), by = d(1, 4), s = d(-1, 9), t = d(-1, 15), shards = d(1, 4), of = d(0, shards - 1);
        const auto expected = enumerated(sharded(taken(skipped(without(counted(n), by), s), t), shards, of), 0);
        const bool known = s == -1 || t == 0;
        check(data::range(n) | without(by) | data::skip(s) | data::take(t) | data::shard(shards, of) |
                  data::enumerate(),
              0, expected, known ? 0 : data::unknown_size);
    });
}

BOOST_AUTO_TEST_CASE(repetitions_are_passes_of_their_own) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 6), times = d(1, 4), t = d(0, 20), pass = d(0, 3), by = d(1, 3);
        const auto once = data::range(n) | data::shuffle({.seed = 7});
        numbers all, kept, for_ever;
        for (i64 k = 0; k < times; ++k) {
            const numbers of = rest(once, pass * times + k);
            all = joined(all, of);
            kept = joined(kept, without(of, by));
        }
        for (i64 k = 0; n > 0 && count(for_ever) < t; ++k)
            for_ever = joined(for_ever, rest(once, (pass << 32) + k));
        check(once | data::repeat(times), pass, all, count(all));
        check(once | data::repeat(times) | data::take(t), pass, taken(all, t), count(taken(all, t)));
        check(once | without(by) | data::repeat(times), pass, kept, data::unknown_size);
        check(once | data::repeat() | data::take(t), pass, taken(for_ever, t), n > 0 ? t : 0);
    });
}

BOOST_AUTO_TEST_CASE(repetitions_without_end) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 9), by = d(1, 4), t = d(0, 12), pass = d(0, 2);
        const auto once = data::range(n) | data::shuffle() | without(by);
        numbers all;
        for (i64 k = 0; !without(counted(n), by).empty() && count(all) < t; ++k)
            all = joined(all, rest(once, (pass << 32) + k));
        check(once | data::repeat() | data::take(t), pass, taken(all, t), t > 0 ? data::unknown_size : 0);
    });
}

BOOST_AUTO_TEST_CASE(shuffled_repetitions_can_be_shuffled_again) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 4), times = d(1, 20);
        const auto inner = data::range(n) | data::shuffle({.seed = 1}) | data::repeat(times);
        const numbers in_order = rest(inner, 2);
        numbers expected;
        for (const i64 at : rest(data::range(n * times) | data::shuffle({.seed = 2}), 2))
            expected.push_back(in_order[std::size_t(at)]);
        check(inner | data::shuffle({.seed = 2}), 2, expected, n * times);
    });
}

BOOST_AUTO_TEST_CASE(random_numbers_of_a_repetition_are_those_of_its_pass) {
    for_each_draw([](dice& d) {
        const i64 n = d(1, 5), times = d(1, 4), pass = d(0, 2);
        const auto noisy = data::range(n) | data::map([](i64 e, random_stream& r) { return 100 * e + r.below(100); });
        std::vector<i64> expected;
        for (i64 k = 0; k < times; ++k) expected = joined(expected, rest(noisy, pass * times + k));
        check(noisy | data::repeat(times), pass, expected, n * times);
        check(noisy | data::filter([](i64) { return true; }) | data::repeat(times), pass, expected, data::unknown_size);
    });
}

BOOST_AUTO_TEST_CASE(zip_of_pipelines_found_by_number) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 9), m = d(0, 3), shards = d(1, 3), of = d(0, shards - 1), pass = d(0, 2);
        const auto a = data::range(n) | data::shard(shards, of);
        const auto b = data::range(m) | data::shuffle() | data::repeat();
        const auto expected = zipped(sharded(counted(n), shards, of), rest(b, pass, {}, 10));
        check(data::zip(a, b), pass, expected, count(expected));
        BOOST_TEST(data::zip(b, b).size() == (m > 0 ? data::endless : 0));
    });
}

BOOST_AUTO_TEST_CASE(zip_of_streams) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 9), m = d(0, 9), by = d(1, 4), pass = d(0, 2);
        const auto a = data::range(n) | without(by);
        const auto b = data::range(m) | data::shuffle();
        const numbers of_a = without(counted(n), by), of_b = rest(b, pass);
        check(data::zip(a, b), pass, zipped(of_a, of_b), data::unknown_size);
        check(data::zip(b, a), pass, zipped(of_b, of_a), data::unknown_size);
    });
}

BOOST_AUTO_TEST_CASE(concatenate_adds_pipelines) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 6), m = d(0, 6), by = d(1, 3), times = d(1, 3), pass = d(0, 2);
        const auto a = data::range(n) | data::shuffle();
        const auto b = data::range(10, 10 + m);
        const numbers of_b = rest(b, 0);
        const numbers two = joined(rest(a, pass), of_b);
        check(data::concatenate(a, b), pass, two, n + m);
        check(data::concatenate(b, a, b), pass, joined(of_b, two), n + 2 * m);
        numbers streamed;
        for (i64 k = 0; k < times; ++k)
            streamed = joined(streamed, joined(without(of_b, by), rest(a, pass * times + k)));
        check(data::concatenate(b | without(by), a) | data::repeat(times), pass, streamed, data::unknown_size);
    });
}

BOOST_AUTO_TEST_CASE(windows_found_by_number) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 15);
        const drawn_window w(d);
        const auto expected = w.of(counted(n));
        check(data::range(n) | w.step(), 0, expected, count(expected));
        check(data::from(data::endless, [](i64 i) { return i; }) | w.step() | data::take(3), 0,
              taken(w.of(counted(100)), 3), 3);
    });
}

BOOST_AUTO_TEST_CASE(windows_of_a_stream) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 20), by = d(1, 5), t = d(-1, 9), times = d(1, 3), pass = d(0, 2);
        const drawn_window w(d);
        const auto up = data::range(n) | data::shuffle() | without(by);
        std::vector<numbers> all;
        for (i64 k = 0; k < times; ++k) all = joined(all, w.of(rest(up, pass * times + k)));
        check(up | w.step(), pass, w.of(rest(up, pass)), data::unknown_size);
        check(up | w.step() | data::repeat(times) | data::take(t), pass, taken(all, t),
              t == 0 ? 0 : data::unknown_size);
    });
}

BOOST_AUTO_TEST_CASE(windows_of_windows_and_back) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 15), by = d(1, 5), s = d(0, 5);
        const drawn_window w(d);
        numbers indexed, streamed;
        for (const numbers& one : w.of(counted(n))) indexed = joined(indexed, one);
        for (const numbers& one : w.of(without(counted(n), by))) streamed = joined(streamed, one);
        check(data::range(n) | w.step() | data::unbatch() | data::skip(s), 0, skipped(indexed, s),
              data::range(n).size() == 0 || w.of(counted(n)).empty() ? 0 : data::unknown_size);
        check(data::range(n) | without(by) | w.step() | data::unbatch(), 0, streamed, data::unknown_size);
    });
}

BOOST_AUTO_TEST_CASE(flat_map_and_take_while) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 9), most = d(0, 10), by = d(1, 4), times = d(1, 3), pass = d(0, 2);
        const auto up = data::range(n) | data::shuffle();
        const auto several = [by](i64 e) { return numbers(std::size_t(e % by), e); };
        numbers flat, last, repeated;
        for (i64 k = 0; k < times; ++k) {
            flat = {};
            for (const i64 e : rest(up, pass * times + k)) flat = joined(flat, several(e));
            i64 end = 0;
            while (end < count(flat) && flat[std::size_t(end)] != most) ++end;
            last = taken(flat, end);
            repeated = joined(repeated, last);
        }
        const auto flattened = up | data::flat_map(several);
        check(flattened, pass * times + times - 1, flat, n ? data::unknown_size : 0);
        const auto some = flattened | data::take_while([most](i64 e) { return e != most; });
        check(some, pass * times + times - 1, last, n ? data::unknown_size : 0);
        check(some | data::repeat(times), pass, repeated, n ? data::unknown_size : 0);
    });
}

BOOST_AUTO_TEST_CASE(arrays_become_elements_that_are_found_by_number) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 6), pass = d(0, 2), s = d(0, 7);
        using three = std::array<i64, 3>;
        const auto triple = [](i64 e) { return three{e, -e, 100 * e}; };
        const auto arrays = data::range(n) | data::shuffle() | data::map(triple);
        numbers flat, shuffled;
        for (const three& a : rest(arrays, pass)) flat = joined(flat, numbers(a.begin(), a.end()));
        for (const i64 at : rest(data::range(3 * n) | data::shuffle({.seed = 5}), pass))
            shuffled.push_back(flat[std::size_t(at)]);
        check(arrays | data::unbatch() | data::skip(s), pass, skipped(flat, s), count(skipped(flat, s)));
        check(arrays | data::unbatch() | data::shuffle({.seed = 5}), pass, shuffled, 3 * n);
        check(data::range(n) | data::shuffle() | data::flat_map(triple), pass, flat, 3 * n);
        check(data::range(n) | data::shuffle() | data::take_while([](i64) { return true; }) | data::flat_map(triple),
              pass, flat, n ? data::unknown_size : 0);
    });
}

BOOST_AUTO_TEST_CASE(scan_remembers) {
    for_each_draw([](dice& d) {
        const i64 n = d(0, 12), by = d(1, 4), times = d(1, 3), initial = d(-5, 5), pass = d(0, 2);
        const auto step = [](i64 sum, i64 e) { return std::pair(2 * sum + e, std::tuple(sum, e)); };
        const auto model = [&](const numbers& all) {
            std::vector<std::tuple<i64, i64>> r;
            i64 sum = initial;
            for (const i64 e : all) r.emplace_back(sum, e), sum = sum + sum + e;
            return r;
        };
        const auto up = data::range(n) | data::shuffle();
        numbers kept;
        std::vector<std::tuple<i64, i64>> within;
        for (i64 k = 0; k < times; ++k) {
            kept = joined(kept, without(rest(up, pass * times + k), by));
            within = joined(within, model(without(rest(up, pass * times + k), by)));
        }
        check(up | data::scan(initial, step), pass, model(rest(up, pass)), n);
        check(up | without(by) | data::repeat(times) | data::scan(initial, step), pass, model(kept),
              data::unknown_size);
        check(up | without(by) | data::scan(initial, step) | data::repeat(times), pass, within, data::unknown_size);
    });
}
