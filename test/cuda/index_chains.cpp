// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/kernel/cuda/index_chains.hpp>
#include <algorithm>
#include <map>
#include <vector>

// Places of equal indices, found by threads that the host runs one after the other, beside a map
// that is filled in order.
using namespace sinter;

namespace {

/// Threads in three orders give the same.
struct host_threads {
    int order = 0;
    template <gpu::chain_step Step>
    void chain(std::int64_t threads, const gpu::chain_call& c) {
        for (std::int64_t i = 0; i < threads; ++i) {
            std::int64_t number = order == 0 ? i : threads - 1 - i;
            if (order == 2) number = (i * 7919 + 3) % threads;
            if (order == 2 && threads % 7919 == 0) number = i;
            gpu::chain_thread<Step>(number, c);
        }
    }
};

struct chains {
    std::vector<std::int32_t> next, first, order, keys;
    std::int32_t count = 0;
};
chains wanted(const std::vector<std::int32_t>& index, int rows) {
    chains w;
    w.next.assign(index.size(), -1);
    w.first.assign(static_cast<std::size_t>(rows), -1);
    std::map<std::int32_t, std::int32_t> last;
    for (std::size_t i = 0; i < index.size(); ++i) {
        const auto own = static_cast<std::int32_t>(i);
        if (const auto before = last.find(index[i]); before != last.end()) {
            w.next[static_cast<std::size_t>(before->second)] = own;
        } else {
            w.first[static_cast<std::size_t>(index[i])] = own;
            w.order.push_back(own);
            w.keys.push_back(index[i]);
        }
        last[index[i]] = own;
    }
    w.count = static_cast<std::int32_t>(w.keys.size());
    return w;
}
void check(const std::vector<std::int32_t>& index, int rows) {
    const chains w = wanted(index, rows);
    const auto m = static_cast<std::int64_t>(index.size());
    for (int order = 0; order < 3; ++order) {
        host_threads engine{order};
        const auto of = [&](bool lists, std::int32_t* keys, std::vector<std::int32_t>& scratch) {
            const std::int64_t words = gpu::chain_words(m, rows, lists);
            scratch.assign(static_cast<std::size_t>(words) + 8, 123456789);
            const gpu::chain_call c = gpu::make_chains(engine, index.data(), m, rows, lists, keys, scratch.data());
            BOOST_TEST(std::count(scratch.begin() + words, scratch.end(), 123456789) == 8);   // nothing behind the end
            BOOST_TEST((std::vector<std::int32_t>(c.next, c.next + m) == w.next));
            return c;
        };
        std::vector<std::int32_t> scratch, keys(list_header + index.size(), -7);
        const gpu::chain_call whole = of(false, nullptr, scratch);
        BOOST_TEST((std::vector<std::int32_t>(whole.first, whole.first + rows) == w.first));
        for (const bool named : {false, true}) {
            const gpu::chain_call list = of(true, named ? keys.data() : nullptr, scratch);
            BOOST_TEST_REQUIRE(*list.count == w.count);
            BOOST_TEST((std::vector<std::int32_t>(list.order, list.order + w.count) == w.order));
        }
        BOOST_TEST(keys[0] == w.count);
        BOOST_TEST((std::vector<std::int32_t>(keys.begin() + list_header, keys.begin() + list_header + w.count) ==
                    w.keys));
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(as_a_map_finds_them) {
    random_stream random(5);
    for (const int m : {1, 2, 3, 63, 64, 65, 127, 128, 129, 193, 1000, 4096, 4097, 20000})
        for (const int rows : {1, 2, 7, 100, 50000}) {
            std::vector<std::int32_t> index(static_cast<std::size_t>(m));
            for (std::int32_t& v : index) v = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(rows)));
            check(index, rows);
        }
}
BOOST_AUTO_TEST_CASE(many_groups_in_order_and_backwards) {
    std::vector<std::int32_t> index(3 * 64 * 64 * 64 / 4 + 17);
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<std::int32_t>(i);
    check(index, static_cast<int>(index.size()));
    std::reverse(index.begin(), index.end());
    check(index, static_cast<int>(index.size()));
}
