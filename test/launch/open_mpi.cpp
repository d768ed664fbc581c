// SPDX-License-Identifier: BSL-1.0
// shows joining: mpirun, torchrun and Slurm start members that meet
// labels: slow
// needs: distributed
// alone: it starts itself as the members of a job
//
// The roster under Open MPI's mpirun itself.
#define BOOST_TEST_MODULE launch_open_mpi
#include <boost/test/unit_test.hpp>
#include "launched.hpp"

using launched::run;

namespace {

const std::string mpirun = "export MEMBER; export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; "
                           "run() { timeout 40 mpirun --oversubscribe \"$@\" $M; }; ";

} // namespace

BOOST_AUTO_TEST_CASE(ranks_of_one_host_use_its_loopback_address) {
    if (!launched::all_found({"mpirun"})) return;
    const auto o = run("MEMBER=master; " + mpirun + "run -n 3");
    BOOST_TEST(o.status == 0);
    for (const char* rank : {"rank 0 of 3 at 127.0.0.1:", "rank 1 of 3 at 127.0.0.1:", "rank 2 of 3 at 127.0.0.1:"})
        BOOST_TEST(o.has(rank), o.out << o.err);
    // All derive the same port.
    const std::string port = o.out.substr(o.out.find("127.0.0.1:"), 15);
    std::size_t seen = 0;
    for (std::size_t at = o.out.find(port); at != o.out.npos; at = o.out.find(port, at + 1)) ++seen;
    BOOST_TEST(seen == 3u);
    BOOST_TEST(o.has("by OMPI_COMM_WORLD_RANK=1, OMPI_COMM_WORLD_SIZE=3\n"));
}

BOOST_AUTO_TEST_CASE(members_connect) {
    if (!launched::all_found({"mpirun"})) return;
    const auto o = run("MEMBER=meet; " + mpirun + "run -n 3");
    for (const char* rank : {"0", "1", "2"})
        BOOST_TEST(o.has("rank " + std::string(rank) + " met worker/0 worker/1 worker/2\n"), o.out << o.err);
}

BOOST_AUTO_TEST_CASE(given_master) {
    if (!launched::all_found({"mpirun"})) return;
    const auto o = run("MEMBER=master; " + mpirun + "run -n 2 -x SINTER_MASTER=node1:2222");
    BOOST_TEST(o.has("rank 1 of 2 at node1:2222"));
    const auto wrong = run("MEMBER=master; " + mpirun + "run -n 2 -x SINTER_SIZE=4");
    BOOST_TEST(wrong.status != 0);
    BOOST_TEST(wrong.has("needed 4"));
}

BOOST_AUTO_TEST_CASE(a_tf_config_that_contradicts_it) {
    if (!launched::all_found({"mpirun"})) return;
    const auto o = run("MEMBER=master; export TF_CONFIG='{\"cluster\": {\"worker\": [\"a:1\", \"b:1\", \"c:1\"]}, "
                       "\"task\": {\"type\": \"worker\", \"index\": 0}}'; " + mpirun + "run -n 2 -x TF_CONFIG");
    BOOST_TEST(o.status != 0);
    BOOST_TEST(o.has("TF_CONFIG and OMPI_*: two sources contradict each other"));
}
