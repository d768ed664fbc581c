// SPDX-License-Identifier: BSL-1.0
// shows servers: rates follow the global step; servers' own checkpoints in whole sessions
// weighs: 2
// needs: distributed
#include "job.hpp"
#include "../../io/temporary_folder.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/parameter_server/checkpoint/manifest.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/expr/initialized.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <cmath>
#include <atomic>
#include <algorithm>
#include <sstream>
#include <filesystem>

// A loss whose gradient is 1 everywhere, whatever the weights: these count updates, or add up rates. By that it is seen
// which rate each update of several workers had, and what is lost with a server that comes back from its checkpoint.
using namespace sinter;

namespace {

struct sum_of_outputs {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const { return sum(y[0], {-1}); }
};
constexpr auto net = features<1> >> initialized<constant_of(0.f), "*">(dense<64>);
constexpr int batch = 2;

/// The least and the largest of all weights, with the sign turned: what was taken from each.
template <class Trainer>
std::pair<float, float> taken(const Trainer& t) {
    float least = INFINITY, most = -INFINITY;
    for (int i = 0; i < t.parameters(); ++i)
        for (const float v : t.plain(t.parameter(i))) least = std::min(least, -v), most = std::max(most, -v);
    return {least, most};
}
template <class Trainer>
void make_step(Trainer& t) {
    const float ones[batch] = {1, 1};
    t.step({.x = ones, .size = batch});
}

constexpr std::int64_t all_steps = 120;
constexpr schedule falling = warm_up(10, cosine(0.1f, all_steps));

template <auto Mode>
std::string rates(const cluster& c, int own) {
    trainer t{net, sum_of_outputs{}, sgd{.learning_rate = falling}, max_batch<batch>, parameter_server<Mode>{c},
              {.threads = 1}};
    if (t.has_served()) return "served";
    for (int i = 0; i < own; ++i) make_step(t);
    t.end_training();
    const auto [least, most] = taken(t);
    return to_text({t.steps(), " ", base::general_text(double{least}, 7), " ", base::general_text(double{most}, 7)});
}
template <auto Mode>
void rates_are_the_schedules(int own, std::int64_t updates) {
    double wanted = 0;
    for (std::int64_t k = 0; k < updates; ++k) wanted += static_cast<double>(falling.at(k));
    server_job job(3, 2);
    job.start_all([=](const cluster& c) { return rates<Mode>(c, own); });
    std::istringstream said(job.result(0));
    std::int64_t made = 0;
    double least = 0, most = 0;
    BOOST_TEST(bool(said >> made >> least >> most), said.str());
    BOOST_TEST(made == updates);
    BOOST_TEST(std::abs(least - wanted) < 1e-4, said.str() << ", wanted " << wanted);
    BOOST_TEST(std::abs(most - wanted) < 1e-4, said.str() << ", wanted " << wanted);
}

constexpr int save_every = 20, own_steps = 150;
/// Of the newest checkpoint that is whole, the step of server 1's part; 0: there is none.
std::int64_t saved_by_server_1(const std::string& folder) {
    std::int64_t newest = 0, at = 0;
    std::error_code not_there_yet;
    for (const auto& f : std::filesystem::directory_iterator(folder, not_there_yet)) {
        if (!std::filesystem::exists(f.path() / "manifest.json")) continue;
        try {
            for (const parameter_servers::shard_record& r :
                 parameter_servers::read_manifest(f.path() / "manifest.json").shards) {
                const std::int64_t step = std::atoll(f.path().filename().c_str() + 5);
                if (r.server == 1 && step > newest) newest = step, at = r.step;
            }
        } catch (const error&) {   // an old one, which was removed meanwhile
        }
    }
    return at;
}
/// Each worker waits amid its steps until there is a checkpoint, however long the disk takes.
std::string counts(const cluster& c, const std::string& folder, std::atomic<std::int64_t>& made) {
    trainer t{net, sum_of_outputs{}, sgd{.learning_rate = 1.f}, max_batch<batch>,
              parameter_server<async>{c, {.checkpoints = folder, .save_every_steps = save_every}}, {.threads = 1}};
    if (t.has_served()) return "served";
    for (int i = 0; i < own_steps; ++i) {
        while (i == 60 && saved_by_server_1(folder) == 0) ::usleep(1000);
        make_step(t);
        ++made;
        ::usleep(2000);
    }
    t.end_training();
    const auto [least, most] = taken(t);
    return to_text({static_cast<std::int64_t>(least), " ", static_cast<std::int64_t>(most)});
}

} // namespace

/// Schedules are by the steps of all: three workers of 40 asynchronous steps go through one of 120.
BOOST_AUTO_TEST_CASE(rates_follow_the_global_step) {
    rates_are_the_schedules<async>(40, 120);
    rates_are_the_schedules<sync<0>>(40, 40);
    rates_are_the_schedules<stale<2>>(40, 40);
}

/// A server is killed and started again while its workers live. The other's weights have every push; its own lack no
/// more than what was pushed since its checkpoint, and none counts twice.
BOOST_AUTO_TEST_CASE(a_server_comes_back_from_its_checkpoint) {
    const temporary_folder folder;
    const std::string where = folder / "servers";
    auto& made = in_shared_memory<std::atomic<std::int64_t>>(0);
    server_job job(2, 2);
    const auto life = [&](const cluster& c) { return counts(c, where, made); };
    job.start_all(life);
    for (int i = 0; i < 60000 && (made < 90 || saved_by_server_1(where) == 0); ++i) ::usleep(1000);
    job.signal(3, SIGKILL);
    BOOST_TEST(job.result(3) == "KILLED");
    // Steps whose pushes may be lost: all that were begun by now, but for those that its newest checkpoint has.
    const std::int64_t lost_at_most = made + 2 - saved_by_server_1(where);
    BOOST_TEST(lost_at_most < made);
    job.start(3, life);
    for (int i = 0; i < 2; ++i) {
        std::istringstream said(job.result(i));
        std::int64_t least = 0, most = 0;
        BOOST_TEST(bool(said >> least >> most), said.str());
        if (i > 0) continue;   // who left first has not seen all
        BOOST_TEST(most == 2 * own_steps);
        BOOST_TEST((least < most && least >= most - lost_at_most), said.str() << ", lost at most " << lost_at_most);
    }
    for (int i = 2; i < 4; ++i) BOOST_TEST(job.result(i) == "served");
}
