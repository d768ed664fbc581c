// SPDX-License-Identifier: BSL-1.0
// shuffle(n), pack(), mixtures and what leaves out elements, in batches that several threads fill.
#define BOOST_TEST_MODULE data_stages_further_in_batches
#include <boost/test/unit_test.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/ignore_errors.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/mixture.hpp>
#include <sinter/data/stages/pack.hpp>
#include <sinter/data/stages/shuffle_window.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/unique.hpp>

namespace further_in_batches_test {

using namespace sinter;

struct numbered {
    float x;
    std::int32_t i;
};
constexpr port_info one_float{.s = {.rank = 1, .d = {1}}}, one_number{.s = {.type = dtype::i32, .rank = 1, .d = {1}}};
constexpr port_info four_numbers{.s = {.type = dtype::i32, .rank = 1, .d = {4}}};
constexpr port_info of_rows[] = {four_numbers, four_numbers, four_numbers};
static constexpr data::model_ports numbered_ports{{&one_float, 1}, {&one_number, 1}}, row_ports{{of_rows, 3}, {}};

/// All columns of three passes, byte by byte.
template <const data::model_ports& Ports, class Stages>
std::vector<unsigned char> bytes_of(const Stages& stages, int threads) {
    data::batches<Stages> all = stages | data::batch(7);
    if (threads > 0) all = std::move(all) | data::parallel(threads);
    data::pipeline& p = data::pipeline_for<Ports>(all);
    std::vector<unsigned char> bytes;
    const auto add = [&](const input_view& v, int rows) {
        const void* const at = v.values ? static_cast<const void*>(v.values) : v.indices;
        const auto* from = static_cast<const unsigned char*>(at);
        bytes.insert(bytes.end(), from, from + std::size_t{4} * static_cast<std::size_t>(rows * v.width));
    };
    for (int pass = 0; pass < 3; ++pass)
        while (const batch_view* b = p.next()) {
            for (const input_view& v : b->inputs) add(v, b->size);
            for (const input_view& v : b->targets) add(v, b->size);
        }
    return bytes;
}
template <const data::model_ports& Ports, class Stages>
void are_equal_for_any_threads(const Stages& stages) {
    const auto by_one = bytes_of<Ports>(stages, 0);
    BOOST_TEST(!by_one.empty());
    for (const int threads : {1, 2, 8}) BOOST_TEST((bytes_of<Ports>(stages, threads) == by_one));
}

const auto drawn = [](std::int64_t i, random_stream& r) { return numbered{r.uniform(), static_cast<std::int32_t>(i)}; };
const auto some = [](std::int64_t i) { return i % 5 != 2; };

BOOST_AUTO_TEST_CASE(any_number_of_threads) {
    are_equal_for_any_threads<numbered_ports>(data::range(200) | data::shuffle(30) | data::map(drawn));
    are_equal_for_any_threads<numbered_ports>(data::range(200) | data::filter(some) | data::shuffle(30) |
                                              data::map(drawn));
    are_equal_for_any_threads<numbered_ports>(
        data::sample_from({1, 2}, data::range(90) | data::map(drawn), data::range(80) | data::filter(some) |
                                                                          data::map(drawn)));
    are_equal_for_any_threads<numbered_ports>(
        data::range(200) | data::map([](std::int64_t i) {
            if (i % 9 == 4) throw data_error("a bad element", "here");
            return i / 2;
        }) | data::ignore_errors(100) | data::unique() | data::map(drawn));
    are_equal_for_any_threads<row_ports>(
        data::range(100) | data::map([](std::int64_t i) {
            return std::vector<std::int32_t>(static_cast<std::size_t>(i % 4), static_cast<std::int32_t>(i));
        }) | data::pack<4>({.window = 20}) | data::shuffle(9));
}

} // namespace further_in_batches_test
