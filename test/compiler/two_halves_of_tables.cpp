// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE two_halves_of_tables
#include <boost/test/unit_test.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/embedding_bag.hpp>
#include <sinter/ops/slice.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adagrad.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <zoo/gpt.hpp>
#include <map>

#include "support/check_halves.hpp"
#include "support/table_nets.hpp"

/// Steps in two halves of nets with tables, whose gradients are lists of rows under
/// gradient_policy::reduced: updates are lazy and end with the bits of fused ones, also where lists
/// of several programs are joined.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

using table_nets::rows, table_nets::tables, table_nets::columns;
constexpr auto vector_wide = indices<3> >> embedding<60, 16> >> flatten >> dense<32>;

template <gradient_policy G, class Net, class Loss, class Optimizer, int Batch = 5>
static constexpr int lists_of = [] {
    using P = halved_program<Net, Loss, Optimizer, Batch, program_options{.gradients = G}>;
    int n = 0;
    for (int i = 0; i < P::v.n_buckets; ++i) n += P::v.buckets[i].is_list();
    return n;
}();
template <class O>
constexpr int lists = lists_of<gradient_policy::reduced, std::remove_const_t<decltype(tables)>,
                               std::remove_cvref_t<decltype(mse_loss{})>, O>;

BOOST_AUTO_TEST_CASE(lists_are_made_where_updates_are_lazy) {
    BOOST_TEST(lists<momentum> == 3);
    BOOST_TEST(lists<clip_by_norm<momentum>> == 3);
    BOOST_TEST(lists<lamb> == 0);                         // reads the norm of the whole table
    BOOST_TEST((lists<accumulated<2, adam>>) == 0);       // gathers in a slot
}
BOOST_AUTO_TEST_CASE(under_momentum) { every_policy(tables, mse, momentum{.learning_rate = 0.1f}, "tables, momentum"); }
BOOST_AUTO_TEST_CASE(under_adam) { every_policy(tables, mse, adam{.learning_rate = 0.1f}, "tables, adam"); }
BOOST_AUTO_TEST_CASE(under_adagrad) { every_policy(tables, mse, adagrad{.learning_rate = 0.1f}, "tables, adagrad"); }
BOOST_AUTO_TEST_CASE(clipped) {
    every_policy<false>(tables, mse, clip_by_norm{0.2f, momentum{.learning_rate = 0.1f}}, "tables, clip_by_norm");
    every_policy<false>(tables, mse, clip_by_global_norm{0.5f, adam{.learning_rate = 0.01f}},
                        "tables, clip_by_global_norm");
}
BOOST_AUTO_TEST_CASE(under_lamb) { every_policy(tables, mse, lamb{.learning_rate = 0.1f}, "tables, lamb"); }
BOOST_AUTO_TEST_CASE(accumulation) {
    every_policy(tables, mse, accumulate<2>(adam{.learning_rate = 0.1f}), "tables, accumulated");
}
BOOST_AUTO_TEST_CASE(unique_rows_of_tables) {
    using P = halved_program<std::remove_const_t<decltype(columns)>, std::remove_cvref_t<decltype(mse)>, adam, 16,
                             program_options{.gradients = gradient_policy::reduced}>;
    bool found = false;
    for (int i = 0; i < P::v.n_specs; ++i) found = found || P::v.specs[i].kind == op::unique_table;
    BOOST_TEST(found);
    every_policy<true, 16>(columns, mse, adam{.learning_rate = 0.1f}, "columns");
    every_policy<true, 16>(vector_wide, mse, adam{.learning_rate = 0.1f}, "vectors");
}
BOOST_AUTO_TEST_CASE(transformers) {
    every_policy<true, 3>(zoo::gpt<zoo::gpt_size{.symbols = 50, .context = 8, .width = 16, .heads = 2, .blocks = 2}>,
                          softmax_cross_entropy,
                 adam{}, "gpt");
}

/// Two programs, each with half of a batch: their gradients are averaged by hand, the rows of lists
/// by their keys, in another order.
template <class P, class Optimizer>
static void average(half_steps<P, Optimizer>& a, half_steps<P, Optimizer>& b) {
    for (int i = 0; i < P::v.n_buckets; ++i) {
        const gradient_bucket& x = P::v.buckets[i];
        if (!x.is_list()) {
            for (std::int64_t k = 0; k < x.floats; ++k)
                a.at(x.at)[k] = b.at(x.at)[k] = (a.at(x.at)[k] + b.at(x.at)[k]) * 0.5f;
            continue;
        }
        std::map<std::int32_t, std::vector<float>, std::greater<>> sum;
        for (const auto* h : {&a, &b}) {
            const auto* const keys = reinterpret_cast<const std::int32_t*>(h->at(x.keys));
            for (int r = 0; r < *keys; ++r) {
                std::vector<float>& to = sum[keys[list_header + r]];
                to.resize(static_cast<std::size_t>(x.row_floats));
                for (std::size_t k = 0; k < to.size(); ++k)
                    to[k] += h->at(x.at)[r * x.row_floats + static_cast<int>(k)] * 0.5f;
            }
        }
        BOOST_REQUIRE(static_cast<int>(sum.size()) <= x.most_rows);
        for (auto* h : {&a, &b}) {
            auto* const keys = reinterpret_cast<std::int32_t*>(h->at(x.keys));
            *keys = 0;
            for (const auto& [key, row] : sum) {
                std::copy(row.begin(), row.end(), h->at(x.at) + *keys * x.row_floats);
                keys[list_header + (*keys)++] = key;
            }
        }
    }
}
BOOST_AUTO_TEST_CASE(lists_of_two_halves_of_a_batch_are_that_of_the_batch) {
    using net = std::remove_const_t<decltype(columns)>;
    using loss = std::remove_cvref_t<decltype(mse)>;
    constexpr adam o{.learning_rate = 0.1f, .epsilon = 1e-3f};
    using P = halved_program<net, loss, adam, 16, program_options{.gradients = gradient_policy::reduced}>;
    trainer<net, loss, adam, 16> joined(o, {.threads = 1});
    half_steps<P, adam> a(joined, o, 1), b(joined, o, 2);
    const std::vector<float> before = joined.plain(joined.parameter(0));
    std::vector<bool> occurs(60, false);
    for (int step = 0; step < 2; ++step) {
        const random_batch<P> all(static_cast<std::uint64_t>(step));
        data::batch_view half = all.view();
        data::input_view in = half.inputs[0], out = half.targets[0];
        half.inputs = {&in, 1};
        half.targets = {&out, 1};
        half.size = 8;
        BOOST_TEST(a.gradients(half));
        in.indices += 8 * in.width;
        out.values += 8 * out.width;
        BOOST_TEST(b.gradients(half));
        average(a, b);
        a.update(), b.update();
        joined.step(all.view());
        for (int k = 0; k < 48; ++k) occurs[static_cast<std::size_t>(all.view().inputs[0].indices[k])] = true;
    }
    BOOST_TEST(a.difference(b) == 0);
    BOOST_TEST(a.difference(joined) < 1e-4);
    const std::vector<float> after = a.plain(a.parameter(0)), m = a.plain_slot(a.parameter(0), 0);
    int rested = 0;
    for (std::size_t k = 0; k < after.size(); ++k) {
        if (occurs[k / 8]) continue;
        ++rested;
        BOOST_TEST((after[k] == before[k] && m[k] == 0));
    }
    BOOST_TEST(rested > 8);
}
