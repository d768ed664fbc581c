// SPDX-License-Identifier: BSL-1.0
// shows servers: pushes begin while later gradients are computed; prefetched pulls run beside the step
// needs: distributed
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <net/fault_proxy.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>

// What is on its way while a step computes. A proxy between a worker and its server counts bytes, and the worker's step
// waits between two kernels until it has counted enough: that they come in time is seen, whatever time that takes.
using namespace sinter;

namespace {

constexpr auto net = features<64> >> dense<256> >> relu >> dense<256> >> relu >> dense<1>;
constexpr int batch = 4;
using strategy_of_test = parameter_server<async, cpu_device, 1 << 14>;   // a bucket for each layer

/// Bytes that the proxy has handed on.
struct counted {
    std::atomic<std::int64_t> bytes{0};
    std::atomic<bool> over{false};
};

/// In a process of its own: f(a trainer whose server is behind the proxy, its data, the counts of one direction).
template <class F>
std::string through_a_proxy(bool upwards, parameter_server_options o, F f) {
    const std::vector<std::string> a = own_addresses(3);
    const auto at = [&](int i) { return wire::parse_address(a[static_cast<std::size_t>(i)], "a test"); };
    counted& seen = in_shared_memory<counted>();
    processes all;
    all.start([&] {
        std::string record;
        fault_proxy::faults quiet;
        quiet.upwards = upwards, quiet.record = &record;
        fault_proxy::run(at(2), at(1), quiet, [&] {
            seen.bytes = std::ssize(record);
            return !seen.over;
        });
        return std::string();
    });
    const auto member = [&](cluster_role role, int server) -> std::string {
        const cluster c({{cluster_role::worker, 0, at(0).host, at(0).port},
                         {cluster_role::ps, 0, at(server).host, at(server).port}},
                        role, 0, quick(20));
        trainer t{net, mse, sgd{.learning_rate = 1e-3f}, max_batch<batch>, strategy_of_test{c, o}, {.threads = 1}};
        if (t.has_served()) return "served";
        return f(t, seen);
    };
    const int server = all.start([&] { return member(cluster_role::ps, 1); });
    const std::string said = all.result(all.start([&] { return member(cluster_role::worker, 2); }), 120);
    BOOST_TEST(all.result(server) == "served");
    seen.over = true;
    return said;
}
/// Waits until the proxy has handed on so many bytes; whether it has. Only a test that fails waits to the end.
bool has_come(const counted& seen, std::int64_t bytes) {
    for (const double until = base::monotonic_seconds() + 30; seen.bytes < bytes; ::usleep(500))
        if (base::monotonic_seconds() > until) return false;
    return true;
}
template <class Trainer>
struct step_of {
    static constexpr auto& program = Trainer::programs::template training<0>::v;
    static constexpr auto& first = program.buckets[0];
    static constexpr int last_launch = program.buckets[program.n_buckets - 1].final_after;
    float x[batch * 64], y[batch] = {1, 2, 3, 4};
    step_of() { std::fill(std::begin(x), std::end(x), 0.1f); }
    /// Steps; before the launch behind which the last bucket is final: whether f().
    template <class F>
    bool with(Trainer& t, F f) {
        bool held = false;
        t.step({.x = x, .y = y, .size = batch}, [&](int launch, bool before) {
            if (before && launch == last_launch) held = f();
        });
        return held;
    }
};

BOOST_AUTO_TEST_CASE(a_push_begins_before_the_last_bucket_is_final) {
    const std::string said = through_a_proxy(true, {}, [](auto& t, const counted& seen) -> std::string {
        using step = step_of<std::remove_cvref_t<decltype(t)>>;
        static_assert(step::program.n_buckets >= 2 && step::first.final_after < step::last_launch,
                      "the net has layers whose gradients are final one after the other");
        step s;
        std::string held;
        s.with(t, [] { return true; });   // which begins training: initial values are sent
        for (int i = 0; i < 4; ++i) {
            t.plain(t.parameter(0));   // nothing is on its way
            const std::int64_t before = seen.bytes;
            held += s.with(t, [&] { return has_come(seen, before + 4 * step::first.floats); }) ? "held " : "not held ";
        }
        t.end_training();
        return held;
    });
    BOOST_TEST(said == "held held held held ");
}
BOOST_AUTO_TEST_CASE(a_prefetched_pull_runs_while_the_step_does) {
    const auto steps = [](auto& t, const counted& seen) -> std::string {
        using step = step_of<std::remove_cvref_t<decltype(t)>>;
        std::int64_t all = 0;
        for (int i = 0; i < t.parameters(); ++i) all += t.parameter(i).s.size();
        step s;
        std::string held;
        s.with(t, [] { return true; });
        for (int i = 0; i < 4; ++i) {
            t.plain(t.parameter(0));
            const std::int64_t before = seen.bytes;
            held += s.with(t, [&] { return has_come(seen, before + 4 * all); }) ? "held " : "not held ";
        }
        t.end_training();
        return held;
    };
    BOOST_TEST(through_a_proxy(false, {.prefetch = true}, steps) == "held held held held ");
}

}   // namespace
