// SPDX-License-Identifier: BSL-1.0
// shows members: the example program under every strategy: stopped, killed, resumed; canonical bits
// needs: examples distributed tools
// after: distributed
// once: it starts programs, whatever this one is compiled with
//
// The program distributed in real processes: the same bits under every strategy that is canonical, members that are
// killed or asked to stop, and all roles in one program.
#define BOOST_TEST_MODULE examples_distributed
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "net/own_addresses.hpp"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

std::string program() { return std::string(std::getenv("SINTER_EXAMPLES")) + "/distributed"; }
std::string launcher() { return std::getenv("SINTER_LAUNCH"); }

/// A process that is killed at the latest when this ends.
class process {
public:
    process(const std::vector<std::string>& environment, const std::string& arguments, const std::string& log) {
        std::fflush(nullptr);
        pid_ = ::fork();
        if (pid_ != 0) return;
        ::setpgid(0, 0);
        if (!std::freopen(log.c_str(), "w", stdout) || ::dup2(1, 2) < 0) ::_exit(99);
        for (const std::string& e : environment) ::putenv(const_cast<char*>(e.c_str()));
        ::execl("/bin/sh", "sh", "-c", ("exec " + arguments).c_str(), static_cast<char*>(nullptr));
        ::_exit(98);
    }
    process(process&& o) noexcept : pid_(std::exchange(o.pid_, 0)) {}
    ~process() {
        if (pid_ > 0) ::kill(-pid_, SIGKILL), wait();
    }
    void signal(int number) const { ::kill(pid_, number); }
    pid_t pid() const { return pid_; }
    /// Its exit code, or -N where signal N ended it; -99 where that takes more than two minutes.
    int wait() {
        int status = 0;
        for (int i = 0; i < 12000; ++i) {
            if (::waitpid(pid_, &status, WNOHANG) == pid_) {
                pid_ = 0;
                return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return -99;
    }

private:
    pid_t pid_ = 0;
};
/// n processes of one job by hand, as torchrun would start them.
std::vector<process> members(int n, const std::string& arguments, const temporary_folder& folder) {
    std::vector<process> all;
    const std::string master = sinter::own_addresses(1)[0];
    const std::size_t colon = master.find(':');
    for (int r = 0; r < n; ++r)
        all.push_back(process({"RANK=" + std::to_string(r), "WORLD_SIZE=" + std::to_string(n),
                               "MASTER_ADDR=" + master.substr(0, colon), "MASTER_PORT=" + master.substr(colon + 1),
                               "SINTER_DATA="},
                              program() + " " + arguments, folder / ("log" + std::to_string(r)).c_str()));
    return all;
}
int run(const std::string& command, const temporary_folder& folder) {
    return process({"SINTER_DATA="}, command, folder / "log").wait();
}
/// Waits until there is such a file.
bool appears(const std::string& file) {
    for (int i = 0; i < 6000; ++i) {
        if (::access(file.c_str(), F_OK) == 0) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}
const std::string few = " --steps 6 --batch 16 --threads 1 ";

} // namespace

// The files are equal, byte for byte: weights, the optimizer's memory, everything.
BOOST_AUTO_TEST_CASE(canonical_bits) {
    temporary_folder folder;
    const auto command = [&](const std::string& strategy, const std::string& file) {
        return program() + " --canonical 4 --strategy " + strategy + few + "--save " + (folder / file.c_str());
    };
    BOOST_REQUIRE(run(command("single", "single"), folder) == 0);
    const std::string want = read_bytes(folder / "single");
    int n = 0;
    const auto same = [&](const std::string& before, const std::string& strategy) {
        const std::string file = std::to_string(n++);
        BOOST_TEST(run(before + command(strategy, file), folder) == 0,
                   before << strategy << read_bytes(folder / "log"));
        BOOST_TEST((read_bytes(folder / file.c_str()) == want), before << strategy);
    };
    for (const char* s : {"mirrored:2", "mirrored:4", "central_storage:2"}) same("", s);
    for (const char* processes : {"2", "4"})
        for (const char* s : {"multi_worker:ring", "multi_worker:halving_doubling"})
            same(launcher() + " -n " + processes + " -- ", s);
    for (const char* s : {"parameter_server:sync:0", "parameter_server:stale:0"})
        same(launcher() + " --workers 2 --ps 2 -- ", s);
    const int mpi = run(command("multi_worker:mpi", "mpi"), folder);   // a world of one, where it was built with MPI
    if (mpi == 0 && std::system("command -v mpirun > /dev/null") == 0)
        for (const char* processes : {"2", "4"})
            same(std::string("mpirun --allow-run-as-root --oversubscribe -n ") + processes + " ", "multi_worker:mpi");
    // and the test would see it
    BOOST_TEST(run(program() + " --canonical 2 --strategy single" + few + "--save " + (folder / "other"), folder) == 0);
    BOOST_TEST((read_bytes(folder / "other") != want));
}

// One member has SIGTERM: all stop behind the same step, with a checkpoint. Then one is killed: the other says whose
// connection was closed. Started again, the job ends bit for bit as one that nobody disturbed.
BOOST_AUTO_TEST_CASE(stopped_and_killed) {
    temporary_folder folder;
    const auto arguments = [&](const char* checkpoints, const char* save) {
        return "--strategy multi_worker:ring --steps 24 --batch 16 --threads 1 --every 4 --checkpoint " +
               (folder / checkpoints) + " --save " + (folder / save);
    };
    for (process& p : members(2, arguments("whole", "undisturbed"), folder)) BOOST_TEST(p.wait() == 0);
    {
        std::vector<process> job = members(2, arguments("run", "resumed"), folder);
        BOOST_REQUIRE(appears(folder / "run/step-4.safetensors"));
        job[1].signal(SIGTERM);
        for (process& p : job) BOOST_TEST(p.wait() == 3);
        BOOST_TEST(!std::filesystem::exists(folder / "run/ended"));
    }
    std::minstd_rand random(5);
    for (int kills = 0; kills < 1; ++kills) {
        std::vector<process> job = members(2, arguments("run", "resumed"), folder);
        BOOST_REQUIRE(appears(folder / "run/step-8.safetensors"));
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 200));
        const std::size_t killed = random() % 2;
        job[killed].signal(SIGKILL);
        job[killed].wait();
        const int code = job[1 - killed].wait();
        BOOST_TEST((code == 1 || code == 0));   // 0: it had ended before
        const std::string said = read_bytes(folder / ("log" + std::to_string(1 - killed)).c_str());
        if (code == 1) BOOST_TEST(said.find("worker/" + std::to_string(killed)) != said.npos, said);
    }
    for (process& p : members(2, arguments("run", "resumed"), folder)) BOOST_TEST(p.wait() == 0);
    BOOST_TEST((read_bytes(folder / "resumed") == read_bytes(folder / "undisturbed")));
}

// Under sinter-launch --elastic a worker is killed, then the chief: each is started again, and joins
// the others. The job has no last step before both have made some; then it is asked to stop, and
// ends a few steps later in a second one.
BOOST_AUTO_TEST_CASE(elastic_job) {
    temporary_folder folder;
    const auto command = [&](std::int64_t steps) {
        return launcher() + " -n 3 --elastic --restarts 2 --json " + (folder / "lines") + " -- " + program() +
               " --strategy multi_worker:ring --elastic --batch 24 --threads 1 --every 20 --checkpoint " +
               (folder / "run") + " --save " + (folder / "net") + " --steps " + std::to_string(steps);
    };
    process job({"SINTER_DATA="}, command(1'000'000), folder / "log");
    const auto children = [](const std::string& pid) {
        std::istringstream in(read_bytes("/proc/" + pid + "/task/" + pid + "/children"));
        return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
    };
    const auto members_now = [&] {   // beside them the launcher has a process of its own, which watches over it
        std::vector<std::string> all = children(children(std::to_string(job.pid())).at(0));
        std::erase_if(all, [](const auto& pid) { return read_bytes("/proc/" + pid + "/comm") != "distributed\n"; });
        return all;
    };
    const auto told = [&](const std::string& member) {   // how often it has told the launcher of its steps
        const std::string lines = read_bytes(folder / "lines");
        const std::string word = "\"member\": \"" + member + "\"";
        int n = 0;
        for (std::size_t at = 0; (at = lines.find(word, at)) != lines.npos; at += word.size()) ++n;
        return n;
    };
    const auto within_a_minute = [](const std::function<bool()>& holds) {
        for (int i = 0; i < 6000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10)))
            if (holds()) return true;
        return false;
    };
    const auto is_killed_and_joins = [&](std::size_t i, const std::string& name, const std::string& restart) {
        const auto all = members_now();   // by when they were started
        BOOST_TEST_REQUIRE(all.size() == 3u);
        ::kill(std::stoi(all[i]), SIGKILL);
        const std::string said = name + " is started again; restart " + restart;
        const auto is_said = [&] { return read_bytes(folder / "log").find(said) != std::string::npos; };
        BOOST_TEST_REQUIRE(within_a_minute(is_said), said);
        const int before = told(name);    // nothing more comes of its first life
        BOOST_TEST_REQUIRE(within_a_minute([&] { return told(name) >= before + 2; }), name << " makes steps again");
    };
    BOOST_REQUIRE(appears(folder / "run/step-60.safetensors"));
    is_killed_and_joins(1, "worker/1", "1 of 2");
    is_killed_and_joins(0, "worker/0", "2 of 2");
    job.signal(SIGTERM);
    const int code = job.wait();
    BOOST_TEST(code != 0, read_bytes(folder / "log"));
    std::int64_t last = 0;
    for (const auto& f : std::filesystem::directory_iterator(folder / "run"))
        if (f.path().extension() == ".safetensors")
            last = std::max<std::int64_t>(last, std::atoll(f.path().filename().c_str() + 5));
    BOOST_TEST(last >= 60);
    BOOST_TEST(run(command(last + 10), folder) == 0, read_bytes(folder / "log"));
    const std::string said = read_bytes(folder / "log");
    BOOST_TEST(said.find("after " + std::to_string(last + 10) + " steps") != said.npos, said);
    BOOST_TEST(std::filesystem::exists(folder / "net"));
}

// A chief, a worker and an evaluator, by TF_CONFIG: the evaluator measures the last checkpoint and ends by itself.
BOOST_AUTO_TEST_CASE(every_role_in_one_program) {
    temporary_folder folder;
    const auto at = sinter::own_addresses(2);
    const std::string chief = '"' + at[0] + '"', worker = '"' + at[1] + '"';
    std::vector<process> job;
    for (const char* role : {"evaluator", "chief", "worker"})
        job.push_back(process({"TF_CONFIG={\"cluster\":{\"chief\":[" + chief + "],\"worker\":[" + worker +
                                   "]},\"task\":{\"type\":\"" + role + "\",\"index\":0}}", "SINTER_DATA="},
                              program() + " --strategy multi_worker:ring" + few + "--every 3 --checkpoint " +
                                  (folder / "run"), folder / role));
    for (process& p : job) BOOST_TEST(p.wait() == 0);
    const std::string said = read_bytes(folder / "evaluator");
    BOOST_TEST(said.find("step 6: loss ") != said.npos, said);
    BOOST_TEST(read_bytes(folder / "worker").find("step 6: loss ") == std::string::npos);
}

// Workers, servers and an evaluator in every mode: the last checkpoint is of all steps, and all end by themselves.
BOOST_AUTO_TEST_CASE(jobs_with_servers) {
    for (const char* mode : {"async", "stale:0", "stale:1", "stale:3", "sync:0", "sync:1"}) {
        temporary_folder folder;
        const std::string checkpoint = folder / "run";
        BOOST_TEST(run(launcher() + " --workers 2 --ps 2 --evaluator -- " + program() +
                       " --strategy parameter_server:" + mode +
                           " --steps 12 --batch 16 --threads 1 --every 6 --checkpoint " + checkpoint, folder) == 0,
                   mode << ": " << read_bytes(folder / "log"));
        const std::string said = read_bytes(folder / "log");
        BOOST_TEST(said.find("step 12: loss ") != std::string::npos, mode << ": " << said);
        // The evaluator says whether what it sees is of one moment.
        const bool says_not = said.find("[evaluator/0] A checkpoint is not a consistent snapshot") != std::string::npos;
        BOOST_TEST(says_not == (std::string(mode) == "async"), mode << ": " << said);
    }
}

// Other examples that have a strategy: two losses on two replicas, a table that only servers could hold, and a strategy
// of the example's own in two processes.
BOOST_AUTO_TEST_CASE(other_programs) {
    temporary_folder folder;
    const std::string examples = std::getenv("SINTER_EXAMPLES");
    const auto says = [&](const std::string& command, const char* words) {
        BOOST_TEST(run(command, folder) == 0, command << ": " << read_bytes(folder / "log"));
        const std::string said = read_bytes(folder / "log");
        BOOST_TEST(said.find(words) != said.npos, command << ": " << said);
        return said;
    };
    // it writes a picture
    says("env -C " + (folder / "") + " " + examples + "/gan --strategy mirrored:2 --epochs 1 --threads 1",
         "examples/s");
    says(examples + "/gpt --strategy mirrored:2 --epochs 1 --batch 8 --threads 1 --length 20", "perplexity");
    says(launcher() + " -n 2 -- " + examples + "/custom_strategy --epochs 1 --threads 1", "over 2 processes");
    const std::string clicks =
        says(launcher() + " --workers 2 --ps 2 -- " + examples + "/click_through --epochs 1 --threads 1",
             "area under the curve 0.");
    const double area = std::atof(clicks.c_str() + clicks.find("area under the curve ") + 21);
    BOOST_TEST(area > 0.65, clicks);   // guessing: 0.5
}

BOOST_AUTO_TEST_CASE(what_it_refuses) {
    temporary_folder folder;
    for (const char* wrong : {"--strategy mirrored:3", "--strategy nobody", "--strategy single:2", "--canonical 3",
                              "--elastic", "--strategy multi_worker:automatic --elastic"})
        BOOST_TEST(run(program() + " --steps 1 " + wrong, folder) != 0, wrong);
    BOOST_TEST(read_bytes(folder / "log").find("--canonical 2 or 4") != std::string::npos);
}
