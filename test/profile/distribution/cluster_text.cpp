// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cluster_text
#include <boost/test/unit_test.hpp>

#include <sinter/profile/describe_distribution.hpp>

/// Cluster models as text: each key and unit, and what is said of texts that cannot be used.
using namespace sinter;

BOOST_AUTO_TEST_CASE(every_key) {
    const cluster_model m = cluster_model::parse(
        "workers=64 workers_per_node=8, servers=4\talgorithm=servers\r\n"
        "flops=2.5T memory_bandwidth=900GB/s launch_seconds=5us step_seconds=120ms   # a comment, workers=3\n"
        "bandwidth=25Gbit/s latency=20us node_bandwidth=20e9 node_latency=900ns sum_bandwidth=infinite\n"
        "straggler=lognormal:0.05 samples=9 seed=77 batch=32 bucket_bytes=25MiB overlap=no memory=16GB\n"
        "critical_batch=4k least_gain=0.1");
    cluster_model n;
    n.workers = 64, n.workers_per_node = 8, n.servers = 4, n.algorithm = reduction_algorithm::servers;
    n.flops = 2.5e12, n.memory_bandwidth = 9e11, n.launch_seconds = 5 * 1e-6, n.step_seconds = 120 * 1e-3;
    n.bandwidth = 3.125e9, n.latency = 20 * 1e-6, n.node_bandwidth = 20e9, n.node_latency = 900 * 1e-9;
    n.delay = {straggler_kind::lognormal, 0.05}, n.samples = 9, n.seed = 77, n.batch = 32;
    n.bucket_bytes = 25 * 1048576.0, n.overlap = false, n.memory = 16e9, n.critical_batch = 4000, n.least_gain = 0.1;
    BOOST_TEST((m == n));
    BOOST_TEST((cluster_model::parse("sharded_update=yes straggler=none") == cluster_model{.sharded_update = true}));
    BOOST_TEST((cluster_model::parse("") == cluster_model{}));
    BOOST_TEST((cluster_model::parse(" \n,,# workers=0") == cluster_model{}));
}

template <class Error>
static std::string said(std::string_view text) {
    try {
        cluster_model::parse(text);
    } catch (const Error& e) {
        return e.what();
    }
    return "nothing";
}
BOOST_AUTO_TEST_CASE(texts_that_are_none) {
    const auto format = [](std::string_view text, const std::string& needed) {
        BOOST_TEST(said<format_error>(text) == needed);
    };
    format("workers", "cluster model: entry without key or value; got \"workers\"; needed key=value");
    format("=3", "cluster model: entry without key or value; got \"=3\"; needed key=value");
    format("workers=", "cluster model: entry without key or value; got \"workers=\"; needed key=value");
    format("workers=2 workers=3", "cluster model: key given twice; got \"workers\"; needed each key once");
    format("workers=two",
           "cluster model, workers: value that is no count; got \"two\"; needed a whole number from 0 to 2147483647");
    format("workers=2.5",
           "cluster model, workers: value that is no count; got \"2.5\"; needed a whole number from 0 to 2147483647");
    format("workers=-1",
           "cluster model, workers: value that is no count; got \"-1\"; needed a whole number from 0 to 2147483647");
    format("workers=99999999999999999999",
           "cluster model, workers: value that is no count; got \"99999999999999999999\"; needed a whole number from 0 "
           "to 2147483647");
    format("latency=20parsec",
           "cluster model, latency: value that is no such quantity; got \"20parsec\"; needed a number, alone or with "
           "one of s, ms, us, ns");
    for (const char* bad : {"latency=nan", "latency=inf", "latency=1e999", "latency=", "latency=ms", "latency=0x10",
                            "latency=1 e-6", "latency=1_ms"})
        BOOST_TEST(said<format_error>(bad) != "nothing", bad);
    format(
        "algorithm=rings",
        "cluster model, algorithm: unknown name; got \"rings\"; needed ring, halving_doubling, hierarchical, servers");
    format("overlap=1", "cluster model, overlap: value that is no choice; got \"1\"; needed yes or no");
    format(
        "straggler=normal:1",
        "cluster model, straggler: unknown name; got \"normal\"; needed none, uniform, exponential, lognormal, pareto");
    format(
        "straggler=uniform",
        "cluster model, straggler: straggler without its amount, or none with one; got \"uniform\"; needed none, or a "
        "name and a number as in lognormal:0.05");
    BOOST_TEST(said<format_error>("straggler=none:1") != "nothing");
    BOOST_TEST(said<format_error>("straggler=uniform:") != "nothing");
    BOOST_TEST(said<format_error>("wokers=2").find("unknown key; got \"wokers\"; needed workers, ") !=
               std::string::npos);
}
BOOST_AUTO_TEST_CASE(foreign_text_is_shown_short_and_printable) {
    const std::string what = said<format_error>(std::string("\x1b[31m\0\xff", 7) + std::string(1000, 'x') + "=1");
    BOOST_TEST(what.size() < 400);
    for (char c : what) BOOST_TEST((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    BOOST_TEST(base::is_utf8(what));
    BOOST_TEST(said<format_error>(std::string(70'000, ' ')) ==
               "cluster model: text too long; got 70000 bytes; needed at most 65536");
}
BOOST_AUTO_TEST_CASE(values_out_of_range) {
    for (const char* bad :
         {"workers=0", "workers=1000001", "workers_per_node=0", "workers_per_node=2", "algorithm=servers", "flops=0",
          "bandwidth=0", "latency=-1us", "memory_bandwidth=0", "straggler=pareto:1", "straggler=uniform:-1",
          "samples=0", "latency=infinite", "least_gain=2", "critical_batch=0", "memory=0",
          "algorithm=hierarchical workers=12 workers_per_node=8 node_bandwidth=1GB/s",
          "algorithm=servers servers=2 sharded_update=yes"})
        BOOST_TEST(said<option_error>(bad) != "nothing", bad);
    BOOST_TEST(said<option_error>("workers=0") ==
               "cluster model, workers: value that cannot be used; got 0; needed 1 to 1e+06");
}
BOOST_AUTO_TEST_CASE(what_a_launcher_asks) {
    const plan_request r = plan_request::parse("workers=8 csv=plan.csv chart=out/plan.svg bandwidth=1GB/s");
    BOOST_TEST(r.csv == "plan.csv");
    BOOST_TEST(r.chart == "out/plan.svg");
    BOOST_TEST(r.cluster.workers == 8);
    BOOST_TEST(r.cluster.bandwidth == 1e9);
    BOOST_CHECK_THROW(plan_request::parse("csv"), format_error);
    BOOST_CHECK_THROW(plan_request::parse("workers=8 picture=x"), format_error);
    BOOST_CHECK_THROW(cluster_model::parse("csv=plan.csv"), format_error);
}
