// SPDX-License-Identifier: BSL-1.0
// shows numbers: how many threads a team of rows chooses, for rows that wait, that compute, and that cost nothing
#define BOOST_TEST_MODULE team_size
#include <boost/test/unit_test.hpp>
#include <sinter/data/runtime/team_size.hpp>

using sinter::data::team_size;

namespace {

/// Rows of which each waits and computes for so many seconds, and a caller that takes `batch` rows in `step` seconds.
/// What the clock would have measured is computed: nothing here takes time.
struct scenario {
    double waits, computes, step;
    int batch = 32;

    int next(team_size& t) const {
        const double row = waits + computes, made = row / t.now() * batch;   // seconds in which a batch is made
        const double each = made > step ? made : step;
        t.add(10 * batch, 10 * batch * row, 10 * batch * computes);
        return t.next(10 * batch, 10 * each, 10 * (each - step));
    }
    std::vector<int> sizes(team_size t, int looks) const {
        std::vector<int> all;
        for (int i = 0; i < looks; ++i) all.push_back(next(t));
        return all;
    }
};
using sizes = std::vector<int>;

} // namespace

BOOST_AUTO_TEST_CASE(rows_that_wait_have_more_threads_than_cores) {
    // 16,000 rows a second, 410 us each: 6.6 of them at a time, and a little more
    BOOST_TEST((scenario{400e-6, 10e-6, 2e-3}.sizes({2, 64}, 4) == sizes{4, 8, 8, 8}));
    // 8,000 rows a second, 2 ms each: 16 of them
    BOOST_TEST((scenario{2e-3, 5e-6, 4e-3}.sizes({2, 64}, 4) == sizes{4, 16, 19, 19}));
    BOOST_TEST((scenario{2e-3, 5e-6, 4e-3}.sizes({2, 6}, 3) == sizes{4, 6, 6}));   // no more than there may be
}

BOOST_AUTO_TEST_CASE(rows_that_compute_have_no_more_threads_than_cores) {
    const scenario computing{0, 60e-6, 1e-3};
    BOOST_TEST((computing.sizes({2, 64}, 3) == sizes{2, 2, 2}));
    BOOST_TEST((computing.sizes({1, 64}, 3) == sizes{1, 1, 1}));
    BOOST_TEST((computing.sizes({8, 64}, 3) == sizes{3, 3, 3}));   // more would wait for the caller
    BOOST_TEST((scenario{0, 1e-6, 1e-3}.sizes({8, 64}, 2) == sizes{1, 1}));
}

BOOST_AUTO_TEST_CASE(a_slower_caller_has_fewer) {
    team_size t(2, 64);
    const scenario fast{2e-3, 5e-6, 4e-3}, slow{2e-3, 5e-6, 40e-3};
    for (int i = 0; i < 4; ++i) fast.next(t);
    BOOST_TEST(t.now() == 19);
    BOOST_TEST(slow.next(t) == 2);
    BOOST_TEST(fast.next(t) == 8);
}

BOOST_AUTO_TEST_CASE(rows_that_took_long_by_chance_do_not_count) {
    team_size t(2, 64);
    for (int i = 0; i < 64; ++i) t.add(1, i % 3 ? 5e-3 : 100e-6, 90e-6);   // two of three waited for a core
    BOOST_TEST(t.next(320, 20e-3, 0) == 2);   // 16,000 rows a second, 100 us each
    BOOST_TEST(t.row_seconds() == 100e-6);
}

BOOST_AUTO_TEST_CASE(without_measurements_it_stays) {
    team_size t(2, 64);
    BOOST_TEST(t.next(1000, 1, 0) == 1);
    t.add(1, 1, 0);
    BOOST_TEST(t.next(1000, 1, 0) == 4);
    BOOST_TEST(t.next(1000, 1, 0) == 4);
}
