// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE accumulate
#include <boost/test/unit_test.hpp>
#include <sinter/train/checkpoint.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/lamb.hpp>

#include "io/temporary_folder.hpp"
#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;

/// Eight examples, as one batch or as several.
struct examples {
    float x[24], y[16];
    examples() {
        random_stream r(5);
        for (float& e : x) e = r.uniform(-2, 2);
        for (float& e : y) e = r.uniform(-2, 2);
    }
    data::batch_view part(int i, int parts) const {
        const int n = 8 / parts;
        return {.x = x + 3 * n * i, .y = y + 2 * n * i, .size = n};
    }
};
/// Batches of two examples against one batch of eight, in 30 updates.
template <program_options O = program_options{}, class Optimizer>
static void compare(const Optimizer& o) {
    small_trainer<Optimizer, O> whole(o, {.threads = 1});
    small_trainer<accumulated<4, Optimizer>, O> parts(accumulate<4>(o), {.threads = 1});
    start(whole);
    start(parts);
    const examples all;
    for (int update = 0; update < 30; ++update) {
        whole.step(all.part(0, 1));
        const std::vector<float> before = all_parameters(parts);
        for (int i = 0; i < 4; ++i) {
            BOOST_TEST(all_parameters(parts) == before, boost::test_tools::per_element());
            parts.step(all.part(i, 4));
        }
        const std::vector<float> a = all_parameters(whole), b = all_parameters(parts);
        for (std::size_t i = 0; i < a.size(); ++i)
            BOOST_TEST(std::abs(a[i] - b[i]) <= 2e-5f * (1 + std::abs(a[i])), "parameter " << i << ", update " << update);
    }
}
BOOST_AUTO_TEST_CASE(like_one_large_batch) { compare(adam{.learning_rate = warm_up(3, 0.05f), .epsilon = 1e-4f}); }
BOOST_AUTO_TEST_CASE(norms_are_of_the_whole_gradient) {
    compare<program_options{.store_gradients = true}>(clip_by_global_norm{0.1f, lamb{.learning_rate = 0.02f}});
}
BOOST_AUTO_TEST_CASE(a_saved_run_goes_on_between_two_updates) {
    using trainer_type = small_trainer<accumulated<4, adam>>;
    const temporary_folder folder;
    const std::string file = folder / "run.safetensors";
    const adam o{.learning_rate = 0.05f};
    trainer_type t(accumulate<4>(o), {.threads = 1}), other(accumulate<4>(o), {.threads = 1, .seed = 7});
    const examples all;
    for (int i = 0; i < 6; ++i) t.step(all.part(i % 4, 4));
    save(t, file);
    load(other, file);
    for (int i = 6; i < 17; ++i) t.step(all.part(i % 4, 4)), other.step(all.part(i % 4, 4));
    BOOST_TEST(all_parameters(other) == all_parameters(t), boost::test_tools::per_element());
}
