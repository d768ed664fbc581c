// SPDX-License-Identifier: BSL-1.0
// shows numbers: options, threads and lazy tables change nothing that is trained
#define BOOST_TEST_MODULE lazy_rows
#include <boost/test/unit_test.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adagrad.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>
#include <cmath>

#include "support/table_nets.hpp"

// An option of the program must not change what is trained: tables that are read once, twice and as
// bags, with rows that occur often, seldom and never, end with the same bits under every option.
using namespace sinter;

constexpr int rows = 9, columns = 6, batch = 4;
constexpr auto net = test::table_nets::tables_of<rows, 4>;
template <class Optimizer, program_options O>
using trainer_of = trainer<std::remove_const_t<decltype(net)>, mse_loss, Optimizer, build_options{batch, O}>;

/// Row 8 never occurs, rows 5 to 7 in the first two steps alone.
struct examples {
    std::int32_t index[batch * columns];
    float y[batch * 2];
    data::input_view input;
    explicit examples(int step) {
        random_stream r(5, static_cast<std::uint64_t>(step));
        for (std::int32_t& i : index) i = static_cast<std::int32_t>(r.below(step < 2 ? rows - 1 : 5));
        for (float& e : y) e = r.uniform(-2, 2);
        input = {nullptr, index, columns};
    }
    data::batch_view view() const {
        data::batch_view b;
        b.inputs = {&input, 1};
        b.y = y;
        b.size = batch;
        return b;
    }
    /// Does the row occur among the columns [first, end)?
    bool has(int row, int first, int end) const {
        for (int i = 0; i < batch; ++i)
            for (int k = first; k < end; ++k)
                if (index[i * columns + k] == row) return true;
        return false;
    }
};
template <class A, class B>
static void same(const A& a, const B& b, const std::string& what) {
    for (int i = 0; i < a.parameters(); ++i)
        for (int slot = -1; slot < a.slots_of(a.parameter(i)); ++slot) {
            const auto x = slot < 0 ? a.plain(a.parameter(i)) : a.plain_slot(a.parameter(i), slot);
            const auto y = slot < 0 ? b.plain(b.parameter(i)) : b.plain_slot(b.parameter(i), slot);
            std::size_t k = 0;
            while (k < x.size() && x[k] == y[k]) ++k;
            BOOST_TEST(k == x.size(), what << ": " << a.path(a.parameter(i)) << ", slot " << slot << ", element " << k
                                           << ": " << (k < x.size() ? x[k] : 0) << " and "
                                           << (k < x.size() ? y[k] : 0));
        }
}
template <class Optimizer>
static void every_option(const Optimizer& o, const char* name) {
    trainer_of<Optimizer, program_options{}> a(o, {.threads = 1});
    trainer_of<Optimizer, program_options{.store_gradients = true}> b(o, {.threads = 2});
    trainer_of<Optimizer, program_options{.fuse = false}> c(o, {.threads = 2});
    trainer_of<Optimizer, program_options{.fuse = false, .store_gradients = true}> d(o, {.threads = 1});
    for (int step = 0; step < 6; ++step) {
        const examples e(step);
        a.step(e.view()), b.step(e.view()), c.step(e.view()), d.step(e.view());
    }
    same(a, b, std::string(name) + ", store_gradients");
    same(a, c, std::string(name) + ", unfused");
    same(a, d, std::string(name) + ", both");
}
BOOST_AUTO_TEST_CASE(sgd_under_every_option) { every_option(sgd{.learning_rate = 0.1f}, "sgd"); }
BOOST_AUTO_TEST_CASE(momentum_under_every_option) { every_option(momentum{.learning_rate = 0.1f}, "momentum"); }
BOOST_AUTO_TEST_CASE(adagrad_under_every_option) { every_option(adagrad{.learning_rate = 0.1f}, "adagrad"); }
BOOST_AUTO_TEST_CASE(adam_under_every_option) { every_option(adam{.learning_rate = 0.1f}, "adam"); }
BOOST_AUTO_TEST_CASE(clipped_under_every_option) {
    every_option(clip_by_global_norm{0.5f, adam{.learning_rate = 0.1f}}, "clip_by_global_norm");
    every_option(clip_by_norm{0.2f, momentum{.learning_rate = 0.1f}}, "clip_by_norm");
}
BOOST_AUTO_TEST_CASE(lamb_under_every_option) { every_option(lamb{.learning_rate = 0.1f}, "lamb"); }
BOOST_AUTO_TEST_CASE(accumulated_under_every_option) {
    every_option(accumulate<2>(adam{.learning_rate = 0.1f}), "accumulate");
}
// Rows that occur in none of a round's batches rest, too: two halves of a batch are the batch.
BOOST_AUTO_TEST_CASE(halves_of_a_batch_are_the_batch) {
    constexpr adam o{.learning_rate = 0.1f, .epsilon = 1e-3f};
    trainer_of<adam, program_options{}> whole(o, {.threads = 1});
    trainer_of<accumulated<2, adam>, program_options{}> halves(accumulate<2>(o), {.threads = 2});
    for (int step = 0; step < 6; ++step) {
        const examples e(step);
        whole.step(e.view());
        data::batch_view half = e.view();
        half.size = batch / 2;
        halves.step(half);
        const data::input_view second{nullptr, e.index + batch / 2 * columns, columns};
        half.inputs = {&second, 1};
        half.y = e.y + batch;
        halves.step(half);
    }
    for (int i = 0; i < whole.parameters(); ++i)
        for (int slot = -1; slot < 2; ++slot) {
            const auto x = slot < 0 ? whole.plain(whole.parameter(i)) : whole.plain_slot(whole.parameter(i), slot);
            const auto y = slot < 0 ? halves.plain(halves.parameter(i)) : halves.plain_slot(halves.parameter(i), slot);
            for (std::size_t k = 0; k < x.size(); ++k)
                BOOST_TEST(std::abs(x[k] - y[k]) <= 1e-4f * (1 + std::abs(x[k])),
                           whole.path(whole.parameter(i)) << ", slot " << slot << ": " << x[k] << " and " << y[k]);
        }
}
BOOST_AUTO_TEST_CASE(groups_under_every_option) {
    constexpr momentum other{.learning_rate = 0.1f};
    every_option(parameter_groups{adam{.learning_rate = 0.1f}, group_of<"twice">(other), frozen<"bag">}, "groups");
}

// Adam by hand, in double: from the stored gradient for the rows that occur; all others keep their bits.
template <class Optimizer>
static void adam_by_hand(const Optimizer& o, double most) {
    trainer_of<Optimizer, program_options{.store_gradients = true}> t(o, {.threads = 1});
    int rested = 0;
    for (int step = 0; step < 6; ++step) {
        const examples e(step);
        struct before {
            std::vector<float> w, m, v;
        };
        std::vector<before> all;
        for (int i = 0; i < t.parameters(); ++i)
            all.push_back({t.plain(t.parameter(i)), t.plain_slot(t.parameter(i), 0), t.plain_slot(t.parameter(i), 1)});
        t.step(e.view());
        double squares = 0;
        for (int i = 0; i < t.parameters(); ++i)
            for (float g : t.gradient(t.parameter(i))) squares += static_cast<double>(g) * static_cast<double>(g);
        const double scale = std::min(1., most / (std::sqrt(squares) + 1e-6));
        for (int i = 0; i < t.parameters(); ++i) {
            const std::string path = t.path(t.parameter(i));
            const int first = path == "once" ? 0 : path == "twice" ? 1 : 2, end = path == "once" ? 3 : columns;
            if (path != "once" && path != "twice" && path != "bag") continue;
            const auto w = t.plain(t.parameter(i));
            const auto m = t.plain_slot(t.parameter(i), 0), v = t.plain_slot(t.parameter(i), 1);
            const auto g = t.gradient(t.parameter(i));
            const before& b = all[static_cast<std::size_t>(i)];
            const std::size_t width = w.size() / rows;
            for (std::size_t k = 0; k < w.size(); ++k) {
                if (!e.has(static_cast<int>(k / width), first, end)) {
                    ++rested;
                    BOOST_TEST((w[k] == b.w[k] && m[k] == b.m[k] && v[k] == b.v[k]),
                               path << ", element " << k << " must rest");
                    BOOST_TEST(g[k] == 0.f);
                    continue;
                }
                const double d = static_cast<double>(g[k]) * scale;
                const double m1 = 0.9 * static_cast<double>(b.m[k]) + 0.1 * d;
                const double v1 = 0.999 * static_cast<double>(b.v[k]) + 0.001 * d * d;
                const double by_m = 1 - std::pow(0.9, step + 1), by_v = 1 - std::pow(0.999, step + 1);
                const double w1 = static_cast<double>(b.w[k]) - 0.1 * (m1 / by_m) / (std::sqrt(v1 / by_v) + 1e-4);
                BOOST_TEST(std::abs(static_cast<double>(m[k]) - m1) <= 1e-5 * (1 + std::abs(m1)));
                BOOST_TEST(std::abs(static_cast<double>(v[k]) - v1) <= 1e-5 * (1 + std::abs(v1)));
                BOOST_TEST(std::abs(static_cast<double>(w[k]) - w1) <= 1e-4 * (1 + std::abs(w1)),
                           path << ": " << w[k] << ", by hand " << w1);
            }
        }
    }
    BOOST_TEST(rested > 100);
}
BOOST_AUTO_TEST_CASE(adam_as_by_hand) { adam_by_hand(adam{.learning_rate = 0.1f, .epsilon = 1e-4f}, 1e30); }
BOOST_AUTO_TEST_CASE(clipped_adam_as_by_hand) {
    adam_by_hand(clip_by_global_norm{0.5f, adam{.learning_rate = 0.1f, .epsilon = 1e-4f}}, 0.5);
}

// A dense layer behind a table multiplies each distinct row once (compiler/passes/unique_rows.hpp),
// unless it is not fused.
constexpr auto columns_net = indices<3> >> embedding<60, 8> >> flatten >> dense<16>;
template <program_options O>
using columns_trainer = trainer<std::remove_const_t<decltype(columns_net)>, mse_loss, adam, build_options{16, O}>;

BOOST_AUTO_TEST_CASE(unique_rows_rest_as_well) {
    constexpr adam o{.learning_rate = 0.1f, .epsilon = 1e-3f};
    columns_trainer<program_options{}> a(o, {.threads = 2});
    columns_trainer<program_options{.store_gradients = true}> b(o, {.threads = 1});
    columns_trainer<program_options{.fuse = false}> c(o, {.threads = 1});
    std::int32_t index[48];
    float y[256];
    random_stream r(3);
    for (float& e : y) e = r.uniform(-1, 1);
    const data::input_view input{nullptr, index, 3};
    data::batch_view all{.y = y};
    all.inputs = {&input, 1};
    all.size = 16;
    for (int step = 0; step < 4; ++step) {
        for (int k = 0; k < 48; ++k) index[k] = static_cast<std::int32_t>(step == 0 ? k : r.below(20));
        a.step(all), b.step(all), c.step(all);
    }
    same(a, b, "distinct rows");
    for (int i = 0; i < a.parameters(); ++i)
        for (int slot = -1; slot < 2; ++slot) {
            const auto x = slot < 0 ? a.plain(a.parameter(i)) : a.plain_slot(a.parameter(i), slot);
            const auto z = slot < 0 ? c.plain(c.parameter(i)) : c.plain_slot(c.parameter(i), slot);
            for (std::size_t k = 0; k < x.size(); ++k)
                BOOST_TEST(std::abs(x[k] - z[k]) <= 1e-4f * (1 + std::abs(x[k])));
        }
}
