// SPDX-License-Identifier: BSL-1.0
// shows data: arrays as elements, a slice of each
#define BOOST_TEST_MODULE tensor_slices
#include <boost/test/unit_test.hpp>
#include "data/stages/reading.hpp"
#include "io/error_parts.hpp"
#include <sinter/data/stages/tensor_slices.hpp>

using namespace sinter;

namespace {
using pair = std::array<float, 2>;
} // namespace

BOOST_AUTO_TEST_CASE(slices) {
    const std::vector<pair> x{{1, 2}, {3, 4}, {5, 6}};
    const std::vector<std::int32_t> labels{7, 8, 9};
    using both = std::tuple<pair, std::int32_t>;
    // As tf.data.Dataset.from_tensor_slices(([[1, 2], [3, 4], [5, 6]], [7, 8, 9])) gives them.
    reading::check(data::tensor_slices(x, labels), 0, std::vector<both>{{{1, 2}, 7}, {{3, 4}, 8}, {{5, 6}, 9}}, 3);
    reading::check(data::tensor_slices(x), 0, x, 3);
    reading::check(data::tensor_slices(std::array{1, 2}), 0, std::vector{1, 2}, 2);
    reading::check(data::tensor_slices(std::vector<bool>{true, false}, std::array<std::string, 2>{"a", "b"}), 0,
                   std::vector<std::tuple<bool, std::string>>{{true, "a"}, {false, "b"}}, 2);
    reading::check(data::tensor_slices(std::vector<std::string>{}), 0, std::vector<std::string>{}, 0);
    const std::vector<std::vector<int>> ragged{{1}, {}, {2, 3}};
    reading::check(data::tensor_slices(ragged), 0, ragged, 3);

    struct sample {
        pair x;
        std::int32_t label;
        bool operator==(const sample&) const = default;
    };
    reading::check(data::tensor_slices<sample>(x, labels), 0,
                   std::vector<sample>{{{1, 2}, 7}, {{3, 4}, 8}, {{5, 6}, 9}}, 3);
    check_error<data_error>([&] { data::tensor_slices(x, labels, std::vector{1.f, 2.f}); },
                            "arrays of different lengths", "tensor_slices, array 2", "2 slices", "3, as array 0 has");
    check_error<data_error>([&] { data::tensor_slices(std::array<int, 0>{}, labels); }, "arrays of different lengths",
                            "array 1", "3 slices", "0, as");
    description d;
    data::tensor_slices<sample>(x, labels).describe(d);
    BOOST_TEST(holds(d.text(), "slices of arrays"));
}

BOOST_AUTO_TEST_CASE(one_element) {
    const std::vector<pair> x{{1, 2}, {3, 4}};
    reading::check(data::tensors(x), 0, {x}, 1);   // as tf.data.Dataset.from_tensors
    reading::check(data::tensors(x, 5), 0, std::vector{std::tuple(x, 5)}, 1);
}
