// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE fault
#include <boost/test/unit_test.hpp>

#include <sinter/ops/var.hpp>
#include <sinter/sinter.hpp>

#include <array>
#include <memory>
#include <string>

/// What tracing says of expressions that do not fit. (How a compiler words it: test/bad.)
using namespace sinter;
using namespace sinter::compiler;

template <class Net, class Loss = mse_loss>
static fault fault_of(Net, Loss = {}) {
    const auto g = std::make_unique<graph>();
    trace<Net, Loss>(*g, program_mode::training);
    return g->err;
}
static void is(const fault& f, fault_kind what, op_id where) {
    BOOST_TEST(static_cast<int>(f.what) == static_cast<int>(what));
    BOOST_TEST(static_cast<int>(f.where.id) == static_cast<int>(where));
}

BOOST_AUTO_TEST_CASE(integers_are_not_computed_with) {
    constexpr auto type = fault_kind::wrong_element_type;
    const fault f = fault_of(indices<4> >> dense<2, bias::no>);
    is(f, type, op::matmul);
    BOOST_TEST(std::string(f.path, static_cast<std::size_t>(f.path_length)) == "dense");
    is(fault_of(indices<4, 4> >> [](tensor x) { return matmul(parameter(x, "p", extents(3, 4), ones), x); }), type,
       op::matmul);
    is(fault_of(indices<6, 6, 1> >> conv2d<2, 3>), type, op::conv);
    is(fault_of(indices<6, 6, 1> >> max_pool<2>), type, op::max_pool);
    is(fault_of(indices<6, 6, 1> >> avg_pool<2>), type, op::avg_pool);
    is(fault_of(indices<6, 6, 1> >> global_avg_pool), type, op::row_sum);
    is(fault_of(indices<4> >> [](tensor x) { return sum(x, {-1}); }), type, op::row_sum);
    is(fault_of(indices<4> >> [](tensor x) { return max(x, {-1}); }), type, op::row_max);
    is(fault_of(indices<4> >> softmax), type, op::row_max);
    is(fault_of(indices<4> >> relu), type, op::relu);
}
BOOST_AUTO_TEST_CASE(random_numbers_are_floats) {
    is(fault_of(indices<4> >> [](tensor x) { return ops::random_uniform(x) * 2.f; }), fault_kind::none, op::none);
}

BOOST_AUTO_TEST_CASE(numbers_of_rows_are_given_not_computed) {
    constexpr auto type = fault_kind::wrong_element_type;
    constexpr auto table = [](tensor x) { return parameter(x, "table", extents(7, 3), ones); };
    is(fault_of(features<4> >> embedding<7, 3>), type, op::gather_rows);
    is(fault_of(indices<4> >> [](tensor x) {
        return gather_rows(decltype(table){}(x), state(x, "at", {.type = dtype::i32, .rank = 1, .d = {2}}, zeros));
    }),
       type, op::gather_rows);
    is(fault_of(inputs(indices<7, 3>, indices<4>) >> [](tensor t, tensor x) { return gather_rows(t, x); }), type,
       op::gather_rows);
    is(fault_of(indices<4> >> [](tensor x) { return gather_rows(decltype(table){}(x), x); }), fault_kind::none,
       op::none);
}

BOOST_AUTO_TEST_CASE(windows) {
    constexpr auto window = fault_kind::window_out_of_range;
    // the sixteenth row's winners would not fit into a byte
    is(fault_of(image<20, 20, 1> >> [](tensor x) { return ops::max_pool(x, 16, {.stride = 1}); }), window,
       op::max_pool);
    is(fault_of(image<20, 20, 1> >> [](tensor x) { return ops::max_pool(x, 15, {.stride = 1}); }), fault_kind::none,
       op::none);
    is(fault_of(image<20, 20, 1> >> [](tensor x) { return ops::avg_pool(x, 16, {.stride = 1}); }), fault_kind::none,
       op::none);
    is(fault_of(image<20, 20, 1> >> [](tensor x) { return ops::max_pool(x, 0, {}); }), window, op::max_pool);
    is(fault_of(image<20, 20, 1> >> [](tensor x) { return ops::avg_pool(x, 2, {.stride = 0}); }), window, op::avg_pool);
    is(fault_of(image<20, 20, 1> >> [](tensor x) {
        return ops::conv2d(x, weights(x, "w", extents(3, 3, 1, 1), ones), {.stride = 0});
    }), window, op::conv);
}

BOOST_AUTO_TEST_CASE(axes) {
    constexpr auto range = fault_kind::axis_out_of_range;
    is(fault_of(features<4> >> [](tensor x) { return ops::var(x, {batch_axis}, 1); }), fault_kind::batch_axis_refused,
       op::row_sum);
    is(fault_of(features<4> >> [](tensor x) { return sum(x, {1}); }), range, op::row_sum);
    is(fault_of(array<1, 2, 3> >> [](tensor x) { return ops::one_hot(ops::reshape(x, extents(1, 1, 1, 2, 3)), 4); }),
       range, op::column_index);
    is(fault_of(features<4> >> [](tensor x) { return sum(x, {0}); } >> batch_norm), range, op::row_sum);
}

BOOST_AUTO_TEST_CASE(dense_refuses_images) {
    constexpr auto forgotten = fault_kind::inner_extents_differ;
    is(fault_of(image<8, 8, 3> >> dense<5>), forgotten, op::gemm);
    is(fault_of(image<8, 8, 3> >> relu >> dropout<0.5f> >> dense<5>), forgotten, op::gemm);
    is(fault_of(image<8, 8, 3> >> batch_norm >> dense<5>), forgotten, op::gemm);
    is(fault_of(array<8, 8, 3> >> conv2d<4, 3> >> batch_norm >> relu >> dense<5>), forgotten, op::gemm);
    is(fault_of(array<8, 8, 3> >> avg_pool<2> >> [](tensor x) { return concat(x, 2.f * x); } >> dense<5>), forgotten,
       op::gemm);
    const fault f = fault_of(image<8, 8, 3> >> dense<5>);
    BOOST_TEST((f.got == batch_of(8, 8, 3)));
    BOOST_TEST((f.needed == batch_of(8 * 8 * 3)));
}
BOOST_AUTO_TEST_CASE(dense_takes_what_is_no_image) {
    is(fault_of(array<8, 8, 3> >> dense<5> >> relu >> dense<5>), fault_kind::none, op::none);
    is(fault_of(indices<8, 8> >> embedding<9, 3> >> dense<5>), fault_kind::none, op::none);
    is(fault_of(image<8, 8, 3> >> reshape<4, 2, 24> >> dense<5>), fault_kind::none, op::none);
    is(fault_of(image<8, 8, 3> >> conv2d<4, 3> >> flatten >> dense<5>), fault_kind::none, op::none);
    is(fault_of(array<2, 3, 4, 5> >> dense<5>), fault_kind::none, op::none);
}

BOOST_AUTO_TEST_CASE(number_of_tensors) {
    constexpr auto number = fault_kind::wrong_number_of_inputs;
    is(fault_of(inputs(features<4>, features<4>) >> dense<2>), number, op::input);
    is(fault_of(inputs(features<4>, features<4>) >> named<"a">(dense<2>)), number, op::input);
    is(fault_of(features<4> >> named<"a">([](tensor a, tensor b) { return a + b; })), number, op::input);
    is(fault_of(features<4> >> [](tensor x) { return outputs(x, x); }),   // and mse takes one
       fault_kind::loss_takes_one_output, op::none);
}

/// Losses whose operators are several, or a template: of two bundles where the net or their targets say so.
struct of_either {
    constexpr tensor operator()(tensor y, tensor t) const { return mse(y, t); }
    constexpr tensor operator()(bundle y, bundle t) const { return mse(y[0], t[0]) + mse(y[1], t[1]); }
};
struct of_any {
    template <class B>
    constexpr tensor operator()(B y, B t) const { return mse(y[0], t[0]) + mse(y[1], t[1]); }
};
struct of_a_list {
    static constexpr target_list targets{target_kind::same_as_output, target_kind::same_as_output};
    template <class B>
    constexpr tensor operator()(B y, B t) const { return mse(y[0], t[0]) + mse(y[0], t[1]); }
};
BOOST_AUTO_TEST_CASE(losses_of_bundles) {
    constexpr auto one = features<4> >> dense<2>;
    constexpr auto two = one >> [](tensor x) { return outputs(x, 2.f * x); };
    is(fault_of(one, of_either{}), fault_kind::none, op::none);
    is(fault_of(two, of_either{}), fault_kind::none, op::none);
    is(fault_of(two, of_any{}), fault_kind::none, op::none);
    is(fault_of(one, of_a_list{}), fault_kind::none, op::none);
    is(fault_of(two, [](auto y, auto t) { return mse(y[0], t[0]) + mse(y[1], t[1]); }), fault_kind::none, op::none);
    is(fault_of(one, [](auto y, auto t) { return mse(y, t); }), fault_kind::none, op::none);
}

/// A name for each scope, as a loop in a user's layer might make them.
constexpr auto many_names = [] {
    std::array<std::array<char, 3>, 1600> all{};
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = {static_cast<char>('A' + i / 40), static_cast<char>('A' + i % 40), 0};
    return all;
}();
template <std::size_t N>
struct blocks {
    constexpr tensor operator()(tensor x) const {
        for (std::size_t i = 0; i < N; ++i) {
            const scoped block(x.g, many_names[i].data());
            x = relu(x);
        }
        return x;
    }
};
BOOST_AUTO_TEST_CASE(more_scopes_than_their_table_holds) {   // a search in a full table would never end
    is(fault_of(features<4> >> blocks<scope_tree::most>{} >> relu), fault_kind::none, op::none);
    is(fault_of(features<4> >> blocks<scope_tree::most + 1>{} >> relu), fault_kind::program_too_large, op::none);
    is(fault_of(features<4> >> blocks<1600>{} >> named<"b">(dense<3>)), fault_kind::program_too_large, op::none);
}
