// SPDX-License-Identifier: BSL-1.0
// needs: distributed program_options
// with: mpi
// smoke: --strategy mirrored:2 --steps 20 --batch 32 --threads 1
// smoke: --save distributed.safetensors --report distributed.json
//
// One program on one device, on several replicas, and on many machines: the quickstart's net, and a
// strategy that the command line names.
//
//   distributed --strategy mirrored:2 --steps 500
//   sinter-launch -n 4 -- distributed --strategy multi_worker:ring --steps 500 --checkpoint run --save net.safetensors
//   sinter-launch --workers 3 --ps 2 -- distributed --strategy parameter_server:async --steps 3000 --checkpoint run
//
// The batch is the global one: --batch 64 on four processes is 16 images each (but under
// parameter_server:async, where each worker has batches of its own, and steps are those of all
// workers together). --canonical 4 makes weights the same to the last bit, whatever the strategy.
// With --checkpoint the same command goes on where it was ended or killed, and a process whose role
// is evaluator evaluates the checkpoints. doc/distributed.md says more.
//
//   sinter-launch -n 4 --elastic --restarts 3 -- distributed --strategy multi_worker:ring --elastic --checkpoint run
//
// goes on when a process dies, which is started again and joins the others; with --replicas 2, to
// sinter-launch and to the program, parameter servers may die, too. A plan,
//
//   sinter-launch --plan 'workers=16 flops=80G bandwidth=1Gbit/s' -- distributed
//
// prints what a step would take on machines that you do not have yet (doc/planning.md).
//
// Each strategy is compiled by itself, in distributed/*.cpp: this file only chooses.
#include "distributed/settings.hpp"
#include "common/results.hpp"
#include <charconv>

using distributed::settings;

/// "mirrored:4" is {"mirrored", "4"}.
static void read_strategy(settings& s, const std::string& text) {
    const std::size_t colon = text.find(':');
    s.strategy = text.substr(0, colon);
    s.detail = colon == std::string::npos ? "" : text.substr(colon + 1);
}
static int train(settings s) {
    using train_function = bool (*)(const settings&, int&);
    int code = 0;
    const bool has_it = (!s.elastic || (s.strategy == "multi_worker" && s.canonical == 0)) &&
                        (s.replicas == 1 || s.strategy == "parameter_server");
    for (const train_function f :
         {&distributed::train_single, &distributed::train_mirrored, &distributed::train_workers,
          &distributed::train_mpi, &distributed::train_servers, &distributed::train_canonical})
        if (has_it && f(s, code)) return code;
    throw sinter::option_error("no such strategy in this program", "--strategy",
                               s.strategy + (s.detail.empty() ? "" : ":" + s.detail) +
                                   (s.canonical ? " --canonical " + std::to_string(s.canonical) : "") +
                                   (s.elastic ? " --elastic" : "") + (s.replicas == 2 ? " --replicas 2" : ""),
                               "single, mirrored:2, mirrored:4, central_storage:2, central_storage:4, "
                               "multi_worker:ring, :halving_doubling, :automatic or :mpi (where it was built with "
                               "MPI); parameter_server:async, :stale:0, :stale:1, :stale:3, :sync:0 or :sync:1; "
                               "--canonical 2 or 4 (4 with mpi, and with stale:0 and sync:0 of servers); "
                               "--elastic with multi_worker:ring; --replicas 2 with parameter_server");
}

int main(int argc, char** argv) {
    settings s;
    std::string strategy = "single";
    example::command_line line(
        "Trains the quickstart's net under a strategy: on one device, several, or many machines.");
    line.add("strategy", strategy, "NAME",
             "single, mirrored:N, central_storage:N, multi_worker:ring, multi_worker:halving_doubling, "
             "multi_worker:automatic, multi_worker:mpi, parameter_server:async, parameter_server:stale:S, "
             "parameter_server:sync:BACKUP")
        .add("canonical", s.canonical, 0, 4, "shards of each batch, 2 or 4: the same bits under every strategy", "none")
        .flag("elastic", s.elastic,
              "of multi_worker:ring: go on without processes that die, and with those that come again")
        .add("replicas", s.replicas, 1, 2, "of parameter_server: servers that keep each part of the weights", "1")
        .add("steps", s.steps, 1, 1'000'000'000, "steps in all, those before a checkpoint included")
        .add("batch", s.batch, 1, distributed::largest_batch, "images in a step, over all replicas and processes")
        .add("threads", s.threads, 1, 1024, "threads of this process to work with", "all cores")
        .add("seed", s.seed, 0, ~std::uint64_t{0}, "of all random numbers")
        .add("data", s.data, "DIR", "folder with data sets; else the environment variable SINTER_DATA")
        .add("checkpoint", s.checkpoint, "DIR", "save the run here now and then, and go on from what is there")
        .add("every", s.every, 1, 1'000'000'000, "steps between two checkpoints")
        .output("save", s.save, "write the trained model here (safetensors)")
        .output("report", s.report, "write settings and results here (JSON)");
    int code = 0;
    const int fault = example::run(argc, argv, line, [&] {
        if (distributed::plan_if_asked()) return;
        read_strategy(s, strategy);
        code = train(s);
    });
    return fault ? fault : code;
}
