// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "net/processes.hpp"
#include "support/members.hpp"
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/greeting.hpp>
#include <random>

// Members that are processes of their own, connected by what Algorithm::connect makes.
namespace sinter::test {

/// What f says in each of n members, or their error.
template <class Algorithm>
std::vector<std::string> texts_of_processes(int n, const std::function<std::string(communicator&)>& f) {
    const auto at = own_addresses(n);
    processes p;
    for (int r = 0; r < n; ++r)
        p.start([&, r] {
            const auto c = Algorithm::connect(cluster::of(at, r, quick(10)), wire::identity{1, 2, 3});
            return f(*c);
        });
    std::vector<std::string> all;
    for (int r = 0; r < n; ++r) all.push_back(p.result(r, 50));
    return all;
}
template <class Algorithm>
void in_processes(int n, const std::function<void(communicator&)>& f) {
    const auto texts = texts_of_processes<Algorithm>(n, [&](communicator& c) {
        f(c);
        return std::string("done");
    });
    for (int r = 0; r < n; ++r)
        BOOST_TEST(texts[static_cast<std::size_t>(r)] == "done",
                   n << " members, rank " << r << ": " << texts[static_cast<std::size_t>(r)]);
}

/// The last member does something else: all have an error that says what, and none has a result.
template <class Algorithm>
void check_differences_of_processes(int n) {
    const operation usual{.what = kind::all_reduce, .type = element::f32, .step = 5, .bucket = 2};
    struct difference {
        operation o;
        std::int64_t usual_n, n;
        const char* says;
    };
    std::vector<difference> all;
    for (const auto& [a, b] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{
             {1000, 2000}, {1000, 1001}, {100000, 99999}, {2000000, 1000000}, {0, 1}})
        all.push_back({usual, a, b, "f32"});
    operation o = usual;
    o.bucket = 3;
    all.push_back({o, 1000, 1000, "bucket 3"});
    o = usual;
    o.what = kind::all_gather;
    all.push_back({o, 1000, 1000, "all-gather"});
    for (const auto& d : all) {
        const double begin = sinter::base::monotonic_seconds();
        const auto texts = texts_of_processes<Algorithm>(n, [&](communicator& c) {
            bool applied = false;
            const bool odd = c.rank() == n - 1;
            const std::string text = odd ? error_of(c, d.o, d.n, applied) : error_of(c, usual, d.usual_n, applied);
            return applied ? "a result" : text;
        });
        BOOST_TEST(sinter::base::monotonic_seconds() - begin < 20);
        for (const auto& t : texts)   // two may find it at once, each in what the other sent
            BOOST_TEST((holds(t, d.says) && holds(t, "step 5") && holds(t, "worker/")),
                       n << " members, " << d.says << ": " << t);
    }
}

/// Rank 1 is killed while others wait for it, or at any place within operations: they know who it was.
template <class Algorithm>
void check_deaths_of_processes() {
    std::random_device draw;
    for (const int n : {2, 3, 4}) {
        const unsigned later = n == 2 ? 0 : draw() % 5000;   // microseconds
        BOOST_TEST_MESSAGE(n << " members, killed " << later << " us within steps");
        const auto texts = texts_of_processes<Algorithm>(n, [&](communicator& c) {
            std::vector<float> x(300000);
            for (int step = 0; step < 3000; ++step) {
                if (c.rank() == 1 && step == 20 && later == 0) ::raise(SIGKILL);
                if (c.rank() == 1 && step == 20)
                    std::thread([later] {
                        ::usleep(later);
                        ::kill(::getpid(), SIGKILL);
                    }).detach();
                try {
                    c.wait(c.start({.what = kind::all_reduce, .step = step, .bucket = 4}, x.data(), 300000,
                                   step % 2 == 0));
                } catch (const cluster_error& e) {
                    return std::to_string(e.rank()) + " " + e.role();
                }
            }
            return std::string("nothing happened");
        });
        for (int r = 0; r < n; ++r)
            BOOST_TEST(texts[static_cast<std::size_t>(r)] == (r == 1 ? "KILLED" : "1 worker/1"));
    }
}

}   // namespace sinter::test
