// SPDX-License-Identifier: BSL-1.0
// shows data: sets of columns as structs, held against them when the pipeline is made
#define BOOST_TEST_MODULE from_dataset
#include <boost/test/unit_test.hpp>
#include "data/stages/reading.hpp"
#include "io/error_parts.hpp"
#include <sinter/data/stages/from_dataset.hpp>
#include <sinter/data/stages/map.hpp>

using namespace sinter;

namespace {
using pair = std::array<float, 2>;
} // namespace

BOOST_AUTO_TEST_CASE(a_dataset) {
    data::dataset set(extents(2), {1, 2, 3, 4, 5, 6});
    set.labels({7, 8, 9}).weights({.5f, .25f, 1});
    struct sample {
        pair x;
        std::int32_t label;
        float weight;
        bool operator==(const sample&) const = default;
    };
    const std::vector<sample> all{{{1, 2}, 7, .5f}, {{3, 4}, 8, .25f}, {{5, 6}, 9, 1}};
    reading::check(data::from_dataset<sample>(set), 0, all, 3);
    reading::check(data::from_dataset<sample>(set.slice(1, 2)), 0, std::vector(all.begin() + 1, all.end()), 2);
    reading::check(data::from_dataset<sample>(set.slice(3, 0)), 0, std::vector<sample>{}, 0);
    using tuple = std::tuple<pair, int, data::extra<float>>;
    const auto tuples = data::from_dataset<tuple>(set) | data::map([](const tuple& t) {
        return sample{std::get<0>(t), std::get<1>(t), std::get<2>(t).value};
    });
    reading::check(tuples, 0, all, 3);
}

BOOST_AUTO_TEST_CASE(a_dataset_by_names) {
    data::dataset set(extents(2), {1, 2, 3, 4});
    set.named("place").input(extents(1), std::vector<float>{5, 6}).named("price").labels({7, 8}).named("kind");
    struct sample {
        std::int32_t kind;
        float price;
        bool operator==(const sample&) const = default;
    };
    reading::check(data::from_dataset<sample>(set), 0, std::vector<sample>{{7, 5}, {8, 6}}, 2);
    data::dataset mixed(extents(1), {1, 2});
    mixed.input(extents(1), std::vector<float>{3, 4}).named("b").input(extents(1), std::vector<float>{5, 6});
    struct three {
        float b, first, second;
        bool operator==(const three&) const = default;
    };
    reading::check(data::from_dataset<three>(mixed), 0, std::vector<three>{{3, 1, 5}, {4, 2, 6}}, 2);
}

BOOST_AUTO_TEST_CASE(pixels_of_a_dataset) {
    const std::vector<std::uint8_t> bytes{0, 51, 102, 255, 1, 2, 3, 4};
    data::dataset set;
    set.pixels(extents(2, 2, 1), bytes);
    const auto pictures = data::from_dataset<data::pixels<2, 2>>(set);
    const auto floats = data::from_dataset<std::array<float, 4>>(set);
    data::dataset_stage<data::pixels<2, 2>>::state s{};
    data::dataset_stage<std::array<float, 4>>::state t{};
    BOOST_TEST(pictures.get(s, 0)(1, 0) == 102);
    BOOST_TEST(pictures.get(s, 1)(1, 1) == 4);
    BOOST_TEST((floats.get(t, 0) == std::array{0.f, 51 / 255.f, 102 / 255.f, 1.f}));
}

BOOST_AUTO_TEST_CASE(a_dataset_that_does_not_fit) {
    data::dataset set(extents(2, 2), {1, 2, 3, 4});
    set.labels({7});
    struct other_numbers { std::array<std::int32_t, 4> x; int label; };
    struct pictures { data::pixels<2, 2> x; int label; };
    struct fewer { std::array<float, 4> x; };
    struct more { std::array<float, 4> x; int label; float weight; };
    struct good { std::array<float, 4> x; int label; };
    BOOST_TEST(data::from_dataset<good>(set).size() == 1);
    check_error<data_error>([&] { data::from_dataset<std::array<float, 3>>(set); }, "does not fit", "field 0",
                            "column 0: 2 x 2 floats", "3 floats");
    check_error<data_error>([&] { data::from_dataset<other_numbers>(set); }, "does not fit", "field x",
                            "column 0: 2 x 2 floats", "4 whole numbers");
    check_error<data_error>([&] { data::from_dataset<pictures>(set); }, "does not fit", "field x", "2 x 2 floats",
                            "2 x 2 x 1 pixels");
    check_error<data_error>([&] { data::from_dataset<fewer>(set); }, "no field for a column", "from_dataset",
                            "column 1: 1 whole numbers");
    check_error<data_error>([&] { data::from_dataset<more>(set); }, "no column for a field", "field weight", "",
                            "1 floats");
    set.names({"x", "kind"});
    check_error<data_error>([&] { data::from_dataset<good>(set); }, "no column for a field", "field label", "",
                            "1 whole numbers");
    data::dataset wide(extents(2, 3), {1, 2, 3, 4, 5, 6});
    using turned = std::array<std::array<float, 2>, 3>;
    check_error<data_error>([&] { data::from_dataset<turned>(wide); }, "does not fit", "field 0", "2 x 3 floats",
                            "3 x 2 floats");
}
