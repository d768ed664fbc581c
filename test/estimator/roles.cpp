// SPDX-License-Identifier: BSL-1.0
// shows joining: TF_CONFIG as TensorFlow's resolver, RunConfig and Kubeflow write it; model_dir; malformed text
// needs: distributed
#define BOOST_TEST_MODULE estimator_roles
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "support/points.hpp"
#include <sinter/net/environment.hpp>
#include <sinter/collective/thread_group.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/net/from_environment.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/multi_worker.hpp>
#include <support/refusals.hpp>
#include <memory>

// What train_and_evaluate takes from a job's roster: the role, and the folder of the checkpoints where the program
// names none (TF_CONFIG's model_dir).
using namespace sinter;
using sinter_test::refused, sinter_test::says;

namespace {

/// One who trains by itself.
struct nobody_else {
    static std::unique_ptr<collective::communicator> connect(const cluster& c, const wire::identity&) {
        static collective::thread_group group(1);
        return group.take(c.rank());
    }
};
cluster of_tf_config(const std::string& text) {
    return cluster::from_environment({}, {[text](const char* name) {
                                              return std::string(name) == "TF_CONFIG" ? std::optional(text)
                                                                                      : std::nullopt;
                                          },
                                          nullptr});
}
const std::string one_worker = R"("cluster": {"worker": ["127.0.0.1:1"]}, "task": {"type": "worker", "index": 0})";
std::string evaluator(int index) {
    return R"("cluster": {"worker": ["127.0.0.1:1"]}, "task": {"type": "evaluator", "index": )" +
           std::to_string(index) + "}";
}
train_and_evaluate_result go(const std::string& tf_config, const std::string& folder = "", std::int64_t steps = 8) {
    estimator model{features<2> >> dense<2>, softmax_cross_entropy, sgd{},
                    multi_worker<nobody_else>{of_tf_config("{" + tf_config + "}")}, {.threads = 1}};
    auto training = sinter::test::points(32, 3) | data::batch(8), test = sinter::test::points(8, 4) | data::batch(8);
    return train_and_evaluate(
        model, {.data = &training, .max_steps = steps, .folder = folder, .every_steps = 4, .progress = nullptr},
        {.data = &test, .start_delay = 0, .throttle = 0});
}

} // namespace

BOOST_AUTO_TEST_CASE(the_folder_is_the_jobs_where_the_program_names_none) {
    const temporary_folder folder;
    const std::string here = R"("model_dir": ")" + (folder / "run") + R"(", )";
    const train_and_evaluate_result trained = go(here + one_worker);
    BOOST_TEST((trained.does == duty::both));
    BOOST_TEST(trained.steps == 8);
    BOOST_TEST(checkpoint_folder(folder / "run", 5).steps().front() == 8);
    BOOST_TEST(go(here + one_worker, folder / "run", 12).steps == 12);   // said twice, the same
    BOOST_TEST(go(one_worker, folder / "run", 16).evaluations.size() == 1u);   // by the program alone: goes on at 12
    BOOST_TEST(says(refused([&] { go(here + one_worker, folder / "other"); }),
                    {"two folders", "train_spec::folder", "model_dir", "other", "run"}));
    BOOST_TEST(says(refused([&] { go(one_worker); }),
                    {"folder of the checkpoints", "train_spec::folder", "model_dir"}));
    // The evaluator of the job follows them there.
    const train_and_evaluate_result found = go(here + evaluator(0));
    BOOST_TEST((found.does == duty::evaluate));
    BOOST_REQUIRE(found.evaluations.size() == 1u);
    BOOST_TEST(found.evaluations[0].step == 16);
}

// RunConfig takes an evaluator of any index, and TensorFlow's train_and_evaluate 0 alone: two would measure the same.
BOOST_AUTO_TEST_CASE(one_evaluator) {
    const temporary_folder folder;
    BOOST_TEST(of_tf_config("{" + evaluator(12) + "}").self().index == 12);
    BOOST_TEST(says(refused([&] { go(evaluator(12), folder / "run"); }), {"evaluator/12", "evaluator/0"}));
}
