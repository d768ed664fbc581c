// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE sparse_rows
#include <boost/test/unit_test.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adagrad.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/ftrl.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>
#include <cmath>

// A table's rows that do not occur in a batch are not touched. Where all occur, or where an
// optimizer does nothing for a gradient of zero, the same must come out as of a product with
// one-hot rows, whose gradient is dense.
using namespace sinter;

constexpr int rows = 6, width = 5;
constexpr auto net = indices<2> >> embedding<rows, width> >> flatten >> dense<2>;
constexpr auto dense_net = indices<2> >> [](tensor x) {
    return matmul(ops::one_hot(x, rows), parameter(x, "table", extents(rows, width), zeros));
} >> flatten >> dense<2>;
template <bool Sparse>
using net_of = std::remove_const_t<std::conditional_t<Sparse, decltype(net), decltype(dense_net)>>;
template <class Optimizer, bool Sparse>
using trainer_of = trainer<net_of<Sparse>, mse_loss, Optimizer, 4>;

struct batch {
    std::int32_t index[8];
    float y[8];
    data::input_view input;
    batch(int step, bool all) {
        random_stream r(11, static_cast<std::uint64_t>(step));
        for (int i = 0; i < 8; ++i) index[i] = all && i < rows ? i : static_cast<std::int32_t>(r.below(rows - 1));
        for (float& e : y) e = r.uniform(-2, 2);
        input.indices = index;
        input.width = 2;
    }
    data::batch_view view() const {
        data::batch_view b;
        b.inputs = {&input, 1};
        b.y = y;
        b.size = 4;
        return b;
    }
};
template <class Trainer>
static std::vector<float> table(const Trainer& t, int slot = -1) {
    for (int i = 0; i < t.parameters(); ++i)
        if (t.path(t.parameter(i)).ends_with("table"))
            return slot < 0 ? t.plain(t.parameter(i)) : t.plain_slot(t.parameter(i), slot);
    return {};
}
template <class Optimizer>
static void check_equal(const Optimizer& o, bool all_rows) {
    trainer_of<Optimizer, true> sparse(o, {.threads = 1});
    trainer_of<Optimizer, false> dense(o, {.threads = 1});
    for (int i = 0; i < dense.parameters(); ++i)
        dense.set_plain(dense.parameter(i), sparse.plain(sparse.parameter(i)).data());
    for (int step = 0; step < 12; ++step) {
        const batch b(step, all_rows);
        sparse.step(b.view());
        dense.step(b.view());
        for (int slot = -1; slot < Optimizer::slots; ++slot) {
            const std::vector<float> s = table(sparse, slot), d = table(dense, slot);
            BOOST_REQUIRE(s.size() == std::size_t{rows * width});
            for (std::size_t i = 0; i < s.size(); ++i)
                BOOST_TEST(std::abs(s[i] - d[i]) <= 1e-5f * (1 + std::abs(d[i])),
                           "step " << step << ", slot " << slot << ", element " << i);
        }
    }
}
BOOST_AUTO_TEST_CASE(some_rows_where_no_gradient_means_no_change) {
    check_equal(sgd{.learning_rate = 0.2f}, false);
    check_equal(adagrad{.learning_rate = 0.2f, .initial_accumulator = 0.1f}, false);
}
BOOST_AUTO_TEST_CASE(all_rows) {
    check_equal(adam{.learning_rate = 0.05f, .epsilon = 1e-4f}, true);
    check_equal(ftrl{.learning_rate = 0.2f, .l1 = 0.01f}, true);
}
BOOST_AUTO_TEST_CASE(rows_that_do_not_occur_are_left_alone) {
    trainer_of<adam, true> t(adam{.learning_rate = 0.05f}, {.threads = 1});
    batch first(0, true), second(1, false);
    t.step(first.view());
    const std::vector<float> before = table(t), m = table(t, 0), v = table(t, 1);
    t.step(second.view());   // row 5 is not among these
    const std::vector<float> after = table(t), m2 = table(t, 0), v2 = table(t, 1);
    bool moved = false;
    for (std::size_t i = 0; i < after.size(); ++i) {
        moved = moved || after[i] != before[i];
        if (i < std::size_t{(rows - 1) * width}) continue;
        BOOST_TEST(after[i] == before[i]);
        BOOST_TEST(m2[i] == m[i]);
        BOOST_TEST(v2[i] == v[i]);
    }
    BOOST_TEST(moved);
}
BOOST_AUTO_TEST_CASE(rows_are_gathered_too) { check_equal(accumulate<2>(sgd{.learning_rate = 0.2f}), false); }
