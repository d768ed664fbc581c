// SPDX-License-Identifier: BSL-1.0
// shows servers: checkpoints with tables, written by the servers or by the chief
// weighs: 4
// needs: distributed
#include "../../io/temporary_folder.hpp"
#include "job.hpp"
#include "support/hindrances.hpp"
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sched.h>
#include <sinter/base/decimal.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sys/mount.h>

// A job whose tables only the servers have: each writes its own rows of a checkpoint, and the chief all else.
using namespace sinter;

namespace {

constexpr int rows = 500, examples = 44, batch = 8, epochs = 9;
constexpr auto net = indices<2> >> embedding<rows, 4> >> flatten >> dropout<0.25f> >> dense<3>;

struct words {
    data::dataset set;
    words() {
        std::vector<std::int32_t> x, labels;
        for (int i = 0; i < examples; ++i) x.push_back(i * 7 % rows), x.push_back(i * 5 % 11), labels.push_back(i % 3);
        set.input(extents(2), x).labels(labels, 3);
    }
};
template <class Strategy>
auto model_of(const Strategy& s, std::uint64_t seed = 1) {
    return estimator{net, softmax_cross_entropy, adam{}, s, {.threads = 1, .seed = seed}};
}
/// The chief waits behind step `at` until the test goes on.
struct stop_behind {
    int at = -1;
    shared_flag there{}, over{};
};
struct die {
    int at;
    const stop_behind* waits = nullptr;
    void after_step(training_run& r, const data::batch_view&) {
        if (r.chief && r.step == at) ::raise(SIGKILL);
        if (!r.chief || !waits || r.step != waits->at) return;
        waits->there.set();
        waits->over.wait();
    }
};
std::string run(const cluster& c, const std::string& folder, int die_at, int keep, int replicas = 1,
                const stop_behind* waits = nullptr) {
    const words all;
    auto batches = all.set | data::shuffle(examples, 3) | data::batch(batch);
    parameter_server_options with;
    with.replicas = replicas;
    auto model = model_of(canonical<4>(parameter_server<sync<0>>{c, with}));
    die mortal{die_at, waits};
    if (folder.empty()) model.train(batches, {.epochs = epochs, .progress = nullptr}, mortal);
    else
        model.train(batches, {.epochs = epochs, .progress = nullptr}, mortal,
                    save_checkpoints(folder, {.every_steps = 10, .resume = true, .keep = keep}));
    if (model.inner().session().serves()) return "served";
    return hash_of_file(model.inner());
}
std::string job_of(const std::string& folder, int die_at, int keep, int workers, int servers) {
    server_job job(workers, servers);
    job.start_all([=](const cluster& c) { return run(c, folder, die_at, keep); });
    const std::string is = job.result(0);
    for (int i = 1; i < job.size(); ++i) {
        const std::string other = job.result(i);
        if (die_at < 0) BOOST_TEST(other == (i < workers ? is : "served"));
    }
    return is;
}
bool holds_tables(const std::string& file) {
    const auto f = safetensors::read(file);
    return f.tensors.contains("embedding/table");
}

} // namespace

BOOST_AUTO_TEST_CASE(a_killed_job_goes_on_from_what_its_servers_wrote) {
    const std::string expected = job_of("", -1, 3, 2, 2);
    for (const int keep : {3, 0}) {
        const temporary_folder folder;
        const std::string at = folder / "run", file = keep ? at + "/step-40.safetensors" : at;
        BOOST_TEST(job_of(at, 47, keep, 2, 2) == "KILLED");
        BOOST_TEST_REQUIRE(std::filesystem::exists(file));
        BOOST_TEST(!holds_tables(file));
        BOOST_TEST(std::filesystem::exists(file + ".tables"));
        if (keep) {   // what has gone left nothing behind; a damaged part of the newest is seen
            BOOST_TEST(!std::filesystem::exists(at + "/step-10.safetensors.tables"));
            for (const auto& f : std::filesystem::recursive_directory_iterator(file + ".tables"))
                if (f.path().filename() == "shard-1-of-2.safetensors") {
                    std::fstream damaged(f.path(), std::ios::in | std::ios::out | std::ios::binary);
                    damaged.seekp(-1, std::ios::end).put('\x55');
                }
        }
        BOOST_TEST(job_of(at, -1, keep, keep ? 2 : 4, keep ? 3 : 1) == expected);
    }
}

/// Servers whose disk is full, or that have another folder of that name, as on another machine.
BOOST_AUTO_TEST_CASE(a_chief_that_does_not_see_what_servers_write_writes_the_tables_itself) {
    const std::string expected = job_of("", -1, 3, 2, 2);
    for (const bool elsewhere : {false, true}) {
        const temporary_folder folder;
        const std::string at = folder / "run";
        server_job job(2, 2);
        job.start_all([=, above = folder / ""](const cluster& c) -> std::string {
            std::optional<file_size_limit> full;
            if (c.self().role == cluster_role::ps && elsewhere) {
                if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
                    ::mount("none", above.c_str(), "tmpfs", 0, nullptr) != 0)
                    full.emplace(1);   // only root may: then this is the same as the other case
                else std::filesystem::create_directory(at);
            } else if (c.self().role == cluster_role::ps) {
                full.emplace(1);
            }
            int said = 0;
            on_message([&](message_level l, std::string_view text, std::string_view) {
                said += l == message_level::warning && holds(std::string(text), "writes them itself");
            });
            const std::string is = run(c, at, -1, 3);
            on_message({});
            return c.self().role == cluster_role::ps ? is : to_text({is, ", said ", said});
        });
        BOOST_TEST(job.result(0) == expected + ", said 1");
        BOOST_TEST(job.result(1) == expected + ", said 0");
        for (const int s : {2, 3}) BOOST_TEST(job.result(s) == "served");
        const std::string last = at + "/step-50.safetensors";
        BOOST_TEST_REQUIRE(std::filesystem::exists(last));
        BOOST_TEST(holds_tables(last));
        for (const auto& f : std::filesystem::directory_iterator(at))
            if (f.path().filename().string().starts_with("step-5") && f.path().string() != last)
                std::filesystem::remove_all(f.path());   // what the end has left: the next job makes steps
        BOOST_TEST(job_of(at, -1, 3, 2, 3) == expected);
    }
}

/// Each server's part is read by both servers that keep it: one is lost behind the first step, and the other one alone
/// writes what the next job goes on from.
BOOST_AUTO_TEST_CASE(servers_with_second_copies_write_and_read_tables) {
    const std::string expected = job_of("", -1, 3, 2, 2);
    for (const int victim : {0, 1}) {
        const temporary_folder folder;
        const std::string at = folder / "run", file = at + "/step-50.safetensors";
        const auto job_until = [&](int die_at, const stop_behind* waits) {
            server_job job(2, 2);
            job.start_all([=](const cluster& c) { return run(c, at, die_at, 3, 2, waits); });
            if (waits) {
                BOOST_TEST(waits->there.wait());
                job.signal(2 + victim, SIGKILL);
                BOOST_TEST(job.result(2 + victim) == "KILLED");
                waits->over.set();
            }
            return job.result(0);
        };
        BOOST_TEST(job_until(47, nullptr) == "KILLED");
        BOOST_TEST_REQUIRE(std::filesystem::exists(at + "/step-40.safetensors"));
        const stop_behind first{.at = 41};
        BOOST_TEST(job_until(53, &first) == "KILLED");
        BOOST_TEST_REQUIRE(std::filesystem::exists(file), "server " << victim);
        BOOST_TEST(!holds_tables(file));
        BOOST_TEST(std::filesystem::exists(file + ".tables"));
        BOOST_TEST(job_until(-1, nullptr) == expected, "server " << victim);
    }
}

/// One that keeps the table itself reads such a checkpoint, and so does an evaluator.
BOOST_AUTO_TEST_CASE(anybody_reads_the_tables) {
    const temporary_folder folder;
    const std::string at = folder / "run", whole = folder / "whole.safetensors";
    server_job job(1, 2);
    job.start_all([=](const cluster& c) -> std::string {
        const words all;
        auto batches = all.set | data::batch(batch), test = all.set | data::batch(batch);
        auto model = model_of(parameter_server<async>{c});
        std::string text;
        const auto r = train_and_evaluate(
            model, {.data = &batches, .max_steps = 30, .folder = at, .every_steps = 12, .progress = nullptr},
            {.data = &test, .throttle = 0});
        if (r.does == duty::serve) return "served";
        for (const auto& e : r.evaluations) text += base::general_text(e.result.loss, 9) + " ";
        model.save(whole);
        return text;
    });
    const std::string losses = job.result(0);
    BOOST_TEST(job.result(1) == "served");
    BOOST_TEST(job.result(2) == "served");
    const std::string file = at + "/step-30.safetensors";
    BOOST_TEST_REQUIRE(std::filesystem::exists(file), losses);
    BOOST_TEST(!holds_tables(file));
    BOOST_TEST(holds_tables(whole));
    const auto hash_of = [&](auto model, const std::string& path) {
        model.load(path);
        return hash_of_file(model.inner());
    };
    BOOST_TEST(hash_of(model_of(single<cpu_device>{}), file) == hash_of(model_of(single<cpu_device>{}), whole));
    BOOST_CHECK_THROW(hash_of(model_of(single<cpu_device>{}, 2), file), mismatch_error);
    const auto c = [&] {
        cluster_options o;
        return cluster({{cluster_role::chief, 0, "127.0.0.1", 1}, {cluster_role::ps, 0, "127.0.0.1", 2}},
                       cluster_role::evaluator, 0, o);
    }();
    auto evaluator = model_of(parameter_server<async>{c});
    const words all;
    auto test = all.set | data::batch(batch);
    const auto r = train_and_evaluate(evaluator, {.data = &test, .max_steps = 30, .folder = at, .progress = nullptr},
                                      {.data = &test, .start_delay = 0, .throttle = 0});
    BOOST_TEST_REQUIRE(r.evaluations.size() == 1U);
    BOOST_TEST(losses.ends_with(base::general_text(r.evaluations[0].result.loss, 9) + " "), losses);
}
