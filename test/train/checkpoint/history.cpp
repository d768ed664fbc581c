// SPDX-License-Identifier: BSL-1.0
// shows saving: checkpoints in the order written, after loads of earlier ones, in others' folders, damaged
#define BOOST_TEST_MODULE history
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "support/messages.hpp"
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>

// Checkpoints are gone on from in the order in which they were written, within the history of one run: a run that is
// begun anew, and one that is taken back to an earlier step, have lower steps than what was there before.
using namespace sinter;
using sinter_test::messages;

namespace {

constexpr auto net = features<1> >> dense<1>;
using steps_list = std::vector<std::int64_t>;

data::dataset line() {
    data::dataset set(extents(1), std::vector<float>(40, 1.f));
    set.targets(extents(1), std::vector<float>(40, 2.f));
    return set;
}
struct model_of {
    estimator<std::remove_const_t<decltype(net)>, decltype(mse), sgd> model;
    explicit model_of(float rate) : model{net, mse, sgd{.learning_rate = rate}, trainer_options{.threads = 1}} {}
    /// To so many steps, with a checkpoint at every tenth; the steps in the end.
    std::int64_t train(const std::string& folder, std::int64_t steps, bool resume, int keep) {
        auto d = line() | data::batch(4);
        model.train(d, {.max_steps = steps, .progress = nullptr},
                    save_checkpoints(folder, {.every_steps = 10, .resume = resume, .keep = keep}));
        return model.inner().steps();
    }
    float weight() { return model.inner().plain(model.inner().parameter(1))[0]; }
};
std::int64_t run(const std::string& folder, std::int64_t steps, bool resume, int keep) {
    return model_of(0.001f).train(folder, steps, resume, keep);
}
/// 100 steps, taken back to 60, and on to 90 at another rate; the weight there.
float taken_back(const std::string& folder, int keep) {
    run(folder, 100, false, keep);
    model_of m(0.01f);
    m.model.load(folder + "/step-60.safetensors");
    BOOST_TEST(m.train(folder, 90, false, keep) == 90);
    return m.weight();
}
steps_list list(const std::string& folder) { return checkpoint_folder(folder, 1).steps(); }
void is(const steps_list& a, const steps_list& b) { BOOST_TEST(a == b, boost::test_tools::per_element()); }
void damage(const std::string& folder, std::int64_t step, bool head = false) {
    const std::string name = folder + to_text({"/step-", step, ".safetensors"});
    std::string bytes = read_bytes(name);
    if (head) bytes.resize(20);
    else bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_bytes(name, bytes);
}

BOOST_AUTO_TEST_CASE(a_run_that_is_begun_anew_is_newer) {
    const temporary_folder all;
    const std::string folder = all / "run";
    run(folder, 100, false, 3);
    is(list(folder), {100, 90, 80});
    {
        messages said;
        run(folder, 10, false, 3);
        BOOST_TEST(said.have("3 checkpoints, of steps 80 to 100"));
        BOOST_TEST(said.have("begins at step 0 and does not resume"));
    }
    is(list(folder), {10, 100, 90});   // the newest three, and of another run those that were written last
    run(folder, 50, false, 3);
    is(list(folder), {50, 40, 30});
    messages said;
    BOOST_TEST(run(folder, 60, true, 3) == 60);
    BOOST_TEST(said.have("resumed from step 50"));
    BOOST_TEST(said.have(folder + "/step-50.safetensors"));
    is(list(folder), {60, 50, 40});
}
BOOST_AUTO_TEST_CASE(one_file) {
    const temporary_folder all;
    const std::string file = all / "made/with it/run.safetensors";
    run(file, 40, false, 0);
    messages said;
    run(file, 20, false, 0);
    BOOST_TEST(said.have("1 checkpoint, of step 40"));
    BOOST_TEST(said.have("takes the place of that one"));
    BOOST_TEST(run(file, 30, true, 0) == 30);
    BOOST_TEST(said.have("resumed from step 20"));
}
BOOST_AUTO_TEST_CASE(a_run_that_is_taken_back_goes_on_from_its_own) {
    const temporary_folder all;
    for (const int keep : {10, 3}) {
        const std::string folder = all / std::to_string(keep);
        if (keep == 3) {   // the file is there still
            run(folder, 60, false, keep);
            std::filesystem::copy(folder + "/step-60.safetensors", all / "sixty");
            run(folder, 100, true, keep);
            std::filesystem::copy(all / "sixty", folder + "/step-60.safetensors");
        }
        const float at_90 = keep == 10 ? taken_back(folder, keep) : [&] {
            model_of m(0.01f);
            m.model.load(folder + "/step-60.safetensors");
            m.train(folder, 90, false, keep);
            return m.weight();
        }();
        if (keep == 10) is(list(folder), {90, 80, 70, 60, 50, 40, 30, 20, 10, 100});
        else is(list(folder), {90, 80, 70});
        model_of m(0.01f);
        messages said;
        BOOST_TEST(m.train(folder, 90, true, keep) == 90);
        BOOST_TEST(m.weight() == at_90);
        BOOST_TEST(said.have("step 100 are of another run, or were taken back") == (keep == 10));
    }
}
// Where a run's own files are damaged, what it has come from is taken, and nothing else.
BOOST_AUTO_TEST_CASE(damaged_files_give_way_to_their_own_history) {
    const temporary_folder all;
    for (const bool head : {false, true}) {
        const std::string folder = all / (head ? "heads" : "ends");
        taken_back(folder, 10);
        for (const std::int64_t step : {90, 80, 70}) damage(folder, step, head);
        {
            messages said;
            model_of m(0.01f);
            BOOST_TEST(m.train(folder, 60, true, 10) == 60);   // and not 100
            BOOST_TEST(said.have("step-70.safetensors"));
            BOOST_TEST(said.have("The checkpoint before it is taken"));
        }
        // A run from the beginning has come from nothing: its only file, damaged, is an error.
        run(folder, 10, false, 20);
        damage(folder, 10, false);
        messages said;
        BOOST_CHECK_THROW(run(folder, 20, true, 20), format_error);
        BOOST_TEST(said.have("load() reads them"));
    }
}
BOOST_AUTO_TEST_CASE(a_second_call_goes_on_with_the_history) {
    const temporary_folder all;
    const std::string folder = all / "run";
    model_of m(0.001f);
    m.train(folder, 20, false, 5);
    m.train(folder, 40, false, 5);
    is(list(folder), {40, 30, 20, 10});
    damage(folder, 40);
    damage(folder, 30);
    BOOST_TEST(run(folder, 20, true, 5) == 20);
}
// The record counts the runs; where it is lost, or damaged, the files tell what there was.
BOOST_AUTO_TEST_CASE(without_the_record) {
    const temporary_folder all;
    for (const bool removed : {true, false}) {
        const std::string folder = all / std::to_string(removed);
        for (int i = 0; i < 3; ++i) run(folder, 30, false, 3);
        if (removed) std::filesystem::remove(folder + "/run");
        else write_bytes(folder + "/run", "damaged");
        run(folder, 20, false, 3);
        is(list(folder), {20, 10, 30});
        BOOST_TEST(run(folder, 25, true, 3) == 25);
    }
}
// Numbers that stand beside the tensors, in a checkpoint's metadata, have a checksum of their own.
BOOST_AUTO_TEST_CASE(changed_metadata) {
    const temporary_folder all;
    const std::string file = all / "run";
    run(file, 10, false, 0);
    std::string bytes = read_bytes(file);
    const std::size_t at = bytes.find("\"written\":\"1 ");
    BOOST_REQUIRE(at != bytes.npos);
    bytes[at + 11] = '3';
    write_bytes(file, bytes);
    BOOST_CHECK_EXCEPTION(run(file, 20, true, 0), format_error, [](const error& e) {
        return std::string(e.what()).find("metadata have changed") != std::string::npos;
    });
}

train_spec training(data::pipeline& d, const std::string& folder, std::int64_t steps, duty does) {
    return {.data = &d, .max_steps = steps, .folder = folder, .every_steps = 10, .keep = 10, .does = does,
            .progress = nullptr};
}
/// What an evaluator measures.
steps_list evaluated(const std::string& folder, std::int64_t steps, double give_up = 20) {
    model_of m(0.01f);
    auto d = line() | data::batch(4), v = line() | data::batch(4);
    steps_list all;
    try {
        train_and_evaluate(m.model, training(d, folder, steps, duty::evaluate),
                           {.data = &v, .start_delay = 0, .throttle = 0, .give_up_after = give_up,
                            .evaluated = [&](std::int64_t s, const evaluation_result&) { all.push_back(s); }});
    } catch (const io_error&) {   // it has given up
        all.push_back(-1);
    }
    return all;
}
BOOST_AUTO_TEST_CASE(an_evaluator_follows_the_order_of_writing) {
    const temporary_folder all;
    const std::string folder = all / "run";
    taken_back(folder, 10);
    is(evaluated(folder, 100, 0.2), {90, -1});   // not 100, which was taken back
    damage(folder, 90, true);
    is(evaluated(folder, 100, 0.2), {80, -1});
}
// The file that says that training has ended is of one run, and of one number of steps.
BOOST_AUTO_TEST_CASE(an_end_that_is_not_the_present_ones) {
    const temporary_folder all;
    const std::string folder = all / "run";
    const auto train = [&](std::int64_t steps) {
        model_of m(0.01f);
        auto d = line() | data::batch(4), v = line() | data::batch(4);
        train_and_evaluate(m.model, training(d, folder, steps, duty::train), {.data = &v});
    };
    train(20);
    is(evaluated(folder, 20), {20});
    is(evaluated(folder, 40, 0.2), {20, -1});   // is to be continued
    train(40);
    is(evaluated(folder, 40), {40});
    is(evaluated(folder, 30), {40});            // has all steps, and more
    // Taken back by hand: what has ended is not what is there now.
    model_of m(0.01f);
    m.model.load(folder + "/step-20.safetensors");
    m.train(folder, 30, false, 10);
    is(evaluated(folder, 40, 0.2), {30, -1});
}
BOOST_AUTO_TEST_CASE(an_evaluator_that_waits_says_for_what) {
    const temporary_folder all;
    const std::string folder = all / "not/there/yet";
    steps_list found;
    messages said;
    std::thread evaluator([&] { found = evaluated(folder, 20, 60); });
    said.wait_for("waits for the first checkpoint in " + folder);
    model_of m(0.01f);
    auto d = line() | data::batch(4), v = line() | data::batch(4);
    train_and_evaluate(m.model, training(d, folder, 20, duty::train), {.data = &v});
    evaluator.join();
    BOOST_TEST(found.back() == 20);
}

} // namespace
