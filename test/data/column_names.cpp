// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE column_names
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/base/interned.hpp>
#include <sinter/data/pipeline.hpp>
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/transform/gather.hpp>
#include <sinter/data/transform/map.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <string>
#include <thread>
#include <vector>

// Columns' names: given once, and still there in every batch, whatever stands between.
using namespace sinter;

namespace {
data::dataset set() {
    data::dataset s = data::dataset(extents(2), {1, 2, 3, 4, 5, 6}).named("place");
    s.pixels(extents(1), std::vector<std::byte>(3)).named("dot").labels({0, 1, 0}).named("kind").weights({1, 1, 1});
    return s;
}
std::string names_of(const data::column_list& columns) {
    std::string all;
    for (const data::column& c : columns) all += c.name ? std::string(c.name) + ' ' : "- ";
    return all;
}
} // namespace

BOOST_AUTO_TEST_CASE(names_stay_with_their_columns) {
    BOOST_TEST(names_of(set().columns()) == "place dot kind - ");
    BOOST_TEST(names_of(set().slice(1, 2).columns()) == "place dot kind - ");
    const std::int64_t places[] = {2, 0};
    BOOST_TEST(names_of(data::gather(set(), {places, 2}).columns()) == "place dot kind - ");
    BOOST_TEST(names_of(data::concat({set(), set()}).columns()) == "place dot kind - ");
    auto p = set() | data::shuffle(3) | data::map([](data::example&) {}) | data::batch(2);
    BOOST_TEST(names_of(p.columns()) == "place dot kind - ");
    const data::batch_view* b = p.next();
    BOOST_TEST(std::string(b->inputs[0].name) == "place");
    BOOST_TEST(std::string(b->inputs[1].name) == "dot");
    BOOST_TEST(std::string(b->targets[0].name) == "kind");
    auto plain = data::dataset(extents(1), {1, 2}) | data::batch(2);
    BOOST_TEST((plain.next()->inputs[0].name == nullptr));
    BOOST_TEST(names_of(set().names({"a", "b", "c", "d"}).columns()) == "a b c d ");
}
BOOST_AUTO_TEST_CASE(members_compare_names) {
    BOOST_TEST(data::detail::text_of(set().columns()) ==
               "input 2 \"place\", input 1 (pixels) \"dot\", labels 1 \"kind\", weights 1");
    check_error<data_error>([] { data::concat({set(), set().names({"a", "dot", "kind", "w"})}); }, "different columns",
                            "set 1, column 0", "a", "place");
}
BOOST_AUTO_TEST_CASE(names_that_are_refused) {
    check_error<option_error>([] { data::dataset().named("x"); }, "no column to name", "named", "x");
    check_error<option_error>([] { set().named(""); }, "name is empty", "column 3");
    check_error<option_error>([] { set().input(extents(1), std::vector<float>(3)).named("dot"); },
                              "two columns of one name", "columns 1 and 4", "dot");
    check_error<option_error>([] { set().names({"a", "b"}); }, "as many names", "names", "2", "4");
    data::dataset s = set();
    check_error<option_error>([&] { s.names({"a", "b", "c", "c"}); }, "two columns of one name", "", "c");
    BOOST_TEST(names_of(s.columns()) == "place dot kind - ");   // as it was
    s.names({"kind", "b", "kind", "d"});                        // an input and a target may share one
    s.names({"b", "kind", "c", "d"});                           // and columns may change theirs
    BOOST_TEST(names_of(s.columns()) == "b kind c d ");
}
BOOST_AUTO_TEST_CASE(equal_texts_are_one) {
    const char* const a = base::interned("age");
    BOOST_TEST((a == base::interned(std::string("a") + "ge")));
    BOOST_TEST((a != base::interned("ages")));
    BOOST_TEST((a != base::interned("ag")));
    std::vector<const char*> found[4];
    std::vector<std::thread> threads;
    for (auto& mine : found)
        threads.emplace_back([&mine] {
            for (int i = 0; i < 200; ++i) mine.push_back(base::interned("column " + std::to_string(i)));
        });
    for (std::thread& t : threads) t.join();
    for (int i = 0; i < 200; ++i) {
        const auto k = static_cast<std::size_t>(i);
        BOOST_TEST(std::string(found[0][k]) == "column " + std::to_string(i));
        for (int t = 1; t < 4; ++t) BOOST_TEST((found[t][k] == found[0][k]));
    }
}
