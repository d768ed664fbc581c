// SPDX-License-Identifier: BSL-1.0
// cache(), snapshot() and shuffle_blocks() in batches that several threads fill.
#define BOOST_TEST_MODULE data_stages_kept_in_batches
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/cache.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/shuffle_blocks.hpp>
#include <sinter/data/stages/snapshot.hpp>
#include <sinter/data/stages/source.hpp>

namespace kept_in_batches_test {

using namespace sinter;

struct numbered {
    float x = 0;
    std::int32_t i = 0;
};
constexpr port_info one_float{.s = {.rank = 1, .d = {1}}}, one_number{.s = {.type = dtype::i32, .rank = 1, .d = {1}}};
static constexpr data::model_ports ports{{&one_float, 1}, {&one_number, 1}};

/// All numbers of three passes.
template <class Stages>
std::vector<float> numbers_of(const Stages& stages, int threads) {
    data::batches<Stages> all = stages | data::batch(7);
    if (threads > 0) all = std::move(all) | data::parallel(threads);
    data::pipeline& p = data::pipeline_for<ports>(all);
    std::vector<float> numbers;
    for (int pass = 0; pass < 3; ++pass)
        while (const batch_view* b = p.next())
            for (int r = 0; r < b->size; ++r) {
                numbers.push_back(b->inputs[0].values[r]);
                numbers.push_back(static_cast<float>(b->targets[0].indices[r]));
            }
    return numbers;
}

const auto drawn = [](std::int64_t i, random_stream& r) { return numbered{r.uniform(), static_cast<std::int32_t>(i)}; };
const auto some = [](std::int64_t i) { return i % 5 != 2; };

/// make(n): stages with a cache that is new for each n.
template <class Make>
void are_equal_for_any_threads(Make make) {
    const auto by_one = numbers_of(make(0), 0);
    BOOST_TEST(!by_one.empty());
    for (const int threads : {1, 2, 8}) {
        const auto stages = make(threads);
        BOOST_TEST((numbers_of(stages, threads) == by_one));
        BOOST_TEST((numbers_of(stages, threads) == by_one));   // by now all is kept
    }
}

BOOST_AUTO_TEST_CASE(any_number_of_threads) {
    const temporary_folder folder;
    const auto indexed = data::range(200) | data::map(drawn);
    const auto stream = data::range(200) | data::filter(some) | data::map(drawn);
    const auto name = [&](const char* kind, int n) { return folder / (kind + std::to_string(n)); };
    are_equal_for_any_threads([&](int) { return indexed | data::cache() | data::shuffle(); });
    are_equal_for_any_threads([&](int) { return stream | data::cache(); });
    are_equal_for_any_threads([&](int n) { return indexed | data::cache(name("a", n)) | data::shuffle(); });
    are_equal_for_any_threads([&](int n) { return stream | data::cache(name("b", n)); });
    are_equal_for_any_threads([&](int n) { return indexed | data::snapshot(name("c", n)) | data::shuffle(); });
    are_equal_for_any_threads([&](int n) { return stream | data::snapshot(name("d", n), {.shards = 2}); });
    are_equal_for_any_threads([&](int) { return indexed | data::shuffle_blocks(9, 3); });
}

} // namespace kept_in_batches_test
