// SPDX-License-Identifier: BSL-1.0
// weighs: 3
// needs: distributed
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>

#include "io/temporary_folder.hpp"
#include "job.hpp"
#include "words.hpp"

// A job that ended goes on, on another number of servers, from what its servers saved: it ends in the bytes of one that
// was never interrupted, on one device. Weights, Adam's memory, a table, running statistics.
using namespace sinter;
using server_words::net, server_words::batch, server_words::examples;

namespace {

constexpr int cut = 20, steps = 33;

/// Steps [first, end) of a run; what a file has of it.
template <class Strategy>
std::string trained(const Strategy& strategy, int first, int end) {
    static const examples all;
    trainer t{net, softmax_cross_entropy, adam{}, max_batch<batch>, strategy, {.threads = 1}};
    if (t.has_served()) return "served";
    for (int i = first; i < end; ++i) server_words::step(t, all, i);
    t.end_training();
    if (!t.session().member().chief()) return to_text({t.steps()});
    return to_text({t.steps(), " steps, file ", hash_of_file(t)});
}
std::string job_of(int workers, int servers, const std::string& folder, int first, int end,
                   parameter_servers::row_partition rows = parameter_servers::row_partition::mod) {
    server_job job(workers, servers);
    job.start_all([=](const cluster& c) {
        parameter_server_options o{.rows = rows, .checkpoints = folder, .save_every_steps = 10};
        return trained(canonical<4>(parameter_server<sync<0>>{c, o}), first, end);
    });
    const std::string is = job.result(0);
    for (int i = workers; i < job.size(); ++i) BOOST_TEST(job.result(i) == "served");
    return is;
}

BOOST_AUTO_TEST_CASE(a_job_goes_on_on_another_number_of_servers) {
    const std::string expected = trained(canonical<4>(single<cpu_device>{}), 0, steps);
    for (const auto& [from, to] : {std::pair{4, 1}, {1, 4}, {4, 2}, {2, 2}}) {
        const temporary_folder folder;
        const std::string where = folder / "servers";
        job_of(1, from, where, 0, cut);
        BOOST_TEST(std::filesystem::exists(where + to_text({"/step-", cut, "/manifest.json"})));
        BOOST_TEST(job_of(2, to, where, cut, steps) == expected);
    }
    const temporary_folder folder;   // rows dealt out another way, too
    job_of(1, 3, folder / "servers", 0, cut, parameter_servers::row_partition::div);
    BOOST_TEST(job_of(1, 2, folder / "servers", cut, steps) == expected);
}

} // namespace
