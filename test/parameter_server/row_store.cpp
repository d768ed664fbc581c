// SPDX-License-Identifier: BSL-1.0
// shows servers: tables: admission, expiry, a full table, saves amid changes, files of changes
#include <boost/test/unit_test.hpp>
#include <sinter/parameter_server/row_store.hpp>
#include <map>
#include <random>
#include <set>

// A server's rows of tables: when they are made and given up, what has changed, and what becomes of them when there are
// other servers. The truth is a map that is written as the rules are.
using namespace sinter;
using namespace sinter::parameter_servers;

namespace {

constexpr int width = 3, slots = 2;
constexpr std::int64_t large = std::int64_t{1} << 60;   // keys that no float and no 32-bit number holds

void begin_row(std::int64_t key, float* to) {
    for (int j = 0; j < width; ++j) to[j] = static_cast<float>(key % 1000 * 10 + j);
}
row_store_setup setup(hashed_options o, int servers = 1, std::int64_t rows = -1) {
    row_store_setup s{width, slots, rows, o, servers, begin_row};
    s.first_slot = [](int k, const float* row, float* to) {
        for (int j = 0; j < width; ++j) to[j] = k ? row[j] : 0.f;
    };
    return s;
}
/// An update: adds 1 to the row and its slots, if there is one.
bool update(row_store& s, std::int64_t key, std::int64_t step) {
    const std::int32_t r = s.add(key, step);
    if (r < 0) return false;
    for (int j = 0; j < width; ++j) {
        ++s.values()[r * width + j];
        for (int k = 0; k < slots; ++k) ++s.slot(k)[r * width + j];
    }
    return true;
}
std::vector<float> read(const row_store& s, std::int64_t key) {
    std::vector<float> x(width);
    s.read(key, x.data());
    return x;
}

/// The same, told slowly.
struct truth {
    struct row { std::int64_t step; int updates; std::int64_t order; };
    hashed_options o;
    std::map<std::int64_t, row> rows;
    std::map<std::int64_t, int> seen;
    std::int64_t clock = 0;
    bool update(std::int64_t key, std::int64_t step) {
        if (!rows.count(key)) {
            if (o.admit_after > 1 && ++seen[key] < o.admit_after) return false;
            if (static_cast<int>(rows.size()) == o.most_rows) {
                if (o.full == when_full::refuse) return false;
                auto old = rows.begin();
                for (auto i = rows.begin(); i != rows.end(); ++i)
                    if (i->second.order < old->second.order) old = i;
                if (old->second.step >= step) return false;
                rows.erase(old);
            }
            seen.erase(key);
            rows[key] = {step, 0, 0};
        }
        row& r = rows[key];
        r.step = step, r.order = ++clock, ++r.updates;
        return true;
    }
    void expire(std::int64_t step) {
        if (o.expire_after > 0)
            std::erase_if(rows, [&](const auto& r) { return r.second.step < step - o.expire_after; });
    }
};
void check_same(const row_store& s, const truth& t) {
    BOOST_TEST_REQUIRE(s.size() == static_cast<std::int64_t>(t.rows.size()));
    for (const auto& [key, r] : t.rows) {
        const std::int32_t i = s.find(key);
        BOOST_TEST_REQUIRE(i >= 0);
        BOOST_TEST(s.keys()[static_cast<std::size_t>(i)] == key);
        BOOST_TEST(s.steps()[static_cast<std::size_t>(i)] == r.step);
        float first[width];
        begin_row(key, first);
        for (int j = 0; j < width; ++j) {
            BOOST_TEST(s.values()[i * width + j] == first[j] + float(r.updates));
            BOOST_TEST(s.slot(0)[i * width + j] == float(r.updates));
            BOOST_TEST(s.slot(1)[i * width + j] == first[j] + float(r.updates));
        }
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(a_row_is_made_by_the_nth_update) {
    row_store s(setup({.most_rows = 10, .admit_after = 3}));
    const std::int64_t key = large + 7;
    const std::vector<float> first = read(s, key);
    BOOST_TEST(first[1] == float((large + 7) % 1000 * 10 + 1));
    BOOST_TEST(!update(s, key, 1));
    BOOST_TEST(!update(s, key, 2));
    BOOST_TEST(s.find(key) == -1);
    BOOST_TEST(read(s, key) == first, boost::test_tools::per_element());   // reading makes and counts nothing
    BOOST_TEST(s.size() == 0);
    BOOST_TEST(update(s, key, 3));
    BOOST_TEST(read(s, key)[1] == first[1] + 1);
    BOOST_TEST(s.counts().waiting == 2);
    BOOST_TEST(s.find(key + 1) == -1);
    BOOST_TEST(s.find(key - large) == -1);   // no two keys are confused
}

BOOST_AUTO_TEST_CASE(a_full_table_refuses_or_evicts) {
    row_store full(setup({.most_rows = 2, .full = when_full::refuse}));
    BOOST_TEST(update(full, 1, 1));
    BOOST_TEST(update(full, 2, 2));
    BOOST_TEST(!update(full, 3, 3));
    BOOST_TEST(full.counts().refused == 1);
    BOOST_TEST(read(full, 3)[2] == 32.f);   // as it would begin

    row_store s(setup({.most_rows = 2, .full = when_full::evict}));
    BOOST_TEST(update(s, 1, 1));
    BOOST_TEST(update(s, 2, 2));
    BOOST_TEST(update(s, 1, 3));
    BOOST_TEST(update(s, 3, 4));   // 2 has rested longest
    BOOST_TEST(s.find(2) == -1);
    BOOST_TEST(read(s, 1)[0] == 12.f);
    BOOST_TEST(!update(s, 4, 4) == false);   // of step 4 is 3 alone: 1 goes
    BOOST_TEST(s.find(1) == -1);
    BOOST_TEST(!update(s, 5, 4));   // both are of this step: neither loses its row to the same push
    BOOST_TEST(s.counts().evicted == 2);
    BOOST_TEST(s.counts().refused == 1);
}

BOOST_AUTO_TEST_CASE(numbers_of_one_update_stay) {
    // a push asks for all its rows first and updates them then: rows that make way meanwhile move none of them
    row_store s(setup({.most_rows = 6, .full = when_full::evict}));
    for (std::int64_t k = 0; k < 6; ++k) update(s, k, 1);
    std::map<std::int64_t, std::int32_t> number;
    for (const std::int64_t k : {5, 10, 11, 4, 12, 13}) number[k] = s.add(k, 2);
    for (const auto& [k, r] : number) {
        BOOST_TEST_REQUIRE(r >= 0);
        BOOST_TEST(s.keys()[static_cast<std::size_t>(r)] == k);
        BOOST_TEST(s.find(k) == r);
    }
    BOOST_TEST(s.add(14, 2) == -1);
}

BOOST_AUTO_TEST_CASE(rows_expire) {
    row_store s(setup({.most_rows = 10, .expire_after = 5}));
    update(s, 1, 1), update(s, 2, 3), update(s, 3, 6);
    s.expire(6);
    BOOST_TEST(s.find(1) >= 0);
    s.expire(7);
    BOOST_TEST(s.find(1) == -1);
    BOOST_TEST(read(s, 2)[0] == 21.f);
    BOOST_TEST(read(s, 3)[0] == 31.f);
    s.expire(100);
    BOOST_TEST(s.size() == 0);
    BOOST_TEST(s.counts().expired == 3);
    BOOST_TEST(update(s, 1, 101));
    BOOST_TEST(read(s, 1)[0] == 11.f);   // it began anew
}

BOOST_AUTO_TEST_CASE(any_history_equals_slow_reference) {
    for (const hashed_options o :
         {hashed_options{.most_rows = 40}, hashed_options{.most_rows = 40, .full = when_full::evict},
          hashed_options{.most_rows = 60, .admit_after = 2, .expire_after = 30},
          hashed_options{.most_rows = 30, .admit_after = 3, .expire_after = 17, .full = when_full::evict}}) {
        std::mt19937_64 r(5);
        row_store s(setup(o));
        truth t{o, {}, {}, 0};
        for (std::int64_t step = 1; step < 400; ++step) {
            for (int i = 0; i < 6; ++i) {
                const std::int64_t key =
                    static_cast<std::int64_t>(r() % 4 ? r() % 20 : r() % 80) * (large / 64) - large;
                BOOST_TEST(update(s, key, step) == t.update(key, step));
            }
            if (step % 7 == 0) s.expire(step), t.expire(step);
            if (step % 50 == 0) check_same(s, t);
        }
        check_same(s, t);
    }
}

BOOST_AUTO_TEST_CASE(what_has_changed_since_a_step) {
    row_store s(setup({.most_rows = 5, .expire_after = 20, .full = when_full::evict}));
    for (std::int64_t k = 1; k <= 5; ++k) update(s, k, k);
    update(s, 2, 6);
    std::vector<std::int64_t> changed, removed;
    const auto since = [&](std::int64_t step) {
        changed.clear();
        s.for_each_since(step, [&](std::int32_t r, std::int64_t key) {
            BOOST_TEST(s.keys()[static_cast<std::size_t>(r)] == key);
            changed.push_back(key);
        });
        std::sort(changed.begin(), changed.end());
        return s.removed_since(step, removed);
    };
    BOOST_TEST(since(5));
    BOOST_TEST(changed == (std::vector<std::int64_t>{2, 5}), boost::test_tools::per_element());
    BOOST_TEST(removed.empty());
    update(s, 9, 7);   // 1 goes
    BOOST_TEST(since(7));
    BOOST_TEST(changed == std::vector<std::int64_t>{9}, boost::test_tools::per_element());
    BOOST_TEST(removed == std::vector<std::int64_t>{1}, boost::test_tools::per_element());
    update(s, 1, 8);   // comes back, 3 goes
    BOOST_TEST(since(7));
    BOOST_TEST(removed == std::vector<std::int64_t>{3}, boost::test_tools::per_element());
    for (std::int64_t k = 100; k < 130; ++k) update(s, k, k);
    BOOST_TEST(!since(7));   // too long ago: a whole export is needed
    BOOST_TEST(since(129));
}

BOOST_AUTO_TEST_CASE(known_rows_take_memory_when_they_are_updated) {
    constexpr std::int64_t rows = 500'000'000;   // of 12 bytes and two slots: 18 GB, if all were there
    row_store s(setup({}, 1, rows));
    BOOST_TEST(read(s, rows - 1)[0] == float((rows - 1) % 1000 * 10));
    BOOST_TEST(update(s, rows - 1, 1));
    BOOST_TEST(update(s, 0, 1));
    BOOST_TEST(s.size() == 2);
    BOOST_TEST(read(s, rows - 1)[0] == float((rows - 1) % 1000 * 10) + 1);
    BOOST_TEST(s.find(0) == 1);
    float slot[width];
    s.read_slot(17, 1, slot);
    BOOST_TEST(slot[2] == 172.f);
}

BOOST_AUTO_TEST_CASE(other_numbers_of_servers) {
    // every row goes from whichever server has it to whichever is to have it: no server sees them all
    const hashed_options o{.most_rows = 3000};
    std::vector<row_store> three;
    for (int i = 0; i < 3; ++i) three.emplace_back(setup(o, 3));
    truth t{o, {}, {}, 0};
    std::mt19937_64 r(3);
    for (std::int64_t step = 1; step <= 900; ++step) {
        const std::int64_t key = static_cast<std::int64_t>(r() % 1000) - 500 + large;
        update(three[static_cast<std::size_t>(server_of_key(key, 3))], key, step);
        t.update(key, step);
    }
    for (const int n : {1, 2, 5}) {
        std::set<std::int64_t> all;
        for (int me = 0; me < n; ++me) {
            row_store s(setup(o, n));
            for (const row_store& from : three)
                for (std::int32_t i = 0; i < from.size(); ++i)
                    if (const std::int64_t key = from.keys()[static_cast<std::size_t>(i)];
                        server_of_key(key, n) == me) {
                        const float* const of_slots[] = {from.slot(0) + i * width, from.slot(1) + i * width};
                        BOOST_TEST_REQUIRE(s.restore(key, from.steps()[static_cast<std::size_t>(i)],
                                                     from.values() + i * width, of_slots));
                    }
            s.order_by_age();
            truth part{o, {}, {}, 0};
            for (const auto& row : t.rows)
                if (server_of_key(row.first, n) == me) part.rows.insert(row);
            check_same(s, part);
            if (n > 1) BOOST_TEST(s.size() < static_cast<std::int64_t>(t.rows.size()) * 2 / n);   // evenly
            for (const std::int64_t k : s.keys()) BOOST_TEST(all.insert(k).second);
            std::int64_t newest = 1000;
            s.for_each_since(0, [&](std::int32_t i, std::int64_t) {
                BOOST_TEST(s.steps()[static_cast<std::size_t>(i)] <= newest);
                newest = s.steps()[static_cast<std::size_t>(i)];
            });
        }
        BOOST_TEST(all.size() == t.rows.size());
    }
}

BOOST_AUTO_TEST_CASE(counts_of_rare_keys_are_forgotten) {
    key_counter c(1);   // remembers 4096 new ones, and as many before
    BOOST_TEST(c.count(-1) == 1);
    for (std::int64_t k = 0; k < 4000; ++k) c.count(k);
    BOOST_TEST(c.count(-1) == 2);
    for (std::int64_t k = 4000; k < 8000; ++k) c.count(k);
    BOOST_TEST(c.count(-1) == 3);
    c.forget(-1);
    BOOST_TEST(c.count(-1) == 1);
    for (std::int64_t k = 8000; k < 18000; ++k) c.count(k);
    BOOST_TEST(c.count(-1) == 1);
}

BOOST_AUTO_TEST_CASE(senseless_options_are_refused) {
    BOOST_CHECK_THROW(row_store(setup({.most_rows = 0})), option_error);
    BOOST_CHECK_THROW(row_store(setup({.admit_after = 0})), option_error);
    BOOST_CHECK_THROW(row_store(setup({.expire_after = -1})), option_error);
    BOOST_CHECK_THROW(row_store(row_store_setup{0, 0, 10}), option_error);
    BOOST_CHECK_THROW(row_store(row_store_setup{1, 0, std::int64_t{1} << 31}), option_error);
}

BOOST_AUTO_TEST_CASE(slots_that_copy_a_row_begin_anew_with_it) {
    row_store_setup with_averages = setup({}, 1, 10);
    with_averages.copies = {1};
    row_store s(with_averages);
    const float pretrained[width] = {7, 8, 9};
    update(s, 4, 1);
    for (const std::int64_t key : {3, 4}) {   // one that no update has made, and one that has had some
        const float other = s.find(key) < 0 ? 0.f : s.slot(0)[s.find(key) * width];
        const std::int32_t r = s.write(key, pretrained, 2);
        BOOST_REQUIRE(r >= 0);
        for (int j = 0; j < width; ++j) {
            BOOST_TEST(s.values()[r * width + j] == pretrained[j]);
            BOOST_TEST(s.slot(1)[r * width + j] == pretrained[j]);
            BOOST_TEST(s.slot(0)[r * width + j] == other);
        }
    }
}

/// Copies that are made a few rows at a time while the store goes on: several at once, each of its own moment.
BOOST_AUTO_TEST_CASE(a_copy_that_is_made_while_rows_change_is_of_one_moment) {
    struct copy {
        std::shared_ptr<kept_rows> kept;
        std::vector<std::int64_t> keys, steps;
        std::vector<float> arrays[1 + slots];
    };
    std::mt19937 random(7);
    const auto below = [&](std::size_t n) { return static_cast<std::int64_t>(random() % n); };
    for (const bool hashed : {true, false}) {
        row_store s(setup({.most_rows = 40, .expire_after = 30}, 1, hashed ? -1 : 60));
        std::vector<copy> copies;
        const auto check = [&](const copy& c) {
            const auto n = c.keys.size(), floats = n * width;
            for (int part = 0; part < 8; ++part) {
                const auto from = static_cast<std::size_t>(below(n + 1)),
                           m = static_cast<std::size_t>(below(n - from + 1));
                std::vector<std::int64_t> x(m);
                s.keys_of(*c.kept, std::int64_t(from), {x.data(), m});
                BOOST_TEST(std::equal(x.begin(), x.end(), c.keys.begin() + std::ptrdiff_t(from)));
                s.steps_of(*c.kept, std::int64_t(from), {x.data(), m});
                BOOST_TEST(std::equal(x.begin(), x.end(), c.steps.begin() + std::ptrdiff_t(from)));
                const auto first = static_cast<std::size_t>(below(floats + 1)),
                           some = static_cast<std::size_t>(below(floats - first + 1));
                for (int a = 0; a <= slots; ++a) {   // parts of rows, too
                    std::vector<float> y(some);
                    s.floats_of(*c.kept, a, std::int64_t(first), {y.data(), some});
                    BOOST_TEST(std::equal(y.begin(), y.end(), c.arrays[a].begin() + std::ptrdiff_t(first)));
                }
            }
        };
        std::int64_t changed = 0;
        for (std::int64_t step = 0; step < 3000; ++step) {
            for (int i = 0; i < 2; ++i) changed += update(s, below(60), step);
            const std::vector<float> x(width, static_cast<float>(step));
            if (step % 7 == 0) s.write(below(60), x.data(), step);
            s.expire(step);
            if (step % 500 == 499) s.clear();
            if (step % 10 == 0 && copies.size() < 3) {
                copy c{s.keep_changes(), {s.keys().begin(), s.keys().end()}, {s.steps().begin(), s.steps().end()}, {}};
                for (int a = 0; a <= slots; ++a) {
                    const float* const from = a == 0 ? s.values() : s.slot(a - 1);
                    c.arrays[a].assign(from, from + s.size() * width);
                }
                copies.push_back(std::move(c));
            }
            if (step % 5 == 0 && !copies.empty()) check(copies[static_cast<std::size_t>(below(copies.size()))]);
            if (step % 23 == 0 && !copies.empty()) {
                const auto i = copies.begin() + below(copies.size());
                check(*i);
                s.release(i->kept);
                copies.erase(i);
            }
        }
        BOOST_TEST(changed > 1000);
    }
}
