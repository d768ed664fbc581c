// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// waits: until members are missed
#define BOOST_TEST_MODULE elastic_operations
#include <boost/test/unit_test.hpp>
#include "net/processes.hpp"
#include <array>
#include <random>
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>

// One of three members is killed while all make sums one behind the other: of those that are left
// one may be in the next sum already, and gives the other the result of the one before.
using namespace sinter;

namespace {

constexpr auto net = features<2> >> dense<2>;

struct stages {
    std::array<shared_flag, 3> begun;
    shared_flag killed, enough;
};
/// Sums of one to three numbers, until rank 0 is told that it is enough.
std::string sum_on(const std::vector<std::string>& at, int slot, const stages& p) {
    estimator model{net, mse, sgd{}, max_batch<4>, elastic(multi_worker<ring>{cluster::of(at, slot, quick())}),
                    {.threads = 1}};
    auto& session = model.inner().session();
    int since = 0;   // sums that two have made
    for (int k = 1;; ++k) {
        std::vector<double> x(static_cast<std::size_t>(2 + k % 3), k);
        x[0] = slot == 0 && p.enough.is_set();
        session.reduce(x);
        const double members = x[1] / k;
        for (std::size_t i = 1; i < x.size(); ++i)
            if (x[i] != x[1] || (members != 3 && members != 2)) return "WRONG SUM " + std::to_string(x[i]);
        p.begun[static_cast<std::size_t>(slot)].set();
        since += members == 2;
        if (since == 20) p.killed.set();
        if (x[0] > 0) return "fine";
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(killed_within_a_sum) {
    std::mt19937 random(3);
    for (int round = 0; round < 24; ++round) {
        const auto at = own_addresses(3);
        const stages p;
        processes job;
        for (int r = 0; r < 3; ++r) job.start([&, r] { return sum_on(at, r, p); });
        for (const shared_flag& b : p.begun) b.wait();
        ::usleep(random() % 3000);
        job.signal(round % 3 == 0 ? 1 : 2, SIGKILL);
        p.killed.wait();
        p.enough.set();
        BOOST_TEST(job.result(0) == "fine", round << ": " << job.result(0));
        const std::string other = job.result(round % 3 == 0 ? 2 : 1);
        BOOST_TEST(other == "fine", round << ": " << other);
    }
}
