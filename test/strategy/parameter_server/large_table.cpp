// SPDX-License-Identifier: BSL-1.0
// alone: it measures the memory of its process
#include <boost/test/unit_test.hpp>
#include "support/peak_memory.hpp"
#include <sinter/base/hash.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/graph/initial_row.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/parameter_server/row_store.hpp>
#include <sinter/strategy/parameter_server/remote_tables.hpp>
#include <sinter/strategy/replica.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/none.hpp>
#include <cstdio>
#include <fstream>
#include <random>

// A table of ten million rows of 64 floats (2.56 GB, with Adam's slots 7.7 GB): a worker that trains with it, and two
// servers that keep it, in one process, whose memory stays small.
using namespace sinter;

namespace {

constexpr int rows = 10'000'000, width = 64, columns = 26, batch = 128;
constexpr auto net = indices<columns> >> embedding<rows, width> >> flatten >> dense<1>;
constexpr program_options remote{.gradients = gradient_policy::reduced, .remote_tables = batch};
template <program_mode M>
using program = compiler::compiled<
    compiler::request<std::remove_const_t<decltype(net)>, mse_loss, no_optimizer, M, batch, cpu_device::target,
                      remote>>;
using P = program<program_mode::training>;
using programs = model_programs<cpu_device, program<program_mode::evaluation>, program<program_mode::prediction>, P>;

} // namespace

BOOST_AUTO_TEST_CASE(a_worker_holds_the_rows_of_a_batch) {
    const parameter_servers::row_placement place{rows, 2, parameter_servers::row_partition::mod};
    replica<programs> worker(cpu_device::options{1});
    sinter::strategy_parts::remote_tables<P> tables({&place, 1});
    std::vector<parameter_servers::row_store> servers;
    const std::uint64_t stream = base::stream(1, base::fnv1a("embedding/table"));
    for (int s = 0; s < 2; ++s)
        servers.emplace_back(parameter_servers::row_store_setup{width, 2, place.rows_of(s), {}, 2,
                                                      [&, s](std::int64_t local, float* to) {
            compiler::initial_row({init_kind::uniform, 0.05f}, stream, place.row(s, local), width, to);
        }});
    struct alignas(64) columns_of_batch { std::int32_t indices[batch * columns]; float y[batch]; };
    const auto data = std::make_unique<columns_of_batch>();
    std::vector<float> moving(std::size_t(batch * columns * width));
    std::mt19937 r(1);
    const input_view in{nullptr, data->indices, columns};
    for (int i = 0; i < P::v.n_parameters; ++i) {
        const variable_info& v = P::v.parameters[i];
        const std::vector<float> x(std::size_t(v.remote ? 0 : v.floats), 0.1f);
        if (!v.remote) worker.write(v.at, x.data(), v.floats);
    }
    float first = 0, last = 0;
    for (int step = 0; step < 30; ++step) {
        for (std::int32_t& i : data->indices) i = static_cast<std::int32_t>(r() % rows);
        data->indices[0] = 17, data->indices[1] = rows - 1;
        for (float& y : data->y) y = 1;
        batch_view b;
        b.size = batch, b.y = data->y, b.inputs = {&in, 1};
        const batch_view whole = tables.prepare(b);
        for (int s = 0; s < 2; ++s) {
            float* to = moving.data();
            for (const std::int64_t k : tables.wanted(0, s).keys) servers[std::size_t(s)].read(k, to), to += width;
            tables.place(0, s, moving.data(), worker.host(tables.table(0).at));
        }
        last = worker.step<0>(whole, {nullptr, 1, step}).loss;
        if (step == 0) first = last;
        const compiler::gradient_bucket& k = P::v.buckets[tables.table(0).bucket];
        BOOST_TEST_REQUIRE(k.is_list());
        for (int s = 0; s < 2; ++s) {
            const row_list list{reinterpret_cast<std::int32_t*>(worker.host(k.keys)), worker.host(k.at), k.row_floats};
            const float* d = moving.data();
            for (const std::int64_t key : tables.collect(0, s, list, moving.data())) {
                float* const row = servers[std::size_t(s)].values() +
                    std::int64_t{servers[std::size_t(s)].add(key, step)} * width;
                for (int j = 0; j < width; ++j) row[j] -= 0.1f * *d++;
            }
        }
    }
    BOOST_TEST(last < first);
    BOOST_TEST(servers[0].size() + servers[1].size() > 90'000);   // of 30 * 128 * 26 lookups
    // row 17 began as a table of one device would have it
    std::vector<float> row(width), whole_row(width);
    compiler::initial_row({init_kind::uniform, 0.05f}, stream, 17, width, whole_row.data());
    servers[1].read(place.local(17), row.data());
    BOOST_TEST(row[3] != whole_row[3]);
    BOOST_TEST(std::abs(row[3] - whole_row[3]) < 0.1f);
    const double most = test::peak_megabytes();
    std::printf("peak memory: %.0f MB\n", most);
    BOOST_TEST(most > 0);
    if (!test::is_sanitized) BOOST_TEST(most < 200);
}
