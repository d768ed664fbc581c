// SPDX-License-Identifier: BSL-1.0
// unsanitized: ASan has locks that a starting thread of the parent may hold, and a child then waits for ever
#define BOOST_TEST_MODULE row_team_in_forks
#include <boost/test/unit_test.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <thread>

// A program that forks while threads make batches: parent and child both go on, and get the same.
using namespace sinter;

namespace {

constexpr port_info number[] = {{.s = {.type = dtype::i32}}};
constexpr data::model_ports ports{{number, 1}, {}};

auto numbers(std::atomic<bool>* broken = nullptr) {
    return data::from(500, [](std::int64_t i) { return static_cast<std::int32_t>(i); })
        | data::map([=](std::int32_t i) {
              if (broken && *broken && i == 77) throw data_error("cannot decode", "77");
              return i;
          })
        | data::shuffle({.seed = 3}) | data::filter([](std::int32_t i) { return i % 5 != 2; });
}
using list = std::vector<std::int32_t>;
/// The next batch; empty at the end of a pass.
list next_of(data::pipeline& p) {
    const data::batch_view* const b = p.next();
    if (!b) return {};
    const std::int32_t* const at = b->inputs[0].indices;
    return {at, at + b->size};
}
std::vector<list> next_of(data::pipeline& p, int n) {
    std::vector<list> all;
    for (int i = 0; i < n; ++i) all.push_back(next_of(p));
    return all;
}

/// Runs f in a forked child, which must answer true within 20 seconds.
template <class F>
bool holds_in_child(F f) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);   // what hangs is killed
        bool fine = false;
        try {
            fine = f();
        } catch (...) {
        }
        ::_exit(fine ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST(!WIFSIGNALED(status), "the child hung or crashed: signal " << WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

BOOST_AUTO_TEST_CASE(parent_and_child_go_on_with_the_same_batches) {
    auto reference = numbers() | data::batch(8);
    const std::vector<list> expected = next_of(data::pipeline_for<ports>(reference), 160);   // of three passes
    for (const int threads : {1, 2, 8})
        for (const int depth : {1, 4})
            for (const int before : {0, 1, 5, 49, 50, 51, 52, 100}) {   // a pass has 50 batches
                auto b = numbers() | data::batch(8) | data::prefetch(depth) | data::parallel(threads);
                data::pipeline& p = data::pipeline_for<ports>(b);
                next_of(p, before);
                const auto goes_on = [&] {
                    for (int i = before; i < before + 55; ++i)
                        if (next_of(p) != expected[static_cast<std::size_t>(i)]) return false;
                    return true;
                };
                BOOST_TEST(holds_in_child([&] {   // and its own child; and one that sought elsewhere
                    return holds_in_child(goes_on) && goes_on() && holds_in_child([&] {
                        p.seek({2, 8});
                        return next_of(p) == expected[103];
                    });
                }));
                BOOST_TEST(goes_on());
            }
}

BOOST_AUTO_TEST_CASE(a_child_may_leave_at_once) {
    for (int round = 0; round < 20; ++round) {
        auto b = std::make_unique<decltype(numbers() | data::batch(8))>(numbers() | data::batch(8) | data::parallel(3));
        next_of(data::pipeline_for<ports>(*b), round % 3);
        BOOST_TEST(holds_in_child([&] {
            b.reset();
            return true;
        }));
    }
}

BOOST_AUTO_TEST_CASE(another_thread_may_fork_at_any_moment) {
    auto reference = numbers() | data::batch(8);
    auto b = numbers() | data::batch(8) | data::parallel(2);
    data::pipeline &p = data::pipeline_for<ports>(b), &same = data::pipeline_for<ports>(reference);
    std::atomic<bool> done{false};
    std::thread forks([&] {
        for (int i = 0; i < 30; ++i) {
            const pid_t child = ::fork();
            if (child == 0) {   // its next batch is the one that ends where the pipeline then is
                ::alarm(20);
                const list got = next_of(p);
                const data::position after = p.position();
                auto own = numbers() | data::batch(8);
                own.seek({after.index > 0 ? after.epoch : after.epoch - 1, 0});
                list expected;
                do expected = next_of(data::pipeline_for<ports>(own));
                while (own.position() != after);
                ::_exit(got == expected ? 0 : 1);
            }
            int status = 0;
            ::waitpid(child, &status, 0);
            BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0), "child " << i);
        }
        done = true;
    });
    bool equal = true;
    int batches = 0;
    while (!done && batches < 1000000) ++batches, equal = equal && next_of(p) == next_of(same);
    forks.join();
    BOOST_TEST(equal);
}

BOOST_AUTO_TEST_CASE(an_error_that_was_made_ahead_comes_out_in_both) {
    std::atomic<bool> broken{true};
    auto b = numbers(&broken) | data::batch(8) | data::parallel(2);
    data::pipeline& p = data::pipeline_for<ports>(b);
    const auto goes_on = [&] {
        bool threw = false;
        for (int i = 0; i < 52 && !threw; ++i) {
            try {
                p.next();
            } catch (const data_error&) {
                threw = true;
            }
        }
        broken = false;
        return threw && !next_of(p).empty();
    };
    next_of(p);
    BOOST_TEST(holds_in_child(goes_on));
    BOOST_TEST(goes_on());
}
