// SPDX-License-Identifier: BSL-1.0
// shows elastic: hooks that write while a process joins; the chief dies in every call that hooks have
// needs: distributed
// waits: until members are missed, and in each step
#define BOOST_TEST_MODULE elastic_hooks
#include <boost/test/unit_test.hpp>
#include "strategy/elastic_jobs.hpp"
#include <fstream>
#include <iterator>
#include <sinter/layers/norm.hpp>
#include <sinter/train/hooks/csv_log.hpp>
#include <sinter/train/hooks/log_steps.hpp>
#include <sstream>
#include <algorithm>
#include <filesystem>
#include <cstdio>

// Hooks in elastic jobs. Those that write weights, load a file or begin anew at the beginning of a run or of an epoch:
// a process that joins calls them in the midst of an epoch, when the others have written all of it long ago, and what
// it has been given stays as it is. Those of which the chief alone writes: whoever becomes the chief goes on with them.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto model_net = features<2> >> dense<8> >> batch_norm >> relu >> dense<2>;
template <class Strategy>
auto model_under(const Strategy& s) {
    return estimator{model_net, softmax_cross_entropy, adam{.learning_rate = 0.02f}, max_batch<16>, in_four_shards(s),
                     {.threads = 1}};
}
constexpr auto four_shards = [](const auto& m) { return elastic(canonical<4>(m)); };

struct writes_at_beginnings {
    std::string file;
    void begin(auto& run) {
        run.model.reset();
        load(run.model, file);
        run.model.optimizer().learning_rate.peak = 0.02f;   // where the others are it has been lowered since
    }
    void epoch_end(auto& run) { run.model.optimizer().learning_rate.peak *= 0.9f; }
    void epoch_begin(auto& run) {
        const auto& v = run.model.parameter(0);
        std::vector<float> x = run.model.plain(v);
        for (float& f : x) f *= 0.5f;
        run.model.set_plain(v, x.data());
    }
};
std::string bits(const std::vector<float>& w) {
    return std::to_string(sinter::base::checksum::of({reinterpret_cast<const std::byte*>(w.data()), w.size() * 4}));
}
template <class Model, class... Hooks>
std::string trained(Model model, const std::string& file, Hooks... more) {
    auto data = training();
    writes_at_beginnings writes{file};
    model.train(data, {.max_steps = steps_of_a_life, .progress = nullptr}, more..., writes);
    return "steps " + std::to_string(model.inner().steps()) + " bits " + bits(numbers(model));
}

} // namespace

BOOST_AUTO_TEST_CASE(what_hooks_write_at_beginnings) {
    const temporary_folder folder;
    const std::string file = folder / "before.safetensors";
    {
        auto first = model_under(single<cpu_device>{});
        auto data = training();
        first.train(data, {.max_steps = 7, .progress = nullptr});
        first.save(file);
    }
    const std::string alone = trained(model_under(single<cpu_device>{}), file);
    const auto at = own_addresses(3);
    const auto live = [&at, &file](int slot, const plan& p) {
        std::string members;
        const std::string end = trained(model_under(four_shards(multi_worker<ring>{cluster::of(at, slot, quick())})),
                                        file, conduct{p, members});
        return end + " members " + members;
    };
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] { return live(r, {.die_at = r == 1 ? 17 : -1, .pause = 0.06, .joined = 3}); });
    BOOST_TEST(job.result(1) == "KILLED");
    const int again = job.start([=] { return live(1, {.pause = 0.06, .joined = 3}); });
    BOOST_TEST(job.result(0) == alone + " members 323");
    BOOST_TEST(job.result(2) == alone + " members 323");
    BOOST_TEST(job.result(again) == alone + " members 3");
}

// One that would join with another learning rate is told what differs, and the others go on without it.
BOOST_AUTO_TEST_CASE(one_that_joins_with_another_rate) {
    const temporary_folder folder;
    const std::string file = folder / "before.safetensors";
    model_under(single<cpu_device>{}).save(file);
    const auto at = own_addresses(3);
    const auto live = [&at, &file](int slot, const plan& p, float rate) {
        std::string members;
        auto model = model_under(four_shards(multi_worker<ring>{cluster::of(at, slot, quick())}));
        model.inner().optimizer().learning_rate = rate;
        return trained(std::move(model), file, conduct{p, members});
    };
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] { return live(r, {.die_at = r == 1 ? 17 : -1, .pause = 0.06}, 0.02f); });
    BOOST_TEST(job.result(1) == "KILLED");
    const std::string told = job.result(job.start([=] { return live(1, {.pause = 0.06}, 0.05f); }));
    BOOST_TEST(told.find("learning_rate: the job has 0.02, this process has 0.05") != told.npos, told);
    for (const int r : {0, 2}) BOOST_TEST(job.result(r).starts_with("steps 60 bits "));
}

namespace {

enum class moment { begin, epoch_begin, before_step, after_step, pass_end, epoch_end, checkpoint_saved, end };
/// Kills the process in a call, the third epoch's where there is one for each.
struct dies_in {
    bool dies;
    moment where;
    void at(const training_run& run, moment c, bool now) const {
        if (dies && c == where && now && run.chief) ::raise(SIGKILL);
    }
    void begin(training_run& run) { at(run, moment::begin, true); }
    void epoch_begin(training_run& run) { at(run, moment::epoch_begin, run.epoch == 3); }
    void before_step(training_run& run, const data::batch_view&) { at(run, moment::before_step, run.step == 30); }
    void after_step(training_run& run, const data::batch_view&) { at(run, moment::after_step, run.step == 30); }
    void pass_end(training_run& run) { at(run, moment::pass_end, run.epoch == 3); }
    void epoch_end(training_run& run) { at(run, moment::epoch_end, run.epoch == 3); }
    void checkpoint_saved(training_run& run, const std::string&) { at(run, moment::checkpoint_saved, run.epoch == 3); }
    void end(training_run& run) { at(run, moment::end, true); }
};
std::string text_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}
/// What of a csv_log's lines is the same whoever trained: not the seconds, nor the accuracy that only the dead counted.
std::string without_times(const std::string& file) {
    std::stringstream in(text_of(file));
    std::string all;
    for (std::string line; std::getline(in, line); all += '\n') {
        std::stringstream fields(line + ',');
        std::string f;
        for (int i = 0; std::getline(fields, f, ','); ++i)
            if (i != 3 && i != 5) all += f + ',';
    }
    return all;
}
/// What one process writes is in one file, to which it appends.
struct log_file {
    std::FILE* to;
    explicit log_file(const std::string& path) : to(std::fopen(path.c_str(), "a")) {}
    log_file(const log_file&) = delete;
    log_file& operator=(const log_file&) = delete;
    ~log_file() { std::fclose(to); }
};
constexpr int epochs = 5, steps_of_an_epoch = 13;

struct dying { int slot = -1; moment where = moment::begin; bool behind = false; };
template <class Model>
std::string logged(Model model, const std::string& folder, const plan& p, dying d, int slot) {
    auto data = training();
    auto test = points(61, 4) | data::batch(8);
    const log_file progress(folder + "/progress"), steps(folder + "/steps");
    std::string members;
    const bool dies = d.slot == slot;
    dies_in before{dies && !d.behind, d.where}, behind{dies && d.behind, d.where};
    model.train(data, {.epochs = epochs, .validation = &test, .progress = progress.to}, conduct{p, members}, before,
                csv_log(folder + "/log.csv"), log_steps({.every_steps = steps_of_an_epoch, .out = steps.to}), behind,
                save_checkpoints(folder + "/run.safetensors"));
    return "ok steps " + std::to_string(model.inner().steps()) + " chief " +
           std::to_string(model.inner().session().member().chief());
}
int count(const std::string& text, const std::string& part) {
    int n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++n;
    return n;
}

} // namespace

// The chief is killed in every call that hooks have, before and behind those that write, and comes again or does not.
// The table has each epoch's line once, with one process's numbers, and the progress of each epoch is shown.
BOOST_AUTO_TEST_CASE(the_chief_dies_in_every_call) {
    const temporary_folder folder;
    plan p{.pause = 0.03};
    p.steps = epochs * steps_of_an_epoch;
    const std::string alone = folder / "alone";
    std::filesystem::create_directory(alone);
    logged(model_under(single<cpu_device>{}), alone, {}, {}, 0);
    const std::string lines = without_times(alone + "/log.csv");
    BOOST_TEST(std::count(lines.begin(), lines.end(), '\n') == 1 + epochs);
    for (int c = 0; c <= static_cast<int>(moment::end); ++c)
        for (const bool behind : {false, true}) {
            const bool returns = c != static_cast<int>(moment::end) && (c + behind) % 2 == 0;
            BOOST_TEST_CONTEXT("call " << c << (behind ? ", behind" : ", before") << (returns ? ", returns" : "")) {
                plan with = p;
                with.joined = returns ? 3 : 0;
                const std::string to = folder / ("job" + std::to_string(2 * c + behind)).c_str();
                std::filesystem::create_directory(to);
                const auto at = own_addresses(3);
                const auto live = [&at, &to](int slot, const plan& w, dying d) {
                    return logged(model_under(four_shards(multi_worker<ring>{cluster::of(at, slot, quick())})), to, w,
                                  d, slot);
                };
                processes job;
                for (int r = 0; r < 3; ++r)
                    job.start([=] { return live(r, with, {0, static_cast<moment>(c), behind}); });
                BOOST_TEST(job.result(0) == "KILLED");
                const int again = returns ? job.start([=] { return live(0, with, {}); }) : -1;
                for (const int r : {1, 2}) BOOST_TEST(holds(job.result(r), "ok steps 65"), job.result(r));
                if (returns) BOOST_TEST(job.result(again) == "ok steps 65 chief 1");
                BOOST_TEST(without_times(to + "/log.csv") == lines);
                const std::string shown = text_of(to + "/progress"), steps = text_of(to + "/steps");
                for (int e = 1; e <= epochs; ++e) {
                    const std::string epoch = "epoch " + std::to_string(e) + "/5: 200/200";
                    BOOST_TEST(count(shown, epoch) >= 1, epoch << " of\n" << shown);
                }
                for (int e = 1; e <= epochs; ++e)
                    BOOST_TEST(count(steps, "step " + std::to_string(13 * e) + ": ") == 1, e << " of\n" << steps);
            }
        }
}
