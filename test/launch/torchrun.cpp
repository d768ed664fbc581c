// SPDX-License-Identifier: BSL-1.0
// shows joining: mpirun, torchrun and Slurm start members that meet
// labels: slow
// needs: distributed
// alone: it starts itself as the members of a job
//
// The roster under PyTorch's torchrun itself, on one node and on two that find each other at a port of this machine.
#define BOOST_TEST_MODULE launch_torchrun
#include <boost/test/unit_test.hpp>
#include "launched.hpp"
#include <filesystem>
#include <cstdlib>

using launched::run;

namespace {

/// From PATH, or beside the tests' Python.
std::string torchrun() {
    const char* python = std::getenv("SINTER_PYTHON");
    const auto beside = std::filesystem::path(python ? python : "").parent_path() / "torchrun";
    return python && std::filesystem::exists(beside) ? beside.string() : "torchrun";
}

} // namespace

BOOST_AUTO_TEST_CASE(one_node) {
    if (!launched::all_found({torchrun().c_str()})) return;
    const auto o = run("export MEMBER=master; timeout 50 " + torchrun() + " --nproc_per_node 2 --no-python $M");
    BOOST_TEST(o.status == 0);
    // torchrun listens at MASTER_PORT itself; we meet beside it.
    for (const char* line : {"rank 0 of 2 at localhost:", "rank 1 of 2 at localhost:", "by RANK=1, WORLD_SIZE=2\n"})
        BOOST_TEST(o.has(line), o.out << o.err);
}

BOOST_AUTO_TEST_CASE(members_connect) {
    if (!launched::all_found({torchrun().c_str()})) return;
    const auto o = run("export MEMBER=meet; timeout 50 " + torchrun() +
                       " --nproc_per_node 3 --master_addr 127.0.0.1 --no-python $M");
    for (const char* rank : {"0", "1", "2"})
        BOOST_TEST(o.has("rank " + std::string(rank) + " met worker/0 worker/1 worker/2\n"), o.out << o.err);
}

BOOST_AUTO_TEST_CASE(two_nodes) {
    if (!launched::all_found({torchrun().c_str()})) return;
    const auto o = run("export MEMBER=master; port=$((20000 + $$ % 10000)); node() { timeout 50 " + torchrun() +
                       " --nnodes 2 --node_rank $1 --nproc_per_node 2 --master_addr 127.0.0.1 --master_port $port "
                       "--no-python $M; }; node 0 & node 1; wait; echo port $((port + 1))");
    const std::string master = "127.0.0.1:" + o.out.substr(o.out.find("port ") + 5, 5);
    for (const char* rank : {"0", "1", "2", "3"})
        BOOST_TEST(o.has("rank " + std::string(rank) + " of 4 at " + master), o.out << o.err);
}
