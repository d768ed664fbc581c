// SPDX-License-Identifier: BSL-1.0
// needs: distributed
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <limits>
#include <sinter/net/archive.hpp>

// Servers look for infinities and NaN themselves, and not again at rows that have not changed.
using namespace sinter;
using namespace sinter::parameter_servers;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Adds gradients to values, and keeps the last gradient in a slot.
class remembering final : public updater {
public:
    int scalars() const override { return 1; }
    int slots(int) const override { return 1; }
    void first_slot(int, int, float* to, const float*, std::int64_t n) const override { std::fill_n(to, n, 0.f); }
    norm_need needs() const override { return norm_need::none; }
    void update(int, float* p, const float* g, float* s, std::int64_t, std::int64_t n, const float*,
                float) const override {
        for (std::int64_t i = 0; i < n; ++i) p[i] += g[i], s[i] = g[i];
    }
    void update_rows(int, float* table, float* slot, std::int64_t, const row_list& list, const float*,
                     float) const override {
        for (int k = 0; k < list.size(); ++k)
            for (int i = 0; i < list.row_floats; ++i) {
                const std::int64_t at = std::int64_t{list.key(k)} * list.row_floats + i;
                table[at] += list.row(k)[i], slot[at] = list.row(k)[i];
            }
    }
};
shard two_tables() {
    shard_layout l;
    l.floats = 32;
    l.runs = {{0, 32, 0}};
    l.tables = {{"known", 10, 3}, {"hashed", -1, 2}};
    return {l, std::make_unique<remembering>(), {}, 1};
}
void push(shard& s, std::size_t table, std::int64_t key, std::vector<float> row, std::int64_t step) {
    staged_rows r;
    r.row_floats = static_cast<int>(row.size());
    r.keys = {key};
    r.values.reserve(static_cast<std::int64_t>(row.size()), 0);
    std::copy(row.begin(), row.end(), r.values.data());
    BOOST_TEST(s.update_rows(table, r, nullptr, 0, step) == nullptr);
}
std::string found(shard& s) {
    std::string all;
    const auto there = wire::restored<wrong_numbers>(as_bytes(wire::archived(wrong_numbers{s.wrong_numbers()})));
    for (const wrong_number& n : there.all)
        all += to_text({n.table, " ", n.slot, " ", n.key, " ", n.at, n.value == n.value ? "" : " nan", "; "});
    return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(of_each_array_the_first_is_named) {
    shard s = two_tables();
    BOOST_TEST(found(s) == "");
    push(s, 0, 7, {1, 2, 3}, 1);
    push(s, 1, -5, {1, 2}, 2);
    BOOST_TEST(found(s) == "");
    push(s, 0, 8, {1, 1, infinite}, 3);
    push(s, 0, 4, {1, not_a_number, infinite}, 4);
    push(s, 1, 1L << 40, {1, infinite}, 5);
    push(s, 1, -5, {1, 1}, 6);
    const std::string wrong = "0 -1 4 1 nan; 0 0 4 1 nan; 1 -1 1099511627776 1; 1 0 1099511627776 1; ";
    BOOST_TEST(found(s) == wrong);
    BOOST_TEST(found(s) == wrong);   // it stays so until something changes it
    const float row[3] = {1, 2, 3};
    for (const std::int64_t key : {4, 8}) s.write(table_arrays, 3 * key, row);
    BOOST_TEST(found(s) == "0 0 4 1 nan; 1 -1 1099511627776 1; 1 0 1099511627776 1; ");
    for (const std::int64_t key : {4, 8}) s.write(table_arrays + 1, 3 * key, row);
    s.forget_rows(1);
    BOOST_TEST(found(s) == "");
    push(s, 0, 1, {infinite, 1, 1}, 7);
    BOOST_TEST(found(s) == "0 -1 1 0; 0 0 1 0; ");
    s.forget_rows(0);
    BOOST_TEST(found(s) == "");
    float first[3] = {1, 1, infinite};   // of a row that no update has named
    s.write(table_arrays + 1, 6, first);
    BOOST_TEST(found(s) == "0 0 2 2; ");
    first[2] = 1;
    s.write(table_arrays + 1, 6, first);
    s.write(1, 16, span<const float>(&not_a_number, 1));
    BOOST_TEST(found(s) == "-1 0 0 16 nan; ");
}

BOOST_AUTO_TEST_CASE(a_wrong_number_is_found_wherever_it_lies) {
    std::vector<float> x(1000, std::numeric_limits<float>::max());
    BOOST_TEST(place_of_wrong_number(x.data(), 1000) == -1);
    for (const std::int64_t at : {0, 1, 255, 256, 257, 998, 999})
        for (const float wrong : {infinite, -infinite, not_a_number}) {
            x[static_cast<std::size_t>(at)] = wrong;
            BOOST_TEST(place_of_wrong_number(x.data(), 1000) == at);
            BOOST_TEST(place_of_wrong_number(x.data(), at) == -1);
            x[static_cast<std::size_t>(at)] = -1;
        }
}
