// SPDX-License-Identifier: BSL-1.0
// shows servers: second copies with norms over servers, tables of keys, losses that alternate
// needs: distributed
// processors: 2
// weighs: 3
#include "job.hpp"
#include "../../io/temporary_folder.hpp"
#include "support/gan_losses.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/layers/hashed_embedding.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/optimizers/momentum.hpp>

// Servers that keep their parts twice, one of which is killed, with all that makes a step of several parts: a norm that
// servers add up, tables whose rows are made and given up, losses that alternate. Not a bit is another one.
using namespace sinter;
using sinter::test::drawing, sinter::test::telling;

namespace {

constexpr int batch = 8, steps = 40, width = 3;

struct examples {
    float numbers[64 * 6], y[64];
    std::int64_t keys[steps * batch * width];
    examples() {
        random_stream r(3);
        for (float& x : numbers) x = r.normal();
        for (float& x : y) x = r.uniform(-1, 1);
        for (std::int64_t& k : keys) k = static_cast<std::int64_t>((r.word() % 200 - 100u) * 0x0123456789abcdefull);
    }
};
const examples all;

using progress = std::atomic<std::int64_t>;
template <class Trainer>
std::string end_of(Trainer& t) {
    t.end_training();
    if (!t.session().member().chief()) return to_text({t.steps()});
    const temporary_folder folder;
    save(t, folder / "a.safetensors");
    const std::vector<std::byte> file = io::read_whole_file(folder / "a.safetensors");
    return to_text({t.steps(), " steps, file ", hash_text({file.data(), file.size()})});
}
/// step(trainer, i) for each i; what the file of all that is has.
template <class Trainer, class Step>
std::string train(Trainer t, Step step, progress* made) {
    if (t.has_served()) return "served";
    for (int i = 0; i < steps; ++i) {
        step(t, i);
        if (made && t.session().member().chief()) ++*made;
    }
    return end_of(t);
}
/// What a job ends with, two workers and two servers; `victim` is killed in the midst.
/// `work(cluster, options, progress)`.
template <class Work>
std::string job_of(Work work, int replicas, int victim = -1) {
    progress& made = in_shared_memory<progress>(0);
    parameter_server_options o;
    o.replicas = replicas;
    server_job job(2, 2);
    job.start_all([&, o](const cluster& c) { return work(c, o, &made); });
    if (victim >= 0) {
        for (int i = 0; i < 80000 && made < 7 + 9 * victim; ++i) ::usleep(500);
        job.signal(2 + victim, SIGKILL);
    }
    const std::string said = job.result(0);
    BOOST_TEST(job.result(1) == to_text({steps}));
    for (int s = 0; s < 2; ++s) BOOST_TEST(job.result(2 + s) == (s == victim ? "KILLED" : "served"));
    return said;
}
template <class Work>
void compare(const char* what, const std::string& expected, Work work) {
    BOOST_TEST(holds(expected, to_text({steps, " steps, file "})), expected);
    for (const int victim : {0, 1}) BOOST_TEST(job_of(work, 2, victim) == expected, what << ", server " << victim);
}

template <auto Mode>
constexpr auto on_servers = [](const cluster& c, const parameter_server_options& o) {
    return canonical<4>(parameter_server<Mode>{c, o});
};

constexpr auto dense_net = features<6> >> dense<40> >> relu >> dense<70> >> relu >> dense<1>;
template <class Strategy>
std::string clipped(const Strategy& s, progress* made = nullptr) {
    return train(trainer{dense_net, mse, clip_by_global_norm{0.02f, adam{.learning_rate = 0.01f}}, max_batch<batch>, s,
                         {.threads = 1}},
                 [](auto& t, int i) {
                     const int at = i % 8 * batch;
                     t.step({.x = all.numbers + at * 6, .y = all.y + at, .size = batch});
                 }, made);
}
BOOST_AUTO_TEST_CASE(the_norm_of_all_gradients) {
    const std::string expected = clipped(canonical<4>(single<cpu_device>{}));
    compare("sync", expected,
            [](const cluster& c, const auto& o, progress* made) { return clipped(on_servers<sync<0>>(c, o), made); });
}

/// Keys that are admitted when they are seen again, and rows that expire.
constexpr auto table_net =
    keys<width> >> hashed_embedding<5, hashed_options{.most_rows = 1000, .admit_after = 2, .expire_after = 9}>
    >> flatten >> dense<1>;
auto table_trainer(const cluster& c, const parameter_server_options& o) {
    return trainer{table_net, mse, adam{.learning_rate = 0.01f}, max_batch<batch>, on_servers<sync<0>>(c, o),
                   {.threads = 1}};
}
constexpr auto table_step = [](auto& t, int i) {
    const data::input_view in{nullptr, reinterpret_cast<const std::int32_t*>(all.keys + i * batch * width), 2 * width};
    t.step({.y = all.y + i % 8 * batch, .size = batch, .inputs = {&in, 1}});
};
std::string with_table(const cluster& c, const parameter_server_options& o, progress* made) {
    return train(table_trainer(c, o), table_step, made);
}
BOOST_AUTO_TEST_CASE(tables_of_keys) { compare("hashed", job_of(with_table, 1), with_table); }

/// After 20 steps it goes back to the 10th; a server is lost when that is done.
std::string table_that_goes_back(const cluster& c, int replicas, const std::string& file, const shared_flag& done,
                                 const shared_flag& lost) {
    parameter_server_options o;
    o.replicas = replicas;
    auto t = table_trainer(c, o);
    if (t.has_served()) return "served";
    for (int i = 0; i < 10; ++i) table_step(t, i);
    save(t, file);
    const std::string early = hash_of_file(t);
    for (int i = 10; i < 20; ++i) table_step(t, i);
    load(t, file);
    const std::string said = hash_of_file(t) == early ? "loaded, " : "something else, ";
    if (t.session().member().chief()) done.set();
    lost.wait();
    for (int i = 20; i < steps; ++i) table_step(t, i);
    return said + end_of(t);
}
BOOST_AUTO_TEST_CASE(tables_of_keys_that_go_back) {
    const auto end_of_job = [](int copies, int victim) {
        const temporary_folder folder;
        const shared_flag done, lost;
        server_job job(2, 2);
        job.start_all([&](const cluster& c) {
            return table_that_goes_back(c, copies, folder / "file", done, lost);
        });
        if (victim < 0) lost.set();
        else BOOST_TEST(job.kill_once(done, 2 + victim, lost) == "KILLED");
        const std::string end = job.result(0);
        BOOST_TEST(job.result(1) == to_text({"loaded, ", steps - 10}));   // the chief alone has a file
        for (int s = 0; s < 2; ++s)
            if (s != victim) BOOST_TEST(job.result(2 + s) == "served");
        return end;
    };
    const std::string expected = end_of_job(1, -1);
    BOOST_TEST(expected.starts_with(to_text({"loaded, ", steps - 10, " steps, file "})), expected);
    for (const int victim : {0, 1}) BOOST_TEST(end_of_job(2, victim) == expected, "server " << victim);
}

constexpr auto pairs = features<6> >> [](tensor x) {
    constexpr auto critic = shared<"critic">(dense<9> >> batch_norm >> activation::tanh >> dense<1>);
    return outputs(critic(x), critic(named<"generator">(dense<20> >> relu >> dense<6>)(x)));
};
constexpr alternating losses{phase<"critic/*">(telling{}, clip_by_global_norm{0.05f, adam{.learning_rate = 0.01f}}, 2),
                            phase<"generator/*">(drawing{}, momentum{.learning_rate = 0.05f})};
template <class Strategy>
std::string alternately(const Strategy& s, progress* made = nullptr) {
    return train(alternating_trainer{pairs, losses, max_batch<batch>, s, {.threads = 1}},
                 [](auto& t, int i) { t.step({.x = all.numbers + i % 8 * batch * 6, .size = batch}); }, made);
}
BOOST_AUTO_TEST_CASE(losses_that_alternate) {
    const std::string expected = alternately(canonical<4>(single<cpu_device>{}));
    compare("alternating", expected,
            [](const cluster& c, const auto& o, progress* made) {
                return alternately(on_servers<stale<0>>(c, o), made);
            });
}

} // namespace
