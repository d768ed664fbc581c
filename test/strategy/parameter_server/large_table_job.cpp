// SPDX-License-Identifier: BSL-1.0
// shows servers: ten million rows of 64 on two servers: the worker stays below 200 MB
// labels: slow
// needs: distributed
// processors: 2
// alone: it measures the memory of its processes
#include "job.hpp"
#include "support/peak_memory.hpp"
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>

// A job of processes whose worker could not hold the table: ten million rows of 64 floats, 2.56 GB, on two servers.
// Servers make a row when it is first updated: the steps name each row once, so that all are there in the end, in
// 2.7 GB of the servers' memory. SINTER_TABLE_ROWS=1000000 names fewer; table and program are the same.
using namespace sinter;

namespace {

constexpr int rows = 10'000'000, width = 64, columns = 26, batch = 1000;
constexpr auto net = indices<columns> >> embedding<rows, width> >> flatten >> dense<1>;

int rows_to_name() {
    const char* const asked = std::getenv("SINTER_TABLE_ROWS");
    return asked ? std::clamp(std::atoi(asked), 100'000, rows) : rows;
}

std::string member(const cluster& c) {
    const double before = test::peak_megabytes(true);
    trainer t{net, mse, sgd{.learning_rate = 0.05f}, max_batch<batch>, parameter_server<async>{c}, {.threads = 1}};
    if (t.has_served()) return to_text({static_cast<std::int64_t>(test::peak_megabytes() - before)});
    std::vector<std::int32_t> names(std::size_t{batch} * columns);
    const std::vector<float> y(batch, 1.f);
    const data::input_view in{nullptr, names.data(), columns};
    const data::batch_view b{.y = y.data(), .size = batch, .inputs = {&in, 1}};
    const auto name = [&](std::int64_t first) {   // all over the table
        for (std::size_t i = 0; i < names.size(); ++i)
            names[i] = static_cast<std::int32_t>((first + static_cast<std::int64_t>(i)) % rows * 7'654'321 % rows);
    };
    const std::int64_t all = rows_to_name(), each = std::ssize(names);
    name(0);
    const float untrained = t.evaluate(b);
    for (std::int64_t first = 0; first < all; first += each) {
        name(first);
        t.step(b);
    }
    name(0);
    const float trained = t.evaluate(b);
    t.end_training();
    if (!(trained < untrained))
        return to_text({"error: loss ", std::to_string(untrained), " became ", std::to_string(trained)});
    return to_text({static_cast<std::int64_t>(test::peak_megabytes())});
}

BOOST_AUTO_TEST_CASE(a_worker_trains_with_a_table_that_only_servers_hold) {
    server_job job(1, 2, 20);
    job.start_all(member);
    const std::string worker = job.result(0, 240);
    BOOST_TEST_REQUIRE((!worker.empty() && worker.find_first_not_of("0123456789") == worker.npos), worker);
    int servers = 0;
    for (const int s : {1, 2}) servers += std::atoi(job.result(s).c_str());
    std::printf("peak memory: worker %s MB, both servers %d MB for their rows\n", worker.c_str(), servers);
    BOOST_TEST(servers > rows_to_name() / 1000 * width * 4 / 1000);
    if (!test::is_sanitized) BOOST_TEST(std::atoi(worker.c_str()) < 200);
}

}   // namespace
