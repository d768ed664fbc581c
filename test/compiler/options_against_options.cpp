// SPDX-License-Identifier: BSL-1.0
// shows numbers: options, threads and lazy tables change nothing that is trained
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE options_against_options
#include <boost/test/unit_test.hpp>

#include <random>
#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>

/// Options say how a net is trained, not what is trained: every setting of
/// `fuse` and `store_gradients` gives the same weights, states and slots, up to
/// rounding, whatever the optimizer does with rows of tables that a batch did
/// not name.
using namespace sinter;

namespace {

/// Everything that some steps leave behind. Few of a table's rows are in a
/// batch; the batches' sizes differ.
template <program_options O, class Net, class Loss, class Optimizer>
std::vector<std::pair<std::string, std::vector<float>>> trained(Net, Loss, Optimizer o) {
    using model = trainer<Net, Loss, Optimizer, build_options{5, O}>;
    model t(o, {.threads = 1, .seed = 7});
    constexpr auto& p = model::training::v;
    constexpr int below = p.inputs[0].below, width = p.inputs[0].s.size(), targets = p.targets[0].s.size();
    std::mt19937 random(3);
    std::vector<float> losses;
    for (int step = 0; step < 6; ++step) {
        std::vector<std::int32_t> rows(5 * width);
        std::vector<float> y(5 * targets);
        for (auto& r : rows)
            r = static_cast<std::int32_t>(random() % static_cast<unsigned>(step < 2 ? below : below / 3));
        for (float& e : y) e = static_cast<float>(random() % 1000) * 0.002f - 1.f;
        const data::input_view v{nullptr, rows.data(), width};
        data::batch_view b{.y = y.data(), .size = step == 1 ? 3 : 5};
        b.inputs = {&v, 1};
        losses.push_back(t.step(b));
    }
    std::vector<std::pair<std::string, std::vector<float>>> all{{"losses", losses}};
    for (int i = 0; i < t.parameters(); ++i) {
        all.emplace_back(t.path(t.parameter(i)), t.plain(t.parameter(i)));
        for (int s = 0; s < p.slots; ++s)
            all.emplace_back(all.back().first + ", slot " + std::to_string(s), t.plain_slot(t.parameter(i), s));
    }
    for (int i = 0; i < t.states(); ++i) all.emplace_back(t.path(t.state(i)), t.plain(t.state(i)));
    return all;
}
template <class Net, class Loss, class Optimizer>
void check(const char* what, Net net, Loss loss, Optimizer o) {
    const auto want = trained<program_options{}>(net, loss, o);
    const auto compare = [&](const char* options, const auto& got) {
        BOOST_REQUIRE_EQUAL(got.size(), want.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            float worst = 0;
            for (std::size_t k = 0; k < got[i].second.size(); ++k)
                worst = std::max(worst,
                                 std::abs(got[i].second[k] - want[i].second[k]) / (1.f + std::abs(want[i].second[k])));
            BOOST_TEST(worst <= 2e-4f, what << ", " << options << ": " << want[i].first << " differs by " << worst);
        }
    };
    compare("unfused", trained<program_options{.fuse = false}>(net, loss, o));
    compare("gradients stored", trained<program_options{.store_gradients = true}>(net, loss, o));
    compare("unfused, gradients stored",
            trained<program_options{.fuse = false, .store_gradients = true}>(net, loss, o));
}

constexpr auto one_table = indices<3> >> embedding<40, 6> >> flatten >> dense<4>;
/// A second table beside weights of other kinds, noise of rows and a row of
/// running means.
constexpr auto several = indices<2> >> [](tensor i) {
    const tensor a = ops::gather_rows(parameter(i, "a", extents(30, 5), normal_of(0.5f)), i);
    const tensor b = ops::gather_rows(parameter(i, "b", extents(30, 5), normal_of(0.5f)), i);
    const tensor kept = greater(ops::random_uniform(ops::fill(a, batch_of(1, 1), 0)), 0.3f);
    return ops::reshape(a * kept + ops::tanh(b) * parameter(a, "scale", extents(1, 5), ones), extents(10));
} >> batch_norm >> dense<3>;

}   // namespace

BOOST_AUTO_TEST_CASE(a_table_and_adam) {
    check("adam", one_table, mse, adam{.learning_rate = 0.02f, .epsilon = 1e-3f});
}
BOOST_AUTO_TEST_CASE(a_table_and_momentum) { check("momentum", one_table, mse, momentum{.learning_rate = 0.05f}); }
BOOST_AUTO_TEST_CASE(several_tables) {
    check("several", several, mse, adamw{.learning_rate = 0.02f, .epsilon = 1e-3f});
}
