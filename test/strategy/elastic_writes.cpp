// SPDX-License-Identifier: BSL-1.0
// shows elastic: a death amid calls that write weights or states: the bits of one process
// needs: distributed
// weighs: 2
#define BOOST_TEST_MODULE elastic_writes
#include <boost/test/unit_test.hpp>
#include "strategy/elastic_jobs.hpp"
#include <sinter/layers/norm.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/moving_average.hpp>

// Members of an elastic job that write weights, states and slots between two steps while one of them dies: at each
// message of such a call, before and behind it, also where one of the others has not got what came just before. What
// is left is what one process has, bit by bit; and who is behind is given what was, not what others have written since.
using namespace sinter;
using namespace sinter::test;
using collective::kind;
using enum fault_place;

namespace {

constexpr auto model_net = features<2> >> dense<40> >> batch_norm >> relu >> dense<2>;
constexpr auto averaging = [](const auto& s) {
    return trainer{model_net, softmax_cross_entropy, moving_average{0.9f, adam{.learning_rate = 0.02f}}, max_batch<16>,
                   s, {.threads = 1}};
};
constexpr auto gathering = [](const auto& s) {
    return trainer{model_net, softmax_cross_entropy, accumulate<3>(moving_average{0.9f, adam{.learning_rate = 0.02f}}),
                   max_batch<16>, s, {.threads = 1}};
};
constexpr auto in_parts = [](const auto& m) { return elastic(sharded_update(canonical<4>(m))); };
constexpr auto everywhere = [](const auto& m) { return elastic(canonical<4>(m)); };

enum class writer { exchange, reset, values };

template <class Trainer>
std::vector<float> all_numbers(const Trainer& t) {
    std::vector<float> all;
    const auto add = [&](const std::vector<float>& from) {
        for (const float x : from) all.push_back(x + 0.f);   // of what is gathered no zero counts, of either sign
    };
    for (int i = 0; i < t.parameters(); ++i) add(t.plain(t.parameter(i)));
    for (int i = 0; i < t.states(); ++i) add(t.plain(t.state(i)));
    for (int k = 0; k < t.slots(); ++k)
        for (int i = 0; i < t.parameters(); ++i) add(t.plain_slot(t.parameter(i), k));
    return all;
}
std::string bits(const std::vector<float>& x) {
    return std::to_string(sinter::base::checksum::of({reinterpret_cast<const std::byte*>(x.data()), x.size() * 4}));
}
/// 11 steps, the call, and 9 more steps; what the numbers were behind these three. `before()` is called before the last
/// of the first steps, `within()` behind it.
template <class Trainer, class Before, class Within>
std::string course_of(Trainer t, writer what, Before before, Within within) {
    auto data = points(200, 3) | data::batch(16);
    auto more = points(200, 5) | data::batch(16);
    std::string told;
    int n = 0;
    for (const data::batch_view& b : data) {
        if (n == 10) before();
        t.step(b);
        if (++n == 11) break;
    }
    within();
    if (what == writer::exchange) {
        t.exchange_with_averages();
        told += " there " + bits(all_numbers(t));
        t.exchange_with_averages();
    } else if (what == writer::reset) {
        t.reset();
    } else {
        std::vector<float> x = t.plain(t.parameter(0));
        for (float& v : x) v = 2 * v + 1;
        t.set_plain_slot(t.parameter(0), 1, x.data());
        t.set_plain(t.parameter(0), x.data());
    }
    told += " back " + bits(all_numbers(t));
    n = 0;
    for (const data::batch_view& b : more) {
        t.step(b);
        if (++n == 9) break;
    }
    return told + " end " + bits(all_numbers(t));
}
template <class Make>
std::string alone(Make make, writer what) {
    return course_of(make(canonical<4>()), what, [] {}, [] {});
}

/// One of three members dies at the `number`-th message of a kind. `lost`: another one, `behind`, has not got the
/// message that comes last before the call, or before the message at which the other dies.
struct fault_of_a_call {
    planned_fault dies;
    int behind = -1;
    planned_fault lost{};
    bool lost_in_step = false;
};
/// Whether the member has died, as planned.
template <class Make, class Under>
bool one_dies(Make make, Under under, writer what, const fault_of_a_call& f, int dies, const std::string& expected) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([&, r] {
            try {
                return course_of(make(under(multi_worker<faulty_ring>{cluster::of(at, r, quick())})), what,
                                 [&] { if (r == f.behind && f.lost_in_step) next_fault = f.lost; },
                                 [&] {
                                     if (r == f.behind && !f.lost_in_step) next_fault = f.lost;
                                     if (r == dies) next_fault = f.dies;
                                 });
            } catch (const std::exception& e) {
                return std::string(e.what());
            }
        });
    for (int r = 0; r < 3; ++r)
        if (r != dies)
            BOOST_TEST(job.result(r, 100) == expected,
                       "member " << r << ": " << job.result(r, 100) << "; needed " << expected);
    return job.result(dies, 100) == "KILLED";
}
template <class Make, class Under>
void one_dies_anywhere(Make make, Under under, writer what, std::initializer_list<kind> sent) {
    const std::string expected = alone(make, what);
    int deaths = 0;
    for (const kind k : sent)
        for (int number = 0;; ++number) {
            bool died = false;
            for (const fault_place where : {before, after})
                BOOST_TEST_CONTEXT("kind " << static_cast<int>(k) << " " << number << ", place "
                                           << static_cast<int>(where)) {
                    died = one_dies(make, under, what, {{k, number, where}}, number % 3, expected);
                    if (died) ++deaths;
                    if (!died) break;
                }
            if (!died || number > 12) break;
        }
    BOOST_TEST(deaths > 3);
}

} // namespace

BOOST_AUTO_TEST_CASE(dead_while_averages_are_exchanged) {
    one_dies_anywhere(averaging, in_parts, writer::exchange, {kind::all_reduce, kind::broadcast});
}
// Another one has failed in the last message before: the third member has written since.
BOOST_AUTO_TEST_CASE(one_is_behind_while_averages_are_exchanged) {
    const std::string expected = alone(averaging, writer::exchange);
    for (int number = 0; number < 3; ++number)
        for (int dies = 0; dies < 3; ++dies)
            BOOST_TEST_CONTEXT("read " << number << ", member " << dies << " dies")
                BOOST_TEST(one_dies(averaging, in_parts, writer::exchange,
                                    {.dies = {kind::all_reduce, number + 1, before}, .behind = (dies + 1) % 3,
                                     .lost = {kind::all_reduce, number, lost_after}},
                                    dies, expected));
}
BOOST_AUTO_TEST_CASE(one_is_in_the_step_before) {
    for (const writer what : {writer::reset, writer::exchange, writer::values})
        for (int dies = 0; dies < 3; ++dies)
            BOOST_TEST_CONTEXT("call " << static_cast<int>(what) << ", member " << dies << " dies") {
                const planned_fault first{what == writer::exchange ? kind::all_reduce : kind::broadcast, 0, before};
                BOOST_TEST(one_dies(averaging, in_parts, what,
                                    {.dies = first, .behind = (dies + 1) % 3,
                                     .lost = {kind::all_gather, 0, lost_after}, .lost_in_step = true},
                                    dies, alone(averaging, what)));
                BOOST_TEST(one_dies(averaging, everywhere, what,
                                    {.dies = {kind::broadcast, 0, before}, .behind = (dies + 1) % 3,
                                     .lost = {kind::all_reduce_tree, 2, lost_after}, .lost_in_step = true},
                                    dies, alone(averaging, what)));
            }
}
BOOST_AUTO_TEST_CASE(dead_while_all_begins_anew) {
    one_dies_anywhere(averaging, in_parts, writer::reset, {kind::broadcast});
    one_dies_anywhere(gathering, in_parts, writer::reset, {kind::broadcast, kind::all_reduce});
}
BOOST_AUTO_TEST_CASE(dead_while_values_are_set) {
    one_dies_anywhere(averaging, in_parts, writer::values, {kind::broadcast});
}
