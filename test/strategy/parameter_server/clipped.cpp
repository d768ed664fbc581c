// SPDX-License-Identifier: BSL-1.0
// weighs: 3
// needs: distributed
#include <boost/test/unit_test.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <cmath>

#include "job.hpp"
#include <algorithm>
#include <sstream>

// Clipping by the norm of all gradients where several servers each have some of them: they add up
// its parts, and end in the bytes of one device. A table's part is summed by servers, so that its
// norm has other roundings.
using namespace sinter;

namespace {

constexpr auto dense_net = features<12> >> dense<64> >> relu >> dense<90> >> relu >> dense<5>;
constexpr auto table_net = indices<6> >> embedding<50, 8> >> flatten >> dense<24> >> relu >> dense<5>;
constexpr int batch = 8, steps = 20;
const auto clipped = clip_by_global_norm{0.05f, adam{.learning_rate = 0.01f}};

struct examples {
    float numbers[64 * 12];
    std::int32_t words[64 * 6], labels[64];
    examples() {
        random_stream r(3);
        for (float& x : numbers) x = r.normal();
        for (std::int32_t& w : words) w = static_cast<int>(r.word() % 50);
        for (std::int32_t& l : labels) l = static_cast<int>(r.word() % 5);
    }
};
/// The weights that a run ends with, as text: a hash, or numbers.
template <class Net, class Strategy>
std::string trained(Net, const Strategy& strategy, bool exact) {
    static const examples all;
    trainer t{Net{}, softmax_cross_entropy, clipped, max_batch<batch>, strategy, {.threads = 1}};
    if (t.has_served()) return "served";
    for (int i = 0; i < steps; ++i) {
        const int at = i % 8 * batch;
        data::batch_view b{.labels = all.labels + at, .size = batch};
        const data::input_view in{nullptr, all.words + at * 6, 6};
        if (exact) b.x = all.numbers + at * 12;
        else b.inputs = {&in, 1};
        t.step(b);
    }
    t.end_training();
    if (!t.session().member().chief()) return to_text({t.steps()});
    if (exact) {
        return hash_of_file(t);
    }
    std::string text;
    for (int i = 0; i < t.parameters(); ++i)
        for (const float x : t.plain(t.parameter(i))) text += base::general_text(double{x}, 9) + " ";
    return text;
}
template <auto Mode, class Net>
std::string of_job(Net net, int workers, int servers, bool exact) {
    server_job job(workers, servers);
    job.start_all([=](const cluster& c) { return trained(net, canonical<4>(parameter_server<Mode>{c}), exact); });
    for (int i = workers; i < job.size(); ++i) BOOST_TEST(job.result(i) == "served");
    return job.result(0);
}

BOOST_AUTO_TEST_CASE(servers_add_up_the_norm) {
    const std::string expected = trained(dense_net, canonical<4>(single<cpu_device>{}), true);
    for (const auto& [workers, servers] : {std::pair{2, 1}, {1, 2}, {2, 3}})
        BOOST_TEST((of_job<sync<0>>(dense_net, workers, servers, true) == expected), workers << ", " << servers);
    BOOST_TEST((of_job<stale<0>>(dense_net, 2, 2, true) == expected));
}
BOOST_AUTO_TEST_CASE(tables_have_their_part_in_it) {
    std::istringstream one(trained(table_net, canonical<4>(single<cpu_device>{}), false)),
        other(of_job<sync<0>>(table_net, 2, 2, false));
    double x = 0, y = 0, most = 0;
    int n = 0;
    for (; one >> x && other >> y; ++n) most = std::max(most, std::abs(x - y));
    BOOST_TEST(n > 50 * 8);
    BOOST_TEST(most < 1e-4);
}

} // namespace
