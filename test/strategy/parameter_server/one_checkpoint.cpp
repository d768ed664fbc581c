// SPDX-License-Identifier: BSL-1.0
// weighs: 3
// needs: distributed
#include "../../io/temporary_folder.hpp"
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>

// The chief's checkpoints and those of the servers have different steps. A job that is killed goes on from one
// checkpoint that has all of it: weights, place in the data, hooks. It ends in the bits of one that nothing disturbed.
using namespace sinter;

namespace {

constexpr auto net = features<4> >> dense<8> >> relu >> dropout<0.25f> >> dense<3>;
constexpr int examples = 44, batch = 8, epochs = 9;   // six steps a pass, the last of four examples

struct plan {
    std::string folder{};   ///< empty: nobody saves
    std::uint64_t seed = 1;
    bool resume = true;
    int die_at = -1;        ///< a step; -1: never
    const char* run = "run";
    std::int64_t every = 20, servers_every = 7;
};
/// A hook with a state: how many examples were seen, which enters the result.
struct die {
    static constexpr const char* name = "die";
    int at;
    std::int64_t seen = 0;
    void after_step(training_run& r, const data::batch_view& b) {
        seen += b.size;
        if (r.chief && r.step == at) ::raise(SIGKILL);
    }
    void state(auto& s) { s("seen", seen); }
};
std::string life(const cluster& c, const plan& p) {
    std::vector<float> x;
    std::vector<std::int32_t> labels;
    for (int i = 0; i < examples; ++i) {
        for (int j = 0; j < 4; ++j) x.push_back(static_cast<float>((i * 7 + j * 5) % 11) / 11.f);
        labels.push_back(i % 3);
    }
    data::dataset d;
    d.input(extents(4), x).labels(labels, 3);
    auto batches = d | data::shuffle(examples, 3) | data::batch(batch);
    parameter_server_options o;
    if (!p.folder.empty()) o.checkpoints = p.folder + "/servers", o.save_every_steps = p.servers_every;
    estimator model{net, softmax_cross_entropy, adam{}, canonical<4>(parameter_server<sync<0>>{c, o}),
                    {.threads = 1, .seed = p.seed}};
    std::string said;
    on_message([&](message_level, std::string_view text, std::string_view) { (said += text) += '\n'; });
    die mortal{p.die_at};
    if (p.folder.empty()) model.train(batches, {.epochs = epochs, .progress = nullptr}, mortal);
    else
        model.train(batches, {.epochs = epochs, .progress = nullptr}, mortal,
                    save_checkpoints(p.folder + "/" + p.run, {.every_steps = p.every, .resume = p.resume, .keep = 3}));
    on_message({});
    if (model.inner().session().serves()) return "served";
    return to_text({model.inner().steps(), " steps, ", mortal.seen, " examples, ", hash_of_file(model.inner()), " ",
                   holds(said, "begins anew") ? "anew" : holds(said, "begins from step") ? "from a file" : ""});
}
std::string job_of(const plan& p, int workers = 2, int servers = 2) {
    server_job job(workers, servers);
    job.start_all([p](const cluster& c) { return life(c, p); });
    std::string is = job.result(0);
    for (int i = 1; i < job.size(); ++i) {
        const std::string other = job.result(i);
        if (p.die_at < 0 && i >= workers) BOOST_TEST(other == "served");
        if (p.die_at < 0 && i < workers) BOOST_TEST(other.substr(0, 20) == is.substr(0, 20));
    }
    return is;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_killed_job_ends_in_the_bits_of_one_that_was_not) {
    const std::string expected = job_of({});
    BOOST_TEST_REQUIRE(holds(expected, "54 steps"), expected);
    for (const int at : {13, 33, 47}) {   // before the chief's first file, and behind it
        const temporary_folder folder;
        BOOST_TEST(job_of({.folder = folder / "", .die_at = at}) == "KILLED");
        BOOST_TEST(std::filesystem::exists(folder / ("servers/step-" + std::to_string(at / 7 * 7) + "/manifest.json")));
        BOOST_TEST(job_of({.folder = folder / ""}) == expected + (at < 20 ? "anew" : "from a file"));
    }
}

BOOST_AUTO_TEST_CASE(a_new_run_does_not_go_on_from_what_another_left) {
    const std::string expected = job_of({.seed = 2});
    const temporary_folder folder;
    BOOST_TEST(job_of({.folder = folder / "", .die_at = 40}) == "KILLED");
    BOOST_TEST(job_of({.folder = folder / "", .seed = 2, .resume = false, .run = "other"}) == expected + "anew");
    // What the servers have saved since is newer than all of the run before, whatever its steps.
    BOOST_TEST(job_of({.folder = folder / "", .seed = 1, .die_at = 52}) == "KILLED");
    BOOST_TEST(job_of({.folder = folder / "", .seed = 2, .die_at = 15, .run = "third"}) == "KILLED");
    BOOST_TEST(job_of({.folder = folder / "", .seed = 2, .run = "third"}, 1, 3) == expected + "anew");
}
