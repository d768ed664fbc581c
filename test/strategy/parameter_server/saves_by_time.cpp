// SPDX-License-Identifier: BSL-1.0
// shows servers: several servers save by steps, seconds or both: every checkpoint has all parts
// weighs: 3
// needs: distributed
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <sstream>

#include "io/temporary_folder.hpp"
#include "job.hpp"
#include "words.hpp"

// Several servers that save every so many seconds, or steps as well, do so together: each
// checkpoint has a part of every server, and by clocks all parts are of one step.
using namespace sinter;
using server_words::net, server_words::batch, server_words::examples;

namespace {

constexpr int servers = 3;

int manifests(const std::string& folder) {
    int n = 0;
    if (std::filesystem::exists(folder))
        for (const auto& f : std::filesystem::directory_iterator(folder))
            n += std::filesystem::exists(f.path() / "manifest.json");
    return n;
}
/// Steps until there are four checkpoints.
template <auto Mode>
std::string trained(const cluster& c, const std::string& folder, batch_input input, std::int64_t every) {
    static const examples all;
    const parameter_server_options o{
        .input = input, .checkpoints = folder, .save_every_steps = every, .save_every_seconds = 0.03, .keep = 0};
    trainer t{net, softmax_cross_entropy, adam{}, max_batch<batch>, parameter_server<Mode>{c, o}, {.threads = 1}};
    if (t.has_served()) return "served";
    const bool chief = t.session().member().chief();
    for (int i = 0; i < 1'000'000; ++i) {
        t.ask_members(chief && i % 16 == 0 && manifests(folder) >= 4, false);
        server_words::step(t, all, i);
        if (t.last_step().stop) break;
    }
    t.end_training();
    return "trained";
}
template <auto Mode>
void all_save_together(batch_input input, bool one_step, std::int64_t every = 0) {
    const temporary_folder folder;
    const std::string where = folder / "servers";
    server_job job(2, servers);
    job.start_all([&](const cluster& c) { return trained<Mode>(c, where, input, every); });
    for (int i = 0; i < job.size(); ++i) BOOST_TEST(job.result(i) == (i < 2 ? "trained" : "served"));
    BOOST_TEST(manifests(where) >= 4);
    for (const auto& f : std::filesystem::directory_iterator(where)) {
        if (!f.is_directory()) continue;
        BOOST_TEST(std::filesystem::exists(f.path() / "manifest.json"), f.path());
        for (int s = 0; s < servers; ++s)
            BOOST_TEST(std::filesystem::exists(f.path() / to_text({"shard-", s, "-of-", servers, ".safetensors"})));
        std::ifstream in(f.path() / "manifest.json");
        std::stringstream text;
        text << in.rdbuf();
        if (one_step) BOOST_TEST(text.str().find("\"one_step\": true") != std::string::npos, text.str());
    }
}

BOOST_AUTO_TEST_CASE(by_clocks) {
    all_save_together<sync<0>>(batch_input::global, true);
    all_save_together<stale<2>>(batch_input::global, true);
    all_save_together<stale<2>>(batch_input::per_worker, true);
    all_save_together<sync<1>>(batch_input::per_worker, true);
}
BOOST_AUTO_TEST_CASE(asynchronously) { all_save_together<async>(batch_input::per_worker, false); }
BOOST_AUTO_TEST_CASE(by_steps_as_well) {
    all_save_together<sync<0>>(batch_input::global, true, 7);
    all_save_together<async>(batch_input::per_worker, false, 7);
}

} // namespace
