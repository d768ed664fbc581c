// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/strategy/joined_rows.hpp>
#include <cmath>
#include <cstring>
#include <map>

// Lists of rows, joined: against sums that are made key by key.
using namespace sinter;

namespace {

constexpr int width = 5, table = 50, most = 12;

struct list {
    std::vector<std::int32_t> keys = std::vector<std::int32_t>(list_header + most);
    std::vector<float> rows = std::vector<float>(most * width + 16);
    row_list view() { return {keys.data(), rows.data(), width}; }
    void add(int key, random_stream& r) {
        const row_list l = view();
        l.key(*l.keys) = key;
        for (int j = 0; j < width; ++j) l.row(*l.keys)[j] = r.uniform(-1, 1) * std::exp2(r.uniform(-8, 8));
        ++*l.keys;
    }
};
/// Lists of different lengths, one of them empty; many keys are in several.
struct lists {
    std::vector<list> all;
    std::vector<row_list> views;
    lists(int n, std::uint64_t seed) : all(static_cast<std::size_t>(n)) {
        random_stream r(seed);
        for (int i = 0; i < n; ++i) {
            std::vector<bool> has(table);
            for (int k = i == 2 ? most : 0; k < most - i % 3; ++k) {
                const auto key = r.below(k % 2 ? table : 9);
                if (!has[key]) all[static_cast<std::size_t>(i)].add(static_cast<int>(key), r);
                has[key] = true;
            }
            views.push_back(all[static_cast<std::size_t>(i)].view());
        }
    }
    span<const row_list> view(std::size_t first, std::size_t n) const { return {views.data() + first, n}; }
};
using sums = std::vector<std::pair<int, std::vector<float>>>;
sums contents(const row_list& l) {
    sums s;
    for (int k = 0; k < l.size(); ++k) s.emplace_back(l.key(k), std::vector<float>(l.row(k), l.row(k) + width));
    return s;
}
/// The sum over lists [first, end) of number j of `key`'s row, as a binary tree; NaN: none has it.
float tree_sum(const lists& l, int key, int j, std::size_t first, std::size_t n) {
    if (first >= l.views.size()) return NAN;
    if (n == 1) {
        for (int k = 0; k < l.views[first].size(); ++k)
            if (l.views[first].key(k) == key) return l.views[first].row(k)[j];
        return NAN;
    }
    const float a = tree_sum(l, key, j, first, n / 2), b = tree_sum(l, key, j, first + n / 2, n / 2);
    return std::isnan(a) ? b : std::isnan(b) ? a : a + b;
}

BOOST_AUTO_TEST_CASE(rows_are_added_in_rank_order) {
    for (int n = 1; n <= 6; ++n) {
        const lists l(n, static_cast<std::uint64_t>(n));
        std::vector<int> order;
        std::map<int, std::vector<float>> sum;
        for (const row_list& x : l.views)
            for (int k = 0; k < x.size(); ++k) {
                if (!sum.count(x.key(k))) order.push_back(x.key(k));
                auto& row = sum.try_emplace(x.key(k), width, -0.f).first->second;   // -0 + x is x
                for (std::size_t j = 0; j < width; ++j) row[j] += x.row(k)[j];
            }
        sums wanted;
        for (int key : order) wanted.emplace_back(key, sum[key]);
        runtime::joined_rows j(n, most, table, width);
        const row_list got = j.join(l.view(0, l.views.size()));
        BOOST_TEST((contents(got) == wanted));
        for (std::int64_t i = got.size() * width; i < 16 * got.lines(); ++i) BOOST_TEST(got.rows[i] == 0);
    }
}
BOOST_AUTO_TEST_CASE(rows_are_added_as_a_tree) {
    for (int n = 1; n <= 8; ++n) {
        const lists l(n, static_cast<std::uint64_t>(n));
        runtime::joined_rows j(n, most, table, width);
        const sums got = contents(j.join(l.view(0, l.views.size()), runtime::row_order::tree));
        BOOST_TEST(got.size() > 5);
        for (const auto& [key, row] : got)
            for (int k = 0; k < width; ++k)
                BOOST_TEST(row[static_cast<std::size_t>(k)] == tree_sum(l, key, k, 0, 8), "member count " << n);
    }
}
/// canonical<4> on 1, 2 and 4 replicas: who has joined what before does not show.
BOOST_AUTO_TEST_CASE(branches_can_be_joined_first) {
    const lists l(8, 99);
    runtime::joined_rows all(8, most, table, width), left(4, most, table, width), right(4, most, table, width),
        both(2, 4 * most, table, width);
    for (const runtime::row_order o : {runtime::row_order::tree, runtime::row_order::ranks}) {
        const bool tree = o == runtime::row_order::tree;
        const row_list a = left.join(l.view(0, 4), o);
        row_list parts[5] = {a, l.views[4], l.views[5], l.views[6], l.views[7]};
        if (tree) parts[1] = right.join(l.view(4, 4), o);
        runtime::joined_rows some(5, 4 * most, table, width);
        BOOST_TEST((contents((tree ? both : some).join({parts, tree ? std::size_t{2} : std::size_t{5}}, o)) ==
                    contents(all.join(l.view(0, 8), o))));
    }
    BOOST_TEST((contents(all.join(l.view(0, 8))) != contents(left.join(l.view(0, 4)))));   // memory is not shared
}
BOOST_AUTO_TEST_CASE(no_list_and_no_rows) {
    runtime::joined_rows j(2, most, table, width);
    BOOST_TEST(j.join({}).size() == 0);
    list empty;
    const row_list none[] = {empty.view(), empty.view()};
    BOOST_TEST(j.join(none, runtime::row_order::tree).size() == 0);
    BOOST_TEST(j.join(none).lines() == 0);
    BOOST_TEST(runtime::joined_rows(100, most, table, width).most_rows() == table);
    BOOST_TEST(j.most_rows() == 2 * most);
}
template <class F>
std::string complaint(F f) {
    try {
        f();
    } catch (const data_error& e) {
        return e.what();
    }
    return "none";
}
BOOST_AUTO_TEST_CASE(lists_of_another_table_are_refused) {
    runtime::joined_rows j(2, most, table, width);
    random_stream r(1);
    list good, bad;
    good.add(3, r);
    bad.add(7, r), bad.add(50, r);
    const row_list two[] = {good.view(), bad.view()};
    BOOST_TEST(complaint([&] { j.join(two); }) ==
               "rows of member 1: a key that is no row of the table; got 50; needed a row below 50");
    bad.view().key(1) = -1;
    BOOST_TEST(complaint([&] { j.join(two); }) ==
               "rows of member 1: a key that is no row of the table; got -1; needed a row below 50");
    bad.view().key(1) = 7;
    BOOST_TEST(complaint([&] { j.join(two); }) ==
               "rows of member 1: a key that is twice in one list; got 7; needed each key once");
    *bad.view().keys = 1 << 30;
    BOOST_TEST(complaint([&] { j.join(two); }) == "rows of member 1: too many rows; got 1073741824; needed 24 at most");
    const row_list three[] = {good.view(), good.view(), good.view()};
    BOOST_TEST(complaint([&] { j.join(three); }) == "rows of member 2: too many lists; got 3; needed 2 at most");
    BOOST_TEST(j.join({three, 2}).size() == 1);   // and is as good as before
}

} // namespace
