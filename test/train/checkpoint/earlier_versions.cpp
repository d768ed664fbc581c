// SPDX-License-Identifier: BSL-1.0
// shows saving: folders and files of earlier versions: one process's, the chief's, servers'
// weighs: 4
// needs: distributed
// once: servers' files are of one kind of processor and compiler's options
#define BOOST_TEST_MODULE earlier_versions
#include <boost/test/unit_test.hpp>
#include <sinter/estimator/training_end.hpp>
#include "fixtures/checkpoints.hpp"
#include "fixtures/checkpoints_jobs.hpp"
#include "io/temporary_folder.hpp"
#include <sstream>
#include <filesystem>

// Checkpoints that an earlier version has written: one process's file and folder, the folder of the chief of several
// members, and that of servers. This version goes on from them, and ends where it would have ended itself.
using namespace sinter;
using old_checkpoints::kept_file, old_checkpoints::job, old_checkpoints::whole;

static void put_files(const job& j, const std::string& folder) {
    for (const kept_file& f : old_checkpoints::all_files) {
        if (std::string_view(f.job) != j.name) continue;
        const std::string name = folder + "/" + f.name;
        std::filesystem::create_directories(std::filesystem::path(name).parent_path());
        write_bytes(name, {f.bytes, f.size});
    }
}
/// Steps and weights; another processor sums in another order.
static void check_close(const std::string& is, const std::string& wanted) {
    std::istringstream a(is), b(wanted);
    std::vector<double> x(std::istream_iterator<double>(a), {}), y(std::istream_iterator<double>(b), {});
    BOOST_TEST(x.size() == 23u, is);
    BOOST_REQUIRE_EQUAL(x.size(), y.size());
    BOOST_TEST(x[0] == whole);
    for (std::size_t i = 0; i < x.size(); ++i)
        BOOST_TEST(std::abs(x[i] - y[i]) <= 1e-4, i << ": " << x[i] << ", " << y[i]);
}

BOOST_AUTO_TEST_CASE(all_go_on) {
#if defined(__AVX2__) && !defined(__AVX512F__) && !defined(__clang__)
    constexpr bool reads_servers_files = true;   // they were written by a program for AVX2, and no other may read them
#else
    constexpr bool reads_servers_files = false;
#endif
    for (const job& j : old_checkpoints::all_jobs) BOOST_TEST_CONTEXT(j.name) {
        if (!reads_servers_files && std::string_view(j.name) == "servers") {
            BOOST_TEST_MESSAGE("left out: servers' files of a program for AVX2");
            continue;
        }
        const temporary_folder folder, fresh;
        put_files(j, folder.path());
        const std::string wanted = j.run(fresh.path(), whole);
        check_close(j.run(folder.path(), whole), wanted);
    }
}

// Their order is that of their steps, and whatever is written now is newer than all of them.
BOOST_AUTO_TEST_CASE(older_than_all_that_is_written_now) {
    const temporary_folder folder;
    put_files(old_checkpoints::all_jobs[1], folder.path());
    const checkpoint_folder files(folder.path(), 3);
    BOOST_TEST(files.steps() == (std::vector<std::int64_t>{10, 5}), boost::test_tools::per_element());
    const training_parts::training_end end(folder.path());
    BOOST_TEST(end.read().step == 10);
    BOOST_TEST(end.step(10) == 10);
    BOOST_TEST(end.step(18) == -1);   // a job that is asked for more has not ended
    estimator model{old_checkpoints::net, softmax_cross_entropy, adam{.learning_rate = 0.05f},
                    trainer_options{.threads = 1}};
    auto data = test::points(48, 3) | data::batch(8);
    model.train(data, {.max_steps = 2, .progress = nullptr},
                save_checkpoints(folder.path(), {.every_steps = 2, .keep = 3}));
    BOOST_TEST(files.steps() == (std::vector<std::int64_t>{2, 10, 5}), boost::test_tools::per_element());
}
