// SPDX-License-Identifier: BSL-1.0
// shows servers: `sync<0>` and `stale<0>` under `canonical<4>` end in the bytes of one device
// weighs: 3
// needs: distributed
#include "job.hpp"
#include "words.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>

// Workers and servers in processes of their own end in the very bytes of one device: a table, batch
// normalisation, dropout and Adam, by any number of workers.
using namespace sinter;
using server_words::net, server_words::batch, server_words::examples;

namespace {

constexpr int steps = 25;

/// What a run of the loop comes to: all that a file has of it.
template <class Strategy>
std::string trained(const Strategy& strategy) {
    static const examples all;
    trainer t{net, softmax_cross_entropy, adam{}, max_batch<batch>, strategy, {.threads = 1}};
    if (t.has_served()) return "served";
    double loss = 0;
    for (int i = 0; i < steps; ++i) {
        const int size = i % 5 == 4 ? 3 : batch;   // fewer examples than shards, too
        loss = double{server_words::step(t, all, i, size)};
    }
    t.end_training();
    if (!t.session().member().chief()) return to_text({t.steps()});
    return to_text(
        {t.steps(), " steps, loss ", base::general_text(loss, 9), ", file ", hash_of_file(t)});
}

template <auto Mode>
void compare(int workers, int servers) {
    static const std::string expected = trained(canonical<4>(single<cpu_device>{}));
    server_job job(workers, servers);
    job.start_all([](const cluster& c) { return trained(canonical<4>(parameter_server<Mode>{c})); });
    BOOST_TEST(job.result(0) == expected, workers << " workers");
    for (int i = 1; i < workers; ++i) BOOST_TEST(job.result(i) == to_text({steps}));
    for (int i = workers; i < job.size(); ++i) BOOST_TEST(job.result(i) == "served");
}

BOOST_AUTO_TEST_CASE(sync_has_the_bits_of_one_device) {
    for (const int workers : {1, 2, 4}) compare<sync<0>>(workers, 2);
    compare<sync<0>>(2, 1);
}
BOOST_AUTO_TEST_CASE(so_has_stale_0) {
    for (const int workers : {1, 2, 4}) compare<stale<0>>(workers, 3);
}

}   // namespace
