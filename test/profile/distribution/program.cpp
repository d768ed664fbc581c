// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE program
#include <boost/test/unit_test.hpp>

#include <sinter/base/decimal.hpp>
#include <sinter/sinter.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/profile/describe_distribution.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "profile/page_checks.hpp"

/// What a plan is told by a program, beside what is counted otherwise; and plans of trainers and
/// estimators as text, CSV and SVG.
using namespace sinter;
using namespace sinter::base;

constexpr auto net = image<12, 12, 1> >> conv2d<6, 3> >> relu >> max_pool<2> >> flatten >> dense<32> >> relu
    >> dense<10>;
static constexpr int trained = 9 * 6 + 6 + 216 * 32 + 32 + 32 * 10 + 10;   // parameters
using small = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adam, build_options{16}>;

template <class F>
static std::string captured(F f) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* out = ::open_memstream(&text, &size);
    f(out);
    std::fclose(out);
    const std::string s(text, size);
    std::free(text);
    return s;
}

BOOST_AUTO_TEST_CASE(figures_of_a_program) {
    const training_profile p = profile_of<small>();
    BOOST_CHECK_NO_THROW(p.check());
    BOOST_TEST(p.batch == 16);
    // All gradients, in whole lines of 16 floats for each tensor.
    BOOST_TEST(p.reduced_bytes() >= 4 * trained);
    BOOST_TEST(p.reduced_bytes() < 1.25 * 4 * trained);
    BOOST_TEST(p.slot_bytes >= 8 * trained);   // Adam's two
    // Products and convolutions: two operations a multiply-add; forward, and backward by weights
    // and, but for the image, by inputs. The convolution's weights have their gradient from the 36
    // places that the max-pool has chosen.
    const double products = 2 * ((144. + 36) * 9 * 6 + 3 * (216. * 32 + 32. * 10)) * 16;
    double flops = 0;
    for (const auto& w : p.launches) flops += w.flops.at(16);
    BOOST_TEST(flops >= products);
    BOOST_TEST(flops < 1.2 * products);
    for (const auto& w : p.launches) BOOST_TEST(w.bytes.at(16) > 0);
    BOOST_TEST(p.updates.size() >= 1u);
    for (std::size_t i = 1; i < p.buckets.size(); ++i)
        BOOST_TEST(p.buckets[i - 1].final_after <= p.buckets[i].final_after);
}
BOOST_AUTO_TEST_CASE(smaller_buckets_are_final_earlier) {
    using fine = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adam,
                         build_options{16, program_options{.gradients = gradient_policy::reduced, .bucket_bytes = 64}}>;
    const training_profile p = profile_of<fine>(), coarse = profile_of<small>();
    BOOST_TEST(p.buckets.size() > coarse.buckets.size());
    BOOST_TEST(p.buckets[0].final_after < coarse.buckets.back().final_after);
    BOOST_TEST(p.reduced_bytes() == coarse.reduced_bytes());
    const training_profile joined = p.with_buckets_of(1e9);
    BOOST_TEST(joined.buckets.size() == 1u);
    BOOST_TEST(joined.reduced_bytes() == p.reduced_bytes());
    BOOST_TEST(joined.buckets[0].final_after == p.buckets.back().final_after);
}
/// A table's gradient is a list of as many rows as the batch has tokens.
BOOST_AUTO_TEST_CASE(lists_of_rows) {
    constexpr auto words = indices<4> >> embedding<5000, 8> >> flatten >> dense<3>;
    using model = trainer<std::remove_const_t<decltype(words)>, softmax_cross_entropy_loss, sgd, build_options{16}>;
    const training_profile p = profile_of<model>();
    int lists = 0;
    for (const auto& b : p.buckets)
        if (b.rows) {
            ++lists;
            BOOST_TEST(b.bytes.at(16) == 16 * 4 * 4 * (8 + 1));
            BOOST_TEST(b.bytes.at(32) == 32 * 4 * 4 * (8 + 1));
        }
    BOOST_TEST(lists == 1);
}
/// A loop's kernels count for each iteration.
BOOST_AUTO_TEST_CASE(loops) {
    constexpr auto short_one = array<4, 6> >> gru<8> >> flatten >> dense<3>;
    constexpr auto long_one = array<40, 6> >> gru<8> >> flatten >> dense<3>;
    const auto flops = [](auto n) {
        return profile_of<trainer<decltype(n), softmax_cross_entropy_loss, sgd, build_options{4}>>().flops();
    };
    BOOST_TEST(flops(long_one) > 8 * flops(short_one));
}
BOOST_AUTO_TEST_CASE(accumulated_steps) {
    using model =
        trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, accumulated<3, sgd>, build_options{16}>;
    BOOST_TEST(profile_of<model>().every == 3);
}

BOOST_AUTO_TEST_CASE(text_of_trainers_and_estimators) {
    const auto m =
        cluster_model::parse("workers=6 flops=50G bandwidth=1Gbit/s latency=30us straggler=exponential:0.02 servers=2");
    small t;
    const std::string text = captured([&](std::FILE* out) { describe_distribution(t, m, out); });
    for (const char* part : {"6 workers, 1 a node, batch 16 each; 50 GFLOP/s", "stragglers exponential:0.02",
                             "\nring                     1 ", "\nring                     4 ",
                             "\nring                     6 ", "\nhalving_doubling         6 ",
                             "\nservers                  6 ", "\nbucket ", "\nmemory of a worker ",
                             "\nlargest batch that pays: "})
        BOOST_TEST(text.find(part) != std::string::npos, "no \"" << part << "\" in\n" << text);
    estimator e{net, softmax_cross_entropy, adam{}, max_batch<16>};
    BOOST_TEST(captured([&](std::FILE* out) { describe_distribution(e, m, out); }) == text);
}
BOOST_AUTO_TEST_CASE(a_table) {
    const auto m = cluster_model::parse("workers=5 servers=2 flops=50G");
    const std::string csv = distribution_csv(profile_of<small>(), m);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < csv.size();) {
        const std::size_t end = csv.find('\n', at);
        lines.push_back(csv.substr(at, end - at));
        at = end + 1;
    }
    BOOST_TEST(lines.size() == 1 + 4 * 4u);   // 1, 2, 4 and 5 workers
    for (const std::string& l : lines) BOOST_TEST(std::count(l.begin(), l.end(), ',') == 13);
    cluster_model two = m;
    two.workers = 2;
    const distribution_plan d = plan_distribution(profile_of<small>(), two);
    BOOST_TEST(lines[2].starts_with("ring,2,0,16,32," + base::general_text(d.step, 9) + ","));
}
BOOST_AUTO_TEST_CASE(a_picture) {
    const std::string picture =
        distribution_chart(profile_of<small>(), cluster_model::parse("workers=5 servers=2 flops=50G"));
    BOOST_TEST(test::what_is_malformed(picture) == "");
    for (const char* part : {"ring", "halving", "hierarchical", "servers", "Efficiency", "computing", "+ straggling",
                             "+ waiting", "5 workers"})
        BOOST_TEST(picture.find(part) != std::string::npos);
}
BOOST_AUTO_TEST_CASE(asked_by_the_environment) {
    ::unsetenv("SINTER_PLAN");
    BOOST_TEST(!print_plan_if_asked<small>());
    const std::string csv = "plan-" + std::to_string(::getpid()) + ".csv", chart = csv + ".svg";
    ::setenv("SINTER_PLAN", ("workers=4 csv=" + csv + " chart=" + chart).c_str(), 1);
    const std::string text = captured([&](std::FILE* out) { BOOST_TEST(print_plan_if_asked<small>(out)); });
    BOOST_TEST(text.find("4 workers, 1 a node") != std::string::npos);
    BOOST_TEST(std::remove(csv.c_str()) == 0);
    BOOST_TEST(std::remove(chart.c_str()) == 0);
    ::setenv("SINTER_PLAN", "workers=x", 1);
    BOOST_CHECK_THROW(print_plan_if_asked<small>(), format_error);
    ::unsetenv("SINTER_PLAN");
}
