// SPDX-License-Identifier: BSL-1.0
// shows training: a program may fork at any moment
// unsanitized: ASan has locks that a starting thread of the parent may hold, and a child then waits for ever
#define BOOST_TEST_MODULE fork
#include <boost/test/unit_test.hpp>
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/data/transform/map.hpp>
#include <sinter/data/runtime/prefetch.hpp>
#include <sinter/data/transform/repeat.hpp>
#include <sinter/device/cpu/threads.hpp>
#include <sinter/sinter.hpp>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

// A forked child has no threads but the one that forked. Teams and prefetched pipelines go on there as if they had.
using namespace sinter;
using namespace sinter::runtime;

/// Runs f in a forked child, which must answer true within 20 seconds.
template <class F>
static bool holds_in_child(F f) {
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

static bool all_work(team& t) {
    std::vector<int> worked(static_cast<std::size_t>(t.size()));
    for (int again = 0; again < 3; ++again)
        t.run([&](int i) {
            t.barrier(i);
            ++worked[static_cast<std::size_t>(i)];
        });
    return worked == std::vector<int>(worked.size(), 3);
}

BOOST_AUTO_TEST_CASE(a_team_begins_its_threads_anew) {
    team used(4), fresh(3), unused(5);
    BOOST_TEST(all_work(used));
    BOOST_TEST(holds_in_child([&] {
        return all_work(used) && all_work(fresh) && holds_in_child([&] { return all_work(used) && all_work(fresh); });
    }));
    BOOST_TEST(holds_in_child([&] {   // nor does one hang that ends there, used or not
        { team inner(2); if (!all_work(inner)) return false; }
        used.~team();
        new (&used) team(2);
        return all_work(used);
    }));
    BOOST_TEST(all_work(used));   // the parent's are as they were
    BOOST_TEST(all_work(fresh));
}
BOOST_AUTO_TEST_CASE(a_failed_run_is_left_behind) {
    team t(3);
    BOOST_CHECK_THROW(t.run([&](int i) { if (i == 1) throw 42; t.barrier(i); }), int);
    BOOST_TEST(holds_in_child([&] { return all_work(t); }));
}

constexpr auto net = features<3> >> dense<40> >> relu >> dropout<0.3f> >> dense<2>;

BOOST_AUTO_TEST_CASE(a_step_in_a_child_is_the_step_of_its_parent) {
    estimator model{net, softmax_cross_entropy, adam{}, {.threads = 3}};
    const float x[6] = {1, 2, 3, -1, 0, 1};
    const std::int32_t labels[2] = {0, 1};
    const data::batch_view b{.x = x, .labels = labels, .size = 2};
    for (int i = 0; i < 3; ++i) model.inner().step(b);
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    BOOST_TEST(holds_in_child([&] {
        const float losses[2] = {model.inner().step(b), model.inner().step(b)};
        return ::write(ends[1], losses, sizeof losses) == sizeof losses;
    }));
    float losses[2] = {};
    BOOST_TEST_REQUIRE(::read(ends[0], losses, sizeof losses) == static_cast<ssize_t>(sizeof losses));
    BOOST_TEST(model.inner().step(b) == losses[0]);
    BOOST_TEST(model.inner().step(b) == losses[1]);
}

static data::pipeline counted(int depth) {
    std::vector<float> x(64);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    const data::dataset all = data::dataset(extents(1), std::move(x));
    return data::source(all) | data::batch(4) | data::prefetch(depth);
}
/// The first numbers of the batches that are left.
static std::vector<float> rest(data::pipeline& p) {
    std::vector<float> firsts;
    for (const data::batch_view& b : p) firsts.push_back(b.x[0]);
    return firsts;
}
static std::vector<float> from(int first) {
    std::vector<float> firsts;
    for (int i = first; i < 16; ++i) firsts.push_back(static_cast<float>(4 * i));
    return firsts;
}

BOOST_AUTO_TEST_CASE(a_pipeline_goes_on_where_it_was) {
    for (const int depth : {1, 2, 5, 32})
        for (const int taken : {0, 1, 5, 15}) {
            data::pipeline p = counted(depth);
            for (int i = 0; i < taken; ++i) p.next();
            BOOST_TEST(holds_in_child([&] { return rest(p) == from(taken) && rest(p) == from(0); }),
                       "depth " << depth << ", " << taken);
            BOOST_TEST(holds_in_child([&] {
                p.rewind();
                return rest(p) == from(0);
            }));
            BOOST_TEST(rest(p) == from(taken));
        }
}
BOOST_AUTO_TEST_CASE(a_fork_amid_preparation_and_prefetching_twice) {
    for (int again = 0; again < 20; ++again) {
        data::pipeline p = counted(3) | data::prefetch(2);
        for (int i = 0; i < again % 6; ++i) p.next();
        BOOST_TEST(holds_in_child([&] { return rest(p) == from(again % 6); }));
        BOOST_TEST(rest(p) == from(again % 6));
    }
}
BOOST_AUTO_TEST_CASE(a_pipeline_that_is_not_used_in_the_child_ends) {
    auto* p = new data::pipeline(counted(4));
    p->next();
    BOOST_TEST(holds_in_child([&] {
        delete p;
        return true;
    }));
    delete p;
}
