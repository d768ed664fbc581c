// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE row_team
#include <boost/test/unit_test.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>

// Threads that compute rows of batches: whatever their number, the caller gets what it would have got without them.
using namespace sinter;

namespace {

struct row {
    std::array<float, 2> x;
    std::int32_t number;
};
constexpr port_info inputs[] = {{.s = {.rank = 1, .d = {2}}}}, targets[] = {{.s = {.type = dtype::i32}}};
constexpr data::model_ports ports{{inputs, 1}, {targets, 1}};

/// What a call of next() gave: a batch, the end of a pass, or what it threw; and where the pipeline is then.
struct outcome {
    std::vector<float> x;
    std::vector<std::int32_t> numbers;
    std::string error;
    data::position after;
    bool operator==(const outcome&) const = default;
};
std::ostream& operator<<(std::ostream& to, const outcome& o) {
    to << o.numbers.size() << " rows";
    if (!o.numbers.empty()) to << " from " << o.numbers[0];
    return to << ", " << o.error << " (" << o.after.epoch << ", " << o.after.index << ")";
}
outcome next_of(data::pipeline& p) {
    outcome o;
    try {
        if (const data::batch_view* b = p.next()) {
            o.x.assign(b->x, b->x + 2 * b->size);
            o.numbers.assign(b->labels, b->labels + b->size);
        }
    } catch (const std::exception& e) {
        o.error = e.what();
    }
    o.after = p.position();
    return o;
}
std::vector<outcome> outcomes(data::pipeline& p, int n) {
    std::vector<outcome> all;
    for (int i = 0; i < n; ++i) all.push_back(next_of(p));
    return all;
}
void check_equal(const std::vector<outcome>& a, const std::vector<outcome>& b) {
    BOOST_TEST_REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) BOOST_TEST_REQUIRE(a[i] == b[i], i << ": " << a[i] << "; " << b[i]);
}

/// The same where the cursors of streams are not known.
std::vector<outcome> without_cursors(std::vector<outcome> all) {
    for (outcome& o : all) o.after.cursors.clear();
    return all;
}

row numbered(std::int64_t i) {
    const auto n = static_cast<std::int32_t>(i);
    return {{static_cast<float>(n) / 7, static_cast<float>(n % 13)}, n};
}
/// Rows with random numbers in another order, of which some are left out.
auto many(std::int64_t n) {
    return data::from(n, numbered)
        | data::map([](const row& r, random_stream& random) { return row{{r.x[0], random.uniform()}, r.number}; }, 5)
        | data::shuffle({.seed = 3})
        | data::filter([](const row& r) { return r.x[1] < 0.7f && r.number % 5 != 2; })
        | data::map([](const row& r) { return row{{r.x[0] * 2, r.x[1]}, r.number}; });
}

template <class Stages>
struct with_options {
    Stages stages;
    int size;
    bool drop = false;
    /// threads: 0, the caller's; -1, as many as are of use.
    auto made(int threads, int depth) const {
        auto b = stages | data::batch(size, {.drop_remainder = drop});
        auto ahead = depth ? std::move(b) | data::prefetch(depth) : std::move(b);
        if (threads < 0) return std::move(ahead) | data::parallel();
        return threads ? std::move(ahead) | data::parallel(threads) : std::move(ahead);
    }
};
template <class Stages>
with_options(Stages, int) -> with_options<Stages>;
template <class Stages>
with_options(Stages, int, bool) -> with_options<Stages>;

/// The same outcomes for any threads and depths. The first are the caller's own.
template <class Stages>
std::vector<outcome> same_for_all(const with_options<Stages>& p, int calls) {
    auto own = p.made(0, 0);
    const std::vector<outcome> expected = outcomes(data::pipeline_for<ports>(own), calls);
    for (const int threads : {0, 1, 2, 8, -1})
        for (const int depth : {0, 1, 3}) {
            auto b = p.made(threads, depth);
            BOOST_TEST_CONTEXT(threads << " threads, " << depth << " ahead")
                check_equal(outcomes(data::pipeline_for<ports>(b), calls), expected);
        }
    return expected;
}

/// What `many` must give, said once more: passes of batches of 16.
std::vector<outcome> expected_of_many(int n, int passes) {
    std::vector<outcome> all;
    for (int pass = 0; pass < passes; ++pass) {
        const auto order = base::stored_permutation(static_cast<std::uint32_t>(n),
                                                    base::stream(3, base::fnv1a("data/shuffle")), pass);
        outcome o;
        std::int64_t kept = 0;
        const auto end_batch = [&] {
            o.after = {pass, kept};
            if (!o.numbers.empty()) all.push_back(o);
            o = {};
        };
        for (const std::uint32_t i : order) {
            const std::uint64_t key = base::stream(5, base::fnv1a("data/map"));
            const auto b = base::philox_at(key, i, static_cast<std::uint64_t>(pass));
            random_stream random((std::uint64_t{b.word[1]} << 32) | b.word[0]);
            const float drawn = random.uniform();
            if (!(drawn < 0.7f) || i % 5 == 2) continue;
            o.x.push_back(static_cast<float>(i) / 7 * 2);
            o.x.push_back(drawn);
            o.numbers.push_back(static_cast<std::int32_t>(i));
            ++kept;
            if (o.numbers.size() == 16) end_batch();
        }
        end_batch();
        all.push_back({{}, {}, {}, {pass + 1, 0}});
    }
    return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(threads_change_no_byte) {
    const std::vector<outcome> expected = expected_of_many(997, 3);
    const auto calls = static_cast<int>(expected.size());
    check_equal(without_cursors(same_for_all(with_options{many(997), 16}, calls)), expected);
}

BOOST_AUTO_TEST_CASE(small_sources_and_remainders) {
    for (const bool drop : {false, true})
        for (const int n : {0, 1, 2, 7, 8, 9, 16, 17}) {
            const auto all = same_for_all(with_options{data::from(n, numbered), 8, drop}, 12);
            const int batches = n / 8 + (n % 8 && !drop);   // in each pass
            for (int i = 0; i < 12; ++i) {
                const int pass = i / (batches + 1), b = i % (batches + 1);
                const outcome& o = all[static_cast<std::size_t>(i)];
                BOOST_TEST(static_cast<int>(o.numbers.size()) == (b == batches ? 0 : std::min(8, n - 8 * b)));
                BOOST_TEST((o.after == (b == batches ? data::position{pass + 1, 0}
                                                     : data::position{pass, std::min(8 * b + 8, n)})));
                for (std::size_t r = 0; r < o.numbers.size(); ++r)
                    BOOST_TEST(o.numbers[r] == 8 * b + static_cast<int>(r));
            }
        }
}

BOOST_AUTO_TEST_CASE(a_pass_that_never_ends) {
    same_for_all(with_options{data::from(data::endless, numbered), 32}, 40);
    auto none = data::from(9, numbered) | data::filter([](const row&) { return false; });
    const auto all = same_for_all(with_options{none, 4}, 5);
    for (int i = 0; i < 5; ++i) BOOST_TEST((all[static_cast<std::size_t>(i)].after == data::position{i + 1, 0}));
}

BOOST_AUTO_TEST_CASE(goes_on_from_every_position) {
    const with_options p{many(150), 16};
    auto read = p.made(0, 0);
    const std::vector<outcome> expected = outcomes(data::pipeline_for<ports>(read), 21);
    check_equal(without_cursors(expected), expected_of_many(150, 3));
    BOOST_TEST(!expected[2].after.cursors.empty());
    const auto goes_on = [&](int threads, int depth, bool cursors) {
        const auto behind = [&](std::size_t i) {
            data::position at = expected[i].after;
            if (!cursors) at.cursors.clear();   // as files of older versions have it: what lies before is read again
            return at;
        };
        auto used = p.made(threads, depth);
        data::pipeline& again = data::pipeline_for<ports>(used);
        for (std::size_t from = expected.size() - 1; from > 0; --from) {
            const auto rest = expected.begin() + static_cast<std::ptrdiff_t>(from);
            const std::ptrdiff_t n = std::min<std::ptrdiff_t>(3, expected.end() - rest);
            again.seek(behind(from - 1));   // while threads are at work for another place
            check_equal(outcomes(again, static_cast<int>(n)), {rest, rest + n});
        }
        used.rewind();
        check_equal(outcomes(again, static_cast<int>(expected.size())), expected);
        auto fresh = p.made(threads, depth);
        fresh.seek(behind(4));   // before there is a pipeline
        BOOST_TEST((fresh.position() == behind(4)));
        BOOST_TEST(next_of(data::pipeline_for<ports>(fresh)) == expected[5]);
    };
    for (const int threads : {0, 1, 2, 8})
        for (const int depth : {1, 4})
            for (const bool cursors : {true, false}) goes_on(threads, depth, cursors);
}

BOOST_AUTO_TEST_CASE(a_place_is_found_without_reading_what_lies_before) {
    std::atomic<int> asked{0};
    const auto is_even = [&](const row& r) { return ++asked, r.number % 2 == 0; };
    auto b = data::from(100'000, numbered) | data::filter(is_even) | data::batch(100);
    data::pipeline& p = data::pipeline_for<ports>(b);
    for (int i = 0; i < 400; ++i) p.next();
    const data::position at = p.position();
    asked = 0;
    p.seek(at);
    BOOST_TEST(p.next()->labels[0] == 80'000);
    BOOST_TEST(asked <= 200);
    data::position other = at;
    other.cursors += 'x';
    BOOST_CHECK_THROW(p.seek(other), format_error);
    BOOST_CHECK_THROW(b.seek(other), format_error);
    BOOST_TEST((p.position().index == 40'100));   // where it was
    BOOST_TEST(p.next()->labels[0] == 80'200);
    auto indexed = data::from(9, numbered) | data::batch(4);
    BOOST_CHECK_THROW(indexed.seek(at), format_error);
    BOOST_CHECK_THROW(data::pipeline_for<ports>(indexed).seek(at), format_error);
}

BOOST_AUTO_TEST_CASE(an_error_comes_out_of_its_batch_and_the_next_call_begins_there) {
    for (const int threads : {0, 1, 2, 8})
        for (const bool taking : {false, true})
            for (int k = 0; k < 40; k += 3) {
                std::atomic<int> broken{k};
                const auto look = [&](const row& r, bool mine) {
                    if (mine && r.number == broken) throw data_error("cannot decode", "row");
                };
                auto stages = data::from(40, numbered)
                    | data::filter([&](const row& r) { return look(r, taking), true; })
                    | data::map([&](const row& r) { return look(r, !taking), r; });
                auto b = stages | data::batch(8) | data::prefetch(3) | data::parallel(threads ? threads : 1);
                data::pipeline& p = data::pipeline_for<ports>(b);
                for (int whole = 0; whole < k / 8; ++whole) BOOST_TEST(next_of(p).numbers.at(0) == 8 * whole);
                for (int again = 0; again < 2; ++again) {
                    BOOST_CHECK_THROW(p.next(), data_error);
                    BOOST_TEST(p.position().index == k / 8 * 8);
                }
                broken = -1;
                for (int rest = k / 8; rest < 5; ++rest) BOOST_TEST(next_of(p).numbers.at(0) == 8 * rest);
                BOOST_TEST(p.next() == nullptr);
            }
}

BOOST_AUTO_TEST_CASE(of_several_errors_the_same_one_for_any_threads) {
    random_stream random(17, 0);
    for (int round = 0; round < 12; ++round) {
        std::set<std::int32_t> when_taken, when_filled;
        for (std::int32_t i = 0; i < 60; ++i) {
            if (random.below(30) == 0) when_taken.insert(i);
            if (random.below(20) == 0) when_filled.insert(i);
        }
        const auto look = [](const row& r, const std::set<std::int32_t>& faults, const char* what) {
            if (faults.contains(r.number)) throw data_error(what, to_text({r.number}));
        };
        auto stages = data::from(60, numbered)
            | data::filter([&](const row& r) { return look(r, when_taken, "cannot ask"), r.number % 3 != 0; })
            | data::map([&](const row& r) { return look(r, when_filled, "cannot decode"), r; });
        for (const bool drop : {false, true}) same_for_all(with_options{stages, 16, drop}, 5);
    }
}

BOOST_AUTO_TEST_CASE(no_error_of_rows_that_are_dropped) {
    const auto last_fails = data::from(20, numbered) | data::map([](const row& r) {
        if (r.number >= 16) throw data_error("cannot decode", "row");
        return r;
    });
    for (const outcome& o : same_for_all(with_options{last_fails, 8, true}, 9)) BOOST_TEST(o.error == "");
}

namespace {
/// A source whose second pass cannot begin at first.
class refuses final : public data::row_source {
public:
    explicit refuses(std::atomic<bool>& broken) : broken_(&broken) { columns_.targets(extents(1)); }
    const data::column_list& columns() const override { return columns_; }
    std::int64_t size() const override { return 8; }
    void prepare(int, int, int) override {}
    void start(const data::position& at) override {
        if (at.epoch == 1 && *broken_) throw io_error("cannot open", "pass 1");
        at_ = static_cast<int>(at.index);
    }
    void save_cursors(std::string&) const override {}
    void need_cursors(const std::string&) const override {}
    int take(int, int, int n) override {
        const int got = std::min(n, 8 - at_);
        at_ += got;
        return got;
    }
    void fill(int, int, int, int, data::batch_buffer&, int) override {}
    void describe(description&) const override {}

private:
    data::column_list columns_;
    std::atomic<bool>* broken_;
    int at_ = 0;
};
} // namespace

BOOST_AUTO_TEST_CASE(a_pass_that_cannot_begin_does_not_hide_the_end_of_the_one_before) {
    for (const int threads : {0, 1, 4}) {
        std::atomic<bool> broken{true};
        auto rows = std::make_unique<refuses>(broken);
        data::pipeline p((threads ? data::team_of_rows(std::move(rows), 4, false, {.threads = threads, .depth = 3})
                                  : data::batches_of_rows(std::move(rows), 4, false)).release());
        BOOST_TEST(p.next());
        BOOST_TEST(p.next());
        BOOST_TEST(!p.next());
        BOOST_CHECK_THROW(p.next(), io_error);
        BOOST_CHECK_THROW(p.next(), io_error);
        BOOST_TEST((p.position() == data::position{1, 0}));
        broken = false;
        BOOST_TEST(p.next());
        BOOST_TEST((p.position() == data::position{1, 4}));
        p.seek({1, 4});
        BOOST_TEST(p.next());
        BOOST_TEST(!p.next());
        BOOST_TEST(p.next());
    }
}

BOOST_AUTO_TEST_CASE(as_far_ahead_as_asked_for_and_left_there) {
    for (const int threads : {1, 2, 8}) {
        for (const int depth : {1, 3}) {
            std::atomic<int> computed{0};
            auto b = data::from(1000, numbered) | data::map([&](const row& r) { return ++computed, r; })
                | data::batch(4) | data::prefetch(depth) | data::parallel(threads);
            data::pipeline& p = data::pipeline_for<ports>(b);
            for (int had = 1; had <= 50; ++had) {
                BOOST_REQUIRE(p.next());
                while (computed < 4 * (had + depth / 2)) std::this_thread::yield();   // half of them are never missing
                BOOST_REQUIRE(computed <= 4 * (had + depth));
            }
        }   // ended while the team is full
        for (int had = 0; had < 3; ++had) {   // and while it is at work
            auto b = many(997) | data::batch(16) | data::parallel(threads);
            for (int i = 0; i < had; ++i) data::pipeline_for<ports>(b).next();
        }
    }
}

BOOST_AUTO_TEST_CASE(models_of_other_ports_find_the_batches_where_they_are) {
    static constexpr data::model_ports only_inputs{{inputs, 1}, {}, true};
    static constexpr port_info other_targets[] = {{.s = {.type = dtype::i32}, .below = 1000}};
    static constexpr data::model_ports others{{inputs, 1}, {other_targets, 1}};
    for (const int threads : {0, 2}) {
        auto b = with_options{data::from(20, numbered), 8}.made(threads, 2);
        data::pipeline& reads = data::pipeline_for<ports>(b);
        reads.next();
        data::pipeline& looks = data::pipeline_for<only_inputs>(b);   // who predicts moves nothing
        BOOST_TEST((looks.position() == data::position{0, 8}));
        const data::batch_view* got = looks.next();
        BOOST_TEST(got->x[0] == 8.0f / 7);
        BOOST_TEST(!got->labels);
        BOOST_TEST((b.position() == data::position{0, 8}));
        BOOST_TEST(reads.next()->labels[0] == 8);
        BOOST_TEST((data::pipeline_for<only_inputs>(b).position() == data::position{0, 16}));
        BOOST_TEST(&data::pipeline_for<ports>(b) == &reads);
        data::pipeline& goes_on = data::pipeline_for<others>(b);
        BOOST_TEST((goes_on.position() == data::position{0, 16}));
        BOOST_TEST(goes_on.next()->labels[0] == 16);
        BOOST_TEST((b.position() == data::position{0, 20}));
        b.rewind();
        BOOST_TEST((data::pipeline_for<only_inputs>(b).position() == data::position{}));
    }
}

BOOST_AUTO_TEST_CASE(a_team_grows_while_its_caller_waits_for_rows_that_wait) {
    auto b = data::from(1 << 20, [](std::int64_t i) {
                 std::this_thread::sleep_for(std::chrono::milliseconds(2));
                 return numbered(i);
             })
        | data::batch(4) | data::parallel({.cpu_budget = 1});
    BOOST_TEST(b.statistics().threads == 0);   // nobody has asked for a batch
    data::pipeline& p = data::pipeline_for<ports>(b);
    std::int64_t rows = 0;
    while (b.statistics().threads < 3) {   // ctest's limit ends a team that does not grow
        const data::batch_view* const batch = p.next();
        BOOST_TEST_REQUIRE(batch);
        for (int i = 0; i < batch->size; ++i) BOOST_TEST_REQUIRE(batch->labels[i] == rows + i);
        rows += batch->size;
    }
    const data::team_statistics s = b.statistics();
    BOOST_TEST(s.rows == rows);
    BOOST_TEST(s.depth == 16);
    BOOST_TEST(s.waited > 0);
    BOOST_TEST(s.row_seconds >= 2e-3);
    BOOST_TEST((p.position() == data::position{0, rows}));
}

BOOST_AUTO_TEST_CASE(budgets_of_memory_are_batches) {
    const auto depth_of = [](std::size_t bytes) {
        auto b = data::from(100, numbered) | data::batch(10) | data::parallel({.ram_budget = bytes});
        data::pipeline_for<ports>(b).next();
        return b.statistics().depth;
    };
    BOOST_TEST(depth_of(0) == 16);
    BOOST_TEST(depth_of(10 * 12 * 5 + 9) == 5);   // of 12 bytes a row
    BOOST_TEST(depth_of(1) == 1);
    BOOST_CHECK_THROW(data::parallel({.cpu_budget = -1}), option_error);
}
