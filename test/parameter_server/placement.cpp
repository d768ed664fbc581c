// SPDX-License-Identifier: BSL-1.0
// shows servers: the largest server has at most 1.1 of the mean; TensorFlow's partitioners
// Placement: every float on one server, loads as even as they can be, tensors whole that must be; rows as TensorFlow
// deals them out.
#include <boost/test/unit_test.hpp>
#include <algorithm>
#include <numeric>
#include <random>
#include <sinter/parameter_server/placement.hpp>
using namespace sinter;
using namespace sinter::parameter_servers;

namespace {
std::vector<block> random_blocks(std::mt19937& random, bool whole, int n) {
    std::vector<block> out;
    std::int64_t at = 0;
    for (int i = 0; i < n; ++i) {
        const std::int64_t floats = line_floats * (1 + static_cast<std::int64_t>(random() % 2000));
        out.push_back({at, at + 64 * i, floats, static_cast<int>(random() % 3), whole && random() % 2 ? i : -1, i / 2});
        at += floats;
    }
    return out;
}
/// Each line of each block is at one place of one server, with its gradient, its bucket and its group.
void check(const std::vector<block>& blocks, const dense_placement& p) {
    std::int64_t all = 0, placed = 0;
    for (const block& b : blocks) all += b.floats;
    std::vector<int> seen(static_cast<std::size_t>(all / line_floats), 0);
    for (std::size_t k = 0; k < p.pieces.size(); ++k) {
        std::int64_t end = 0;
        for (const piece& x : p.pieces[k]) {
            BOOST_TEST(x.first == end);
            end += x.floats;
            for (std::int64_t i = 0; i < x.floats; i += line_floats) {
                const std::int64_t at = x.parameter + i;
                ++seen[static_cast<std::size_t>(at / line_floats)];
                const block* of = nullptr;
                for (const block& b : blocks)
                    if (at >= b.parameter && at < b.parameter + b.floats) of = &b;
                bool fits = of && of->bucket == x.bucket;
                fits = fits && (x.bucket < 0 || x.gradient + i - of->gradient == at - of->parameter);
                for (const run& r : p.runs[k])
                    if (x.first + i >= r.first && x.first + i < r.first + r.floats)
                        fits = fits && r.group == of->group && r.tensor == of->tensor;
                if (!fits) BOOST_ERROR("float " << at << " is not where it should be");
            }
        }
        BOOST_TEST(end == p.floats[k]);
        std::int64_t run_end = 0;
        for (const run& r : p.runs[k]) {
            BOOST_TEST(r.first == run_end);
            run_end += r.floats;
        }
        BOOST_TEST(run_end == end);
        placed += end;
    }
    BOOST_TEST(placed == all);
    BOOST_TEST(std::count(seen.begin(), seen.end(), 1) == static_cast<std::int64_t>(seen.size()));
}
double largest_over_mean(const std::vector<std::int64_t>& floats) {
    const std::int64_t most = *std::max_element(floats.begin(), floats.end());
    const std::int64_t sum = std::accumulate(floats.begin(), floats.end(), std::int64_t{0});
    return static_cast<double>(most) * static_cast<double>(floats.size()) / static_cast<double>(sum);
}
} // namespace

BOOST_AUTO_TEST_CASE(loads_are_even_where_lines_may_be_cut) {
    std::mt19937 random(7);
    for (const int servers : {1, 2, 3, 5, 8, 16}) {
        const auto blocks = random_blocks(random, false, 12);
        const dense_placement p = place(blocks, servers);
        check(blocks, p);
        BOOST_TEST(largest_over_mean(p.floats) <= 1.01);
        // No more pieces than blocks and cuts; those of one block and one bucket that are neighbours are one.
        std::size_t pieces = 0;
        for (const auto& x : p.pieces) pieces += x.size();
        BOOST_TEST(pieces <= blocks.size() + static_cast<std::size_t>(servers) - 1);
    }
}

BOOST_AUTO_TEST_CASE(whole_tensors_are_never_cut_and_the_rest_levels_the_servers) {
    std::mt19937 random(8);
    for (const int servers : {1, 2, 3, 4}) {
        const auto blocks = random_blocks(random, true, 24);
        const dense_placement p = place(blocks, servers);
        check(blocks, p);
        BOOST_TEST(largest_over_mean(p.floats) <= 1.1);
        std::vector<int> tensors;
        for (const auto& runs : p.runs)
            for (const run& r : runs)
                if (r.tensor >= 0) {
                    tensors.push_back(r.tensor);
                    BOOST_TEST(r.floats == blocks[static_cast<std::size_t>(r.tensor)].floats);
                }
        std::sort(tensors.begin(), tensors.end());
        BOOST_TEST((std::adjacent_find(tensors.begin(), tensors.end()) == tensors.end()));
    }
}

BOOST_AUTO_TEST_CASE(one_tensor_larger_than_the_mean_stays_whole) {
    const std::vector<block> blocks{{0, 0, 16000, 0, 0, 0}, {16000, 16000, 1600, 0, -1, 0},
                                    {17600, 17600, 160, 1, -1, 1}};
    const dense_placement p = place(blocks, 3);
    check(blocks, p);
    BOOST_TEST(*std::max_element(p.floats.begin(), p.floats.end()) == 16000);
    BOOST_TEST(*std::min_element(p.floats.begin(), p.floats.end()) == 880);
}

// What is frozen is kept by servers, too, behind what is updated; both are even.
BOOST_AUTO_TEST_CASE(blocks_without_gradients_come_last) {
    std::mt19937 random(9);
    std::vector<block> blocks = random_blocks(random, false, 30);
    for (block& b : blocks)
        if (random() % 3 == 0) b.bucket = b.group = -1;
    for (const int servers : {1, 2, 3, 4}) {
        const dense_placement p = place(blocks, servers);
        check(blocks, p);
        BOOST_TEST(largest_over_mean(p.floats) <= 1.01);
        BOOST_TEST(largest_over_mean(p.updated) <= 1.01);
        for (std::size_t k = 0; k < p.pieces.size(); ++k) {
            for (const piece& x : p.pieces[k]) BOOST_TEST((x.bucket >= 0) == (x.first < p.updated[k]));
            for (const run& r : p.runs[k]) BOOST_TEST((r.group >= 0) == (r.first < p.updated[k]));
        }
    }
}

BOOST_AUTO_TEST_CASE(more_servers_than_lines) {
    const std::vector<block> blocks{{0, 0, 32, 0, -1, 0}};
    const dense_placement p = place(blocks, 5);
    check(blocks, p);
    BOOST_TEST(*std::max_element(p.floats.begin(), p.floats.end()) == 16);
    BOOST_TEST(place({}, 2).floats == std::vector<std::int64_t>(2, 0), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_placed_is_refused) {
    const std::vector<block> uneven{{0, 0, 20, 0, -1, 0}};
    BOOST_CHECK_THROW(place(uneven, 2), option_error);
    BOOST_CHECK_THROW(place({}, 0), option_error);
}

// tf.nn.embedding_lookup's documentation: 13 ids over 5 partitions.
BOOST_AUTO_TEST_CASE(rows_as_embedding_lookup_deals_them_out) {
    const std::vector<std::vector<std::int64_t>> div{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10}, {11, 12}};
    const std::vector<std::vector<std::int64_t>> mod{{0, 5, 10}, {1, 6, 11}, {2, 7, 12}, {3, 8}, {4, 9}};
    for (const row_partition how : {row_partition::div, row_partition::mod}) {
        const row_placement p{13, 5, how};
        for (int k = 0; k < 5; ++k) {
            const auto& its = (how == row_partition::div ? div : mod)[static_cast<std::size_t>(k)];
            BOOST_TEST(p.rows_of(k) == static_cast<std::int64_t>(its.size()));
            for (std::size_t i = 0; i < its.size(); ++i) {
                BOOST_TEST(p.server(its[i]) == k);
                BOOST_TEST(p.local(its[i]) == static_cast<std::int64_t>(i));
                BOOST_TEST(p.row(k, static_cast<std::int64_t>(i)) == its[i]);
            }
        }
    }
}

// sharded_variable_test.py, test_embedding_lookup: shards of 2, 2 and 1 rows.
BOOST_AUTO_TEST_CASE(a_lookup_over_three_shards) {
    const std::vector<std::vector<float>> shards{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10}};
    const row_placement p{5, 3, row_partition::div};
    std::vector<float> got;
    for (const std::int64_t id : {0, 3, 4})
        for (std::int64_t e = 0; e < 2; ++e)
            got.push_back(
                shards[static_cast<std::size_t>(p.server(id))][static_cast<std::size_t>(2 * p.local(id) + e)]);
    const std::vector<float> want{1, 2, 7, 8, 9, 10};
    BOOST_TEST(got == want, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(rows_of_every_small_table_are_each_on_one_server) {
    for (const row_partition how : {row_partition::div, row_partition::mod})
        for (std::int64_t rows = 0; rows < 40; ++rows)
            for (int servers = 1; servers < 9; ++servers) {
                const row_placement p{rows, servers, how};
                std::int64_t all = 0;
                for (int k = 0; k < servers; ++k) {
                    all += p.rows_of(k);
                    for (std::int64_t i = 0; i < p.rows_of(k); ++i) {
                        const std::int64_t row = p.row(k, i);
                        BOOST_TEST((row >= 0 && row < rows && p.server(row) == k && p.local(row) == i));
                    }
                }
                BOOST_TEST(all == rows);
            }
}

// sharded_variable_test.py: test_fixed_shards_partitioner, test_min_size_partitioner, test_max_size_partitioner.
BOOST_AUTO_TEST_CASE(partitioners_as_tensorflow_has_them) {
    BOOST_TEST(fixed_shards(10, 2) == 2);
    BOOST_TEST(fixed_shards(3, 8) == 3);
    BOOST_TEST(min_size_shards(6, 4, 4, 2) == 2);
    BOOST_TEST(min_size_shards(6, 4, 4, 10) == 6);
    BOOST_TEST(min_size_shards(6, 4, 1024, 10) == 1);
    BOOST_TEST(max_size_shards(6, 4, 4) == 6);
    BOOST_TEST(max_size_shards(6, 4, 4, 2) == 2);
    BOOST_TEST(max_size_shards(6, 4, 1024) == 1);
    BOOST_TEST(max_size_shards(6, 4, 8) == 3);
    BOOST_TEST(max_size_shards(6, 4, 2) == 6);   // a row larger than a shard may be is one by itself
}
