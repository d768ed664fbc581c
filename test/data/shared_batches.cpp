// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE shared_batches
#include <boost/test/unit_test.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <array>
#include <map>
#include <mutex>

// Processes that share batches: each computes its own rows and no others, and together they have what one alone has.
using namespace sinter;

namespace {

struct row {
    std::array<float, 2> x;
    std::int32_t number;
};
constexpr port_info inputs[] = {{.s = {.rank = 1, .d = {2}}}}, targets[] = {{.s = {.type = dtype::i32}}};
constexpr data::model_ports ports{{inputs, 1}, {targets, 1}};

row numbered(std::int64_t i) {
    const auto n = static_cast<std::int32_t>(i);
    return {{static_cast<float>(n) / 7, static_cast<float>(n % 13)}, n};
}

/// How often the last map has computed each row.
struct counts {
    std::mutex guard;
    std::map<std::int32_t, int> of;
    void add(std::int32_t number) {
        const std::lock_guard hold(guard);
        ++of[number];
    }
};
auto stages_of(int n, counts& computed, bool filtered) {
    const auto count = [&computed](const row& r) {
        computed.add(r.number);
        return r;
    };
    auto all = data::from(n, numbered) | data::shuffle({.seed = 3});
    return std::pair{all | data::map(count), all | data::filter([filtered](const row& r) {
                         return !filtered || r.number % 3 != 1;
                     }) | data::map(count)};
}
/// The numbers of a batch, by their places in it; -1 for those that a view does not have.
std::vector<std::int32_t> places(const data::batch_view& v) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(v.whole ? v.whole : v.size), -1);
    for (int i = 0; i < v.size; ++i) {
        BOOST_TEST(v.x[2 * i] == static_cast<float>(v.labels[i]) / 7);
        BOOST_TEST(v.inputs[0].values[2 * i + 1] == static_cast<float>(v.targets[0].indices[i] % 13));
        all[static_cast<std::size_t>(v.first + i)] = v.labels[i];
    }
    return all;
}
template <class Stages>
auto made(Stages s, int threads, bool drop) {
    auto b = s | data::batch(10, {.drop_remainder = drop});
    return threads ? std::move(b) | data::prefetch(2) | data::parallel(threads) : std::move(b);
}
/// Of a pass.
template <class Stages>
std::vector<std::vector<std::int32_t>> batches_of(Stages s, batch_share share, int threads, bool drop = false) {
    auto b = made(s, threads, drop);
    data::pipeline& p = data::pipeline_for<ports>(b);
    p.share(share);
    std::vector<std::vector<std::int32_t>> all;
    while (const data::batch_view* v = p.next()) {
        all.push_back(places(*v));
        BOOST_TEST((v->whole == 0) == share.is_all());
    }
    return all;
}

template <class Stages>
void members_have_all(const Stages& s, counts& computed, int members, batch_share::of_what kind) {
    computed.of.clear();
    const auto whole = batches_of(s, {}, 0);
    const std::size_t n = computed.of.size();
    for (const int threads : {0, 1, 2, 8}) {
        std::vector<std::vector<std::int32_t>> together;
        computed.of.clear();
        for (int m = 0; m < members; ++m) {
            const auto mine = batches_of(s, {.first = m, .of = members, .kind = kind}, threads);
            if (together.empty()) together = mine;
            for (std::size_t b = 0; b < mine.size(); ++b) {
                BOOST_TEST_REQUIRE(mine[b].size() == whole[b].size());
                for (std::size_t i = 0; i < mine[b].size(); ++i)
                    if (mine[b][i] >= 0) {
                        BOOST_TEST((m == 0 || together[b][i] == -1));   // nobody else has it
                        together[b][i] = mine[b][i];
                    }
            }
        }
        BOOST_TEST((together == whole));
        BOOST_TEST(computed.of.size() == n);
        if (threads == 0)   // a team may be ahead in the next pass
            for (const auto& [number, times] : computed.of) BOOST_TEST(times == 1, number << ": " << times);
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(shares_of_batches) {
    for (int size = 0; size < 40; ++size)
        for (int of = 1; of < 9; ++of)
            for (int own = 1; own < 4; ++own) {
                int end = 0;
                for (int first = 0; first < of; first += own) {
                    const example_range r = batch_share{first, own, of}.range(5, size);
                    BOOST_TEST(r.first == end);
                    end += r.size;
                }
                BOOST_TEST(end == size);
            }
    BOOST_TEST(batch_share{}.is_all());
    BOOST_TEST((batch_share{0, 4, 4}.is_all()));
    BOOST_TEST((!batch_share{1, 1, 2}.is_all()));
    const batch_share second{.first = 1, .of = 3, .kind = batch_share::of_what::some_batches};
    for (int b = 0; b < 9; ++b) BOOST_TEST(second.range(b, 7).size == (b % 3 == 1 ? 7 : 0));
}

BOOST_AUTO_TEST_CASE(members_compute_their_own_rows) {
    for (const int rows : {1, 9, 10, 57, 60})
        for (const int members : {1, 2, 3, 12}) {
            counts computed;
            const auto [indexed, stream] = stages_of(rows, computed, true);
            for (const auto kind : {batch_share::of_what::each_batch, batch_share::of_what::some_batches}) {
                members_have_all(indexed, computed, members, kind);
                members_have_all(stream, computed, members, kind);
            }
        }
}

BOOST_AUTO_TEST_CASE(other_rows_when_they_are_needed) {
    for (const int threads : {0, 1, 3})
        for (const bool filtered : {false, true}) {
            counts computed;
            const auto [indexed, stream] = stages_of(90, computed, filtered);
            const auto whole = batches_of(stream, {}, 0);
            computed.of.clear();
            auto b = made(stream, threads, false);
            data::pipeline& p = data::pipeline_for<ports>(b);
            p.share({1, 1, 3});   // rows 3 to 5
            for (std::size_t k = 0; k < 5; ++k) {
                const data::batch_view& v = *p.next();
                BOOST_TEST((example_range{v.first, v.size} == example_range{3, 3}));
                BOOST_TEST(v.whole == 10);
                const example_range needed[] = {{3, 3}, {4, 1}, {5, 4}, {0, 2}, {0, 10}};
                v.compute(v.by, needed[k]);   // as where a member has died in this step
                BOOST_TEST((example_range{v.first, v.size}.has(needed[k])));
                BOOST_TEST((example_range{v.first, v.size}.has({3, 3})));
                const auto there = places(v);
                for (int i = 0; i < v.size; ++i) {
                    const auto at = static_cast<std::size_t>(v.first + i);
                    BOOST_TEST(there[at] == whole[k][at]);
                }
            }
            p.share({});   // they are all gone, and this one does all of the rest
            for (std::size_t k = 5; k < whole.size(); ++k) {
                const data::batch_view& v = *p.next();
                BOOST_TEST(places(v) == whole[k], boost::test_tools::per_element());
                BOOST_TEST(v.whole == 0);
            }
            if (threads == 0)
                for (const auto& [number, times] : computed.of) BOOST_TEST(times == 1, number << ": " << times);
        }
    counts computed;
    const auto [indexed, stream] = stages_of(25, computed, false);
    const std::vector<std::int32_t> last_ones = batches_of(indexed, {}, 0)[2];
    for (const int threads : {0, 2}) {
        auto b = made(indexed, threads, false);
        data::pipeline& p = data::pipeline_for<ports>(b);
        p.share({2, 1, 3});
        p.next(), p.next();
        const data::batch_view& last = *p.next();   // of five rows
        BOOST_TEST((example_range{last.first, last.size} == example_range{3, 2}));
        p.share({7, 1, 8});
        p.seek({0, 20});
        const data::batch_view& none = *p.next();
        BOOST_TEST(none.size == 1);
        p.share({0, 1, 8});
        p.seek({0, 20});
        const data::batch_view& empty = *p.next();
        BOOST_TEST(empty.size == 0);
        BOOST_TEST(empty.whole == 5);
        empty.compute(empty.by, {1, 2});
        BOOST_TEST((example_range{empty.first, empty.size} == example_range{1, 2}));
        BOOST_TEST(places(empty)[2] == last_ones[2]);
    }
}

BOOST_AUTO_TEST_CASE(a_pass_is_looked_over_by_its_own_batches) {
    for (const int threads : {0, 2}) {
        counts computed;
        const auto [indexed, stream] = stages_of(45, computed, true);
        auto b = made(stream, threads, false);
        data::pipeline& p = data::pipeline_for<ports>(b);
        p.share({0, 1, 2});
        p.next();
        const data::position at = p.position();
        int all = 0, mine = 0;
        p.look_over_pass(
            [&](const data::batch_view& v) {
                all += v.whole, mine += v.size;
                return true;
            },
            {.first = 1, .of = 2, .kind = batch_share::of_what::some_batches});
        BOOST_TEST(all == 30);
        BOOST_TEST(mine == 10);
        BOOST_TEST((p.position() == at));
        const data::batch_view& next = *p.next();   // the share is the one from before
        BOOST_TEST((example_range{next.first, next.size} == example_range{0, 5}));
    }
}

BOOST_AUTO_TEST_CASE(an_error_in_a_row_is_its_members_alone) {
    for (const int threads : {0, 1, 3})
        for (int m = 0; m < 2; ++m) {
            auto b = data::from(20, numbered) | data::map([](const row& r) {
                if (r.number == 13) throw data_error("cannot decode", "row");
                return r;
            }) | data::batch(10);
            auto made = threads ? std::move(b) | data::parallel(threads) : std::move(b);
            data::pipeline& p = data::pipeline_for<ports>(made);
            p.share({m, 1, 2});
            p.next();
            if (m == 0) BOOST_CHECK_THROW(p.next(), data_error);
            else BOOST_TEST(p.next()->labels[0] == 15);
        }
}
