// SPDX-License-Identifier: BSL-1.0
// shows members: sinter-launch names slow members, stops all on a signal, kills on the second
// needs: tools distributed
// alone: it starts itself as the members of a job
//
// sinter-launch with real processes: who is told what, whose failure counts, and that nothing outlives it.
#define BOOST_TEST_MODULE launch_sinter_launch
#include <boost/test/unit_test.hpp>
#include "launched.hpp"
#include <algorithm>
#include <set>
#include <sstream>
#include <thread>

using launched::run;

namespace {

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    std::ranges::sort(out);
    return out;
}
/// Shell functions: `gone FILES` waits until no process whose number is in one of them lives, `await "FILES" N` until
/// so many numbers are in them.
const std::string gone = R"sh(
gone() { for i in $(seq 400); do left=; for p in $(cat "$@"); do
           case "$(cut -d' ' -f3 /proc/$p/stat 2>/dev/null)" in ''|Z) ;; *) left="$left $p";; esac; done
         [ -z "$left" ] && { echo all $(cat "$@" | wc -w) gone; return; }; sleep 0.05; done
         echo left: $left; kill -9 $left; }
await() { for i in $(seq 800); do [ "$(cat $1 2>/dev/null | wc -w)" = $2 ] && return; sleep 0.05; done
          echo missing $1; }
export -f await   # members use it, too
)sh";

} // namespace

BOOST_AUTO_TEST_CASE(each_member_learns_who_it_is) {
    const auto o = run("MEMBER=show $L -n 4 -- $M");
    BOOST_TEST(o.status == 0);
    const std::vector<std::string> expected{"[worker/0] worker/0 rank 0 of 4", "[worker/1] worker/1 rank 1 of 4",
                                            "[worker/2] worker/2 rank 2 of 4", "[worker/3] worker/3 rank 3 of 4"};
    BOOST_TEST(lines(o.out) == expected, boost::test_tools::per_element());
    BOOST_TEST(o.err == "");
}

BOOST_AUTO_TEST_CASE(verbosity_is_the_launchers_and_all_members) {
    const auto quiet = run("$L -n 1 --restarts 1 --verbosity quiet -- bash -c 'echo $SINTER_VERBOSITY; exit 3'");
    BOOST_TEST(quiet.has("[worker/0] quiet\n"));
    BOOST_TEST(quiet.has("sinter-launch: worker/0 failed: exit status 3"));
    BOOST_TEST(!quiet.has("restart 1 of 1"));
    const auto usual = run("$L -n 1 --restarts 1 -- bash -c 'exit 3'");
    BOOST_TEST(usual.has("restart 1 of 1"));
    BOOST_TEST(run("$L --verbosity loud -- true").has("--verbosity: no such choice; got loud"));
    BOOST_TEST(run("$L -n 0 -- true").has("-n: out of range; got 0; needed 1 to 1000"));
    BOOST_TEST(run("$L --grace 1e-9x -- true").status == 2);
}

BOOST_AUTO_TEST_CASE(roles) {
    const auto o = run("MEMBER=show $L --workers 2 --ps 1 --evaluator -- $M");
    BOOST_TEST(o.status == 0);
    BOOST_TEST(o.has("[ps/0] ps/0 rank -1 of 2\n"));
    BOOST_TEST(o.has("[evaluator/0] evaluator/0 rank -1 of 2\n"));
    BOOST_TEST(o.has("[worker/1] worker/1 rank 1 of 2\n"));
}

BOOST_AUTO_TEST_CASE(one_job_one_key_that_nobody_sees_ports_that_differ) {
    const auto o = run("MEMBER=all $L -n 2 --ps 1 -- $M & MEMBER=all $L -n 6 -- $M; wait");
    std::set<std::string> jobs, ports;
    int unseen = 0, members = 0;
    for (const std::string& line : lines(o.out)) {
        const std::string said = line.substr(line.find("] ") + 2);
        if (said.starts_with("job ")) jobs.insert(said), ++members;
        unseen += said == "the key is nowhere to be seen";
        std::istringstream words(said.starts_with("all ") ? said.substr(4) : "");
        for (std::string w; words >> w;) ports.insert(w.substr(w.find('=')));
    }
    BOOST_TEST(members == 9);
    BOOST_TEST(unseen == 9);
    BOOST_TEST(jobs.size() == 2u);   // two launchers, each with a job and a key of its own
    BOOST_TEST(ports.size() == 9u);
    for (const std::string& port : ports) BOOST_TEST(port.starts_with("=127.0.0.1:"));
    for (const std::string& job : jobs) BOOST_TEST(job.size() > 64u + 20u);
}

BOOST_AUTO_TEST_CASE(the_reserved_ports_can_be_listened_at) {
    const auto o = run("MEMBER=listen $L -n 3 -- $M");
    BOOST_TEST(lines(o.out).size() == 3u);
    BOOST_TEST(!o.has("cannot listen"));
}

BOOST_AUTO_TEST_CASE(members_connect_with_the_key_that_they_were_given) {
    const auto o = run("MEMBER=meet $L -n 3 --restarts 0 -- $M");
    BOOST_TEST(o.status == 0, o.out << o.err);
    for (const char* rank : {"0", "1", "2"})
        BOOST_TEST(o.has("rank " + std::string(rank) + " met worker/0 worker/1 worker/2\n"));
    BOOST_TEST(o.has("sinter-launch: worker/1: exit status 0; step 7, loss 0.25\n"));
}

BOOST_AUTO_TEST_CASE(variables_of_other_launchers_are_removed) {
    const auto o = run("export RANK=0 WORLD_SIZE=8 MASTER_ADDR=x MASTER_PORT=1 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=1 "
                       "OMPI_COMM_WORLD_SIZE=3 SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=5 "
                       "JOB_COMPLETION_INDEX=2 SINTER_KEY=k PET_NNODES=4; MEMBER=show $L -n 2 -- $M");
    BOOST_TEST(o.status == 0);
    BOOST_TEST(o.has("[worker/1] worker/1 rank 1 of 2\n"));
    BOOST_TEST(o.err == "");
}

BOOST_AUTO_TEST_CASE(a_world_of_one_is_an_error) {
    const auto o = run("MEMBER=show $L -n 4 --grace 1 -- env -u TF_CONFIG $M");
    BOOST_TEST(o.status == 1);
    BOOST_TEST(o.has("SINTER_SIZE: the cluster has another size than its launcher gave; got 1 that train"));
    BOOST_TEST(o.has("needed 4"));
    BOOST_TEST(o.has("was the first to fail: exit status 1"));
}

BOOST_AUTO_TEST_CASE(first_failure_is_reported_and_ends_the_job) {
    const auto o = run(gone + R"sh($L -n 3 --grace 0.3 -- bash -c 'trap "" TERM; echo $$ >pid.$$
        case $TF_CONFIG in *"index\": 1}"*) await "pid.*" 3; echo one >&2; printf "no end of line" >&2; exit 3;; esac
        sleep 300 & wait; sleep 300'; echo status $?; gone pid.*)sh");
    BOOST_TEST(o.has("status 1\n"));
    BOOST_TEST(o.has("all 3 gone"));   // they ignored SIGTERM
    BOOST_TEST(o.has("[worker/1] one\n[worker/1] no end of line\n"));
    BOOST_TEST(o.has("sinter-launch: worker/1 failed: exit status 3; its last line: no end of line\n"));
    BOOST_TEST(o.has("sinter-launch: worker/1 was the first to fail: exit status 3\n"));
    const auto killed = run(R"sh($L -n 2 --grace 0.1 -- bash -c 'case $TF_CONFIG in
        *"index\": 0}"*) kill -SEGV $$;; esac; sleep 60')sh");
    BOOST_TEST(killed.status == 1);
    BOOST_TEST(killed.has("worker/0 was the first to fail: signal 11 (Segmentation fault)"));
}

BOOST_AUTO_TEST_CASE(nothing_that_members_began_outlives_the_job) {
    const auto o = run(gone + R"sh($L -n 2 -- bash -c 'setsid sleep 300 & echo $! >pid.$!; sleep 300 & echo $! >pid.$!;
        (trap "" TERM HUP; exec setsid bash -c "echo \$\$ >pid.\$\$; sleep 300; true") &
        await "pid.*" 6'; echo status $?; gone pid.*)sh");
    BOOST_TEST(o.has("status 0\n"));
    BOOST_TEST(o.has("all 6 gone"));
}

BOOST_AUTO_TEST_CASE(nothing_outlives_the_launcher_when_it_is_killed) {
    const std::string members = R"sh($L -n 2 --grace 0.3 -- bash -c 'trap "" TERM; setsid sleep 300 & echo $! >pid.$!
        sleep 300 & echo $! >pid.$!; echo $$ >pid.$$; wait; wait' & outer=$!; await "pid.*" 6;
        inner=$(cat /proc/$outer/task/$outer/children))sh";
    for (const char* victim : {"$outer", "$inner"}) {
        const auto o = run(gone + members + "; kill -9 " + victim + "; wait $outer; echo status $?; gone pid.*");
        BOOST_TEST(o.has("status 137\n"), victim);
        BOOST_TEST(o.has("all 6 gone"), victim);
        BOOST_TEST(!o.has("missing"), victim);
    }
}

// A process that is stopped takes no signal but SIGKILL: it goes on first, and then its members have their grace.
BOOST_AUTO_TEST_CASE(nothing_outlives_a_killed_launcher_whose_child_is_stopped) {
    const auto o = run(gone + R"sh($L -n 2 --grace 0.3 -- bash -c 'trap "" TERM; echo $$ >pid.$$
        sleep 300 & wait; wait' &
        outer=$!; await "pid.*" 2; for p in $(cat /proc/$outer/task/$outer/children); do kill -STOP $p; done
        kill -9 $outer; wait $outer; echo status $?; gone pid.*)sh");
    BOOST_TEST(o.has("status 137\n"));
    BOOST_TEST(o.has("all 2 gone"));
}

BOOST_AUTO_TEST_CASE(a_signal_asks_all_to_stop_and_a_second_one_kills) {
    const std::string start = R"sh($L -n 3 --grace 30 -- bash -c 'trap "echo saves; exit 0" TERM; echo $$ >pid.$$
        while true; do sleep 0.05; done' & await "pid.*" 3; )sh";
    const auto term = run(gone + start + "kill -TERM $!; wait $!; echo status $?; gone pid.*");
    BOOST_TEST(term.has("status 143\n"));
    BOOST_TEST(term.has("all members are asked to stop"));
    for (const char* member : {"0", "1", "2"}) BOOST_TEST(term.has("[worker/" + std::string(member) + "] saves\n"));
    BOOST_TEST(term.has("all 3 gone"));
    // A signal to the process group reaches both of the launcher's processes: that is one, not two.
    const auto group = run(gone + start + "kill -TERM $! $(cat /proc/$!/task/$!/children); wait $!; echo status $?");
    BOOST_TEST(group.has("status 143\n"));
    for (const char* member : {"0", "1", "2"}) BOOST_TEST(group.has("[worker/" + std::string(member) + "] saves\n"));
    const auto twice = run(gone + R"sh($L -n 2 --grace 30 -- bash -c 'trap "" TERM; echo $$ >pid.$$
        while true; do sleep 0.05; done' & await "pid.*" 2; kill -INT $!; sleep 1; kill -TERM $!
        wait $!; echo status $?; gone pid.*)sh");
    BOOST_TEST(twice.has("status 130\n"));
    BOOST_TEST(twice.has("all 2 gone"));
}

BOOST_AUTO_TEST_CASE(restarts) {
    const std::string members = R"sh(-- bash -c 'echo job $SINTER_JOB restart $SINTER_RESTART; echo $TF_CONFIG >>configs
        [ $SINTER_RESTART -ge 2 ]')sh";
    const auto o = run("$L -n 2 --restarts 3 --grace 5 " + members + "; echo status $?");
    BOOST_TEST(o.has("status 0\n"));
    BOOST_TEST(o.has("restart 1 of 3\n"));
    BOOST_TEST(o.has("restart 2 of 3\n"));
    BOOST_TEST(!o.has("restart 3 of 3\n"));
    std::set<std::string> jobs;
    for (const std::string& line : lines(o.out))
        if (line.find("job launch-") != line.npos) jobs.insert(line.substr(line.find("job ")));
    BOOST_TEST(jobs.size() == 3u);   // a member of the attempt before cannot join
    const auto enough = run("$L -n 2 --restarts 1 --grace 5 " + members + "; echo status $?");
    BOOST_TEST(enough.has("status 1\n"));
    BOOST_TEST(enough.has("it is not restarted again"));
}

BOOST_AUTO_TEST_CASE(progress_of_each_member) {
    const auto attempt = [] { return run("MEMBER=report $L -n 2 --progress 0.05 -- $M"); };
    const char* const steps[] = {"sinter-launch: worker/0: step 10, loss 1.5\n", "sinter-launch: worker/1: step 20, "};
    const auto has_all = [&](const launched::outcome& o) { return o.has(steps[0]) && o.has(steps[1]); };
    auto o = attempt();
    for (int i = 0; i < 5 && !has_all(o); ++i) o = attempt();   // a busy machine may miss a step
    BOOST_TEST(o.status == 0);
    for (const char* line : steps) BOOST_TEST(o.has(line), line);
    BOOST_TEST(o.has(" steps/s, loss 0.5"));
    BOOST_TEST(o.has("; saves [31m"));   // control characters do not reach the terminal
    BOOST_TEST(o.err.find('\x1b') == std::string::npos);
    if (std::system("command -v script >/dev/null") == 0) {   // on a terminal: lines that are drawn anew
        const auto tty = run("MEMBER=report script -qec \"$L -n 2 -- $M\" /dev/null");
        BOOST_TEST(tty.has("\x1b[2A\x1b[J"));
        BOOST_TEST(tty.has("worker/0: exit status 0; step 30, "));
    }
    const auto quiet = run("MEMBER=report $L -n 2 --progress 0 -- $M");
    BOOST_TEST(quiet.err == "");
}

BOOST_AUTO_TEST_CASE(who_is_slow_is_named) {
    const auto attempt = [] { return run("MEMBER=slow $L -n 3 --progress 0 -- $M"); };
    auto o = attempt();   // where the machine has other work any worker may be slow
    const auto is_slow = [&](const char* worker) { return o.has(std::string(worker) + " is slow"); };
    for (int i = 0; i < 5 && (!is_slow("worker/1") || is_slow("worker/0") || is_slow("worker/2")); ++i) o = attempt();
    BOOST_TEST(o.status == 0, o.err);
    BOOST_TEST(o.has("sinter-launch: worker/1 is slow: others wait for it "), o.err);
    BOOST_TEST(!o.has("worker/0 is slow"), o.err);
    BOOST_TEST(!o.has("worker/2 is slow"), o.err);
}

BOOST_AUTO_TEST_CASE(an_elastic_job_goes_on_without_those_that_fail) {
    const auto members = [](const std::string& wait) {
        return R"sh(-- bash -c 'echo restart $SINTER_RESTART spares ${SINTER_SPARES-none}
        case $TF_CONFIG in *"index\": 1}"*) [ $SINTER_RESTART -ge 2 ] || { echo dies >&2; exit 3; }; echo 1 >life;; esac
        )sh" + wait + "'; echo status $?";
    };
    const auto o = run(gone + "$L -n 3 --elastic --restarts 3 --spares 1 --progress 0 " + members("await life 1"));
    BOOST_TEST(o.has("status 0\n"), o.out << o.err);
    BOOST_TEST(o.has("worker/1 failed: exit status 3; its last line: dies\n"));
    BOOST_TEST(o.has("worker/1 is started again; restart 2 of 3\n"));
    BOOST_TEST(!o.has("restart 3 of 3"));
    BOOST_TEST(o.has("[worker/3] restart 0 spares 1\n"));
    BOOST_TEST(o.has("[worker/1] restart 2 spares 1\n"));
    // Without restarts the others end well all the same; where nobody does the first one is at fault.
    const auto without = run("$L -n 3 --elastic --progress 0 " + members("sleep 1"));
    BOOST_TEST(without.has("status 0\n"), without.out << without.err);
    BOOST_TEST(!without.has("is started again"));
    const auto none = run("$L -n 2 --elastic --restarts 1 --progress 0 -- bash -c 'exit 5'; echo status $?");
    BOOST_TEST(none.has("status 1\n"), none.out << none.err);
    BOOST_TEST(none.has("was the first to fail: exit status 5"));
}

BOOST_AUTO_TEST_CASE(long_lines_and_much_output) {
    const auto o = run("$L -n 2 -- bash -c 'head -c 300000 /dev/zero | tr \"\\0\" x; echo; seq 20000'");
    BOOST_TEST(o.status == 0);
    BOOST_TEST(std::ranges::count(o.out, 'x') == 600000);
    BOOST_TEST(o.has("\n[worker/1] 20000\n"));
    BOOST_TEST(o.has("\n[worker/0] 12345\n"));
}

BOOST_AUTO_TEST_CASE(servers_end_after_those_that_train_the_evaluator_by_itself) {
    const auto o = run(gone + R"sh($L -n 1 --ps 1 --evaluator --grace 1 -- bash -c 'case $TF_CONFIG in
        *type\":\ \"ps*) trap "echo told; echo 1 >told; exit 0" TERM; echo 1 >there; while true; do sleep 0.05; done;;
        *type\":\ \"evaluator*) await told 1; echo evaluated;;
        *) await there 1;; esac'; echo status $?)sh");
    BOOST_TEST(o.has("status 0\n"));
    BOOST_TEST(o.has("[ps/0] told\n"));
    BOOST_TEST(o.has("[evaluator/0] evaluated\n"));
}

BOOST_AUTO_TEST_CASE(cores_are_shared) {
    const auto apart = run("MEMBER=cores $L -n 2 -- $M"), all = run("MEMBER=cores $L -n 2 --cores all -- $M");
    const auto of = [](const launched::outcome& o) {
        std::set<std::string> sets;
        for (const std::string& line : lines(o.out)) sets.insert(line.substr(line.find("] ")));
        return sets.size();
    };
    BOOST_TEST(of(all) == 1u);
    BOOST_TEST(of(apart) == (std::thread::hardware_concurrency() > 1 ? 2u : 1u));
}

BOOST_AUTO_TEST_CASE(a_plan_is_one_process) {
    const auto o = run("TF_CONFIG=x $L -n 4 --plan 'workers=8,link=1GB/s' -- bash -c "
                       "'echo plan $SINTER_PLAN, ${TF_CONFIG-unset}; exit 7'");
    BOOST_TEST(o.out == "plan workers=8,link=1GB/s, unset\n");
    BOOST_TEST(o.status == 7);
    const auto file = run("printf 'workers=3\n# more\n' >plan; $L --plan plan -- bash -c 'echo \"$SINTER_PLAN\"'");
    BOOST_TEST(file.out == "workers=3\n# more\n\n");
    // A program that says that it has read the description succeeds; one that has not would have trained instead.
    const auto plans = run("$L --plan workers=2 -- bash -c 'echo p >/proc/self/fd/${SINTER_PLAN_FD%%:*}'");
    BOOST_TEST(plans.status == 0);
    BOOST_TEST(plans.err == "");
    const auto trains = run("$L --plan workers=2 -- true");
    BOOST_TEST(trains.status == 1);
    BOOST_TEST(trains.has("sinter-launch: true has ended and has not asked for the plan"));
    for (const char* bad : {"$L --plan '' -- true", "head -c 70000 /dev/zero | tr '\\0' x >p; $L --plan p -- true"}) {
        const auto none = run(bad);
        BOOST_TEST(none.status == 2);
        BOOST_TEST(none.has("--plan: no description of a cluster"));
    }
}

BOOST_AUTO_TEST_CASE(wrong_options_and_programs) {
    const struct {
        const char* arguments;
        int status;
        const char* says;
    } wrong[]{
        {"-n 2", 2, "needed -- PROGRAM"},
        {"-n 2 --", 2, "needed -- PROGRAM"},
        {"-n 0 -- true", 2, "-n: out of range"},
        {"-n x -- true", 2, "'x'"},
        {"-n 2 --workers 2 -- true", 2, "-n and --workers"},
        {"--ps -1 -- true", 2, "--ps: out of range"},
        {"--cores some -- true", 2, "got some; needed share or all"},
        {"--speed 3 -- true", 2, "--speed"},
        {"-n 2 --spares 1 -- true", 2, "--spares: spares are for jobs whose members may die; got 1; needed --elastic"},
        {"-n 2 true", 2, "options before --"},
        {"-n 2 --grace nan -- true", 2, "--grace: out of range"},
        {"-n 2 -- /nowhere/to/be/found", 127, "/nowhere/to/be/found: cannot start the program; got No such file"},
        {"-n 2 -- /tmp", 127, "/tmp: cannot start the program; got Permission denied"},
    };
    for (const auto& w : wrong) {
        const auto o = run(std::string("$L ") + w.arguments);
        BOOST_TEST(o.status == w.status, w.arguments);
        BOOST_TEST(o.has(w.says), w.arguments << ": " << o.err);
        BOOST_TEST(o.out == "");
    }
    BOOST_TEST(run("$L --help").out.find("usage: sinter-launch") == 0u);
}
