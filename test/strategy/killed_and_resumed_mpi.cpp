// SPDX-License-Identifier: BSL-1.0
// shows members: killed and started again: the same bits, under `canonical<4>` those of one device
// needs: mpi
// processors: 2
// alone: it starts itself, by mpirun, as the members of a job
#include "interrupted.hpp"
#include "io/temporary_folder.hpp"
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdio>
#include <random>
#include <sinter/collective/mpi.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/multi_worker.hpp>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <cstdlib>

// multi_worker<mpi> under canonical<4>, by mpirun itself: a net with a table ends in the very bytes
// of one device on 2 and 4 processes. So it does where a member is killed at a random step, mpirun
// ends the others, and the same job is started again. Two kills for each number of processes;
// SINTER_KILLS=100 for a hundred.
using namespace sinter;

namespace {

/// Counts the steps of this life. A victim dies behind step `last`, or `delay` later, by a thread of
/// its own, and so anywhere within a step; it does not get far before.
struct life {
    int last = 0, delay = 0;   // microseconds
    std::string mark;
    int made = 0;
    void after_step(training_run&, const data::batch_view&) {
        ++made;
        if (last == 0 || made < last) return;
        if (made == last) {
            write_bytes(mark, "behind step " + std::to_string(last));
            std::thread([this] {
                ::usleep(static_cast<useconds_t>(delay));
                ::raise(SIGKILL);
            }).detach();
        }
        if (made == last + 5)
            for (;;) ::pause();
    }
};
int from_environment(const char* variable) {
    const char* const text = std::getenv(variable);
    return text ? std::atoi(text) : -1;
}

struct ended {
    int status;   // as a shell shows it
    std::string said;
};
/// This program as n members, each of which trains and leaves FOLDER/result-RANK. 124: it took too long.
ended job(int n, const temporary_folder& folder, const std::string& settings = "") {
    char self[4096] = "";
    BOOST_REQUIRE(::readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    const std::string command =
        "MEMBER_FOLDER=" + folder.path() + " OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " +
        "OMPI_MCA_rmaps_base_oversubscribe=1 " + settings + " timeout -k 5 100 mpirun -n " + std::to_string(n) +
        " '" + self + "' --run_test=a_member </dev/null >" + (folder / "log") + " 2>&1";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_bytes(folder / "log")};
}
std::string result(const temporary_folder& folder, int rank) {
    return read_bytes(folder / ("result-" + std::to_string(rank)));
}
int steps_made(const temporary_folder& folder, int rank) {
    return std::atoi(read_bytes(folder / ("made-" + std::to_string(rank))).c_str());
}
const std::string& of_one_device() {
    static const std::string wanted = [] {
        temporary_folder folder;
        life undisturbed;
        return interrupted::trained(canonical<4>(single<cpu_device>{}), folder / "run", undisturbed);
    }();
    return wanted;
}
bool there_is_mpirun() {
    if (std::system("command -v mpirun >/dev/null") == 0) return true;
    std::printf("skipped: there is no mpirun\n");
    return false;
}
/// The job has ended well, in the bytes of one device.
void ended_as_one_device(int n, const ended& e, const temporary_folder& folder) {
    BOOST_TEST(e.status == 0, e.said);
    BOOST_TEST(result(folder, 0) == of_one_device(), n << " processes: " << result(folder, 0) << e.said);
    for (int r = 1; r < n; ++r) BOOST_TEST(result(folder, r) == "trained");
}

} // namespace

// What mpirun starts.
BOOST_AUTO_TEST_CASE(a_member, *boost::unit_test::disabled()) {
    const std::string folder = std::getenv("MEMBER_FOLDER");
    const int rank = collective::mpi_members().rank();   // it initialises MPI
    life mine;
    if (rank == from_environment("VICTIM"))
        mine = {.last = from_environment("LAST_STEP"), .delay = from_environment("DELAY"), .mark = folder + "/killed"};
    const std::string is = interrupted::trained(canonical<4>(multi_worker<mpi>{}), folder + "/run", mine);
    write_bytes(folder + "/made-" + std::to_string(rank), std::to_string(mine.made));
    write_bytes(folder + "/result-" + std::to_string(rank), is);
}

BOOST_AUTO_TEST_CASE(a_table_has_the_bits_of_one_device) {
    if (!there_is_mpirun()) return;
    BOOST_TEST(of_one_device().starts_with("150 steps, file "), of_one_device());
    for (const int n : {2, 4}) {
        temporary_folder folder;
        ended_as_one_device(n, job(n, folder), folder);
        BOOST_TEST(steps_made(folder, 0) == interrupted::steps);
    }
}

BOOST_AUTO_TEST_CASE(a_killed_member) {
    if (!there_is_mpirun()) return;
    const int kills = from_environment("SINTER_KILLS") < 0 ? 2 : from_environment("SINTER_KILLS");
    std::mt19937 random(4);
    for (const int n : {2, 4})
        for (int kill = 0; kill < kills; ++kill) {
            temporary_folder folder;
            const int victim = (kill + n / 4) % n;
            const int last = 4 + static_cast<int>(random() % 140), delay = static_cast<int>(random() % 3000);
            const ended killed = job(n, folder, "VICTIM=" + std::to_string(victim) + " LAST_STEP=" +
                                                    std::to_string(last) + " DELAY=" + std::to_string(delay));
            BOOST_TEST_CONTEXT(n << " members, " << victim << " killed behind step " << last << " + " << delay) {
                BOOST_TEST(read_bytes(folder / "killed") == "behind step " + std::to_string(last), killed.said);
                BOOST_TEST((killed.status != 0 && killed.status != 124), killed.status << killed.said);
                for (int r = 0; r < n; ++r) BOOST_TEST(result(folder, r) == "");
                ended_as_one_device(n, job(n, folder), folder);
                BOOST_TEST(steps_made(folder, 0) <= interrupted::steps - (last - 1) / 3 * 3);   // it has gone on
            }
        }
}
