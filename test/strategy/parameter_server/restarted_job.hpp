// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "io/temporary_folder.hpp"
#include "job.hpp"
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include <thread>

/// Jobs whose members are killed and started again while they train by train(): with sums over workers at each pass's
/// end, an evaluation, and servers that keep checkpoints.
namespace sinter::restarts {

constexpr auto net = features<4> >> dense<8> >> relu >> dense<3>;
constexpr int batch = 8, batches = 5;   // of a pass

/// What all processes of a job see.
struct board {
    std::atomic<std::int64_t> step[8]{};      ///< by rank
    std::atomic<std::int64_t> made[8]{};      ///< likewise: steps that it was there for, in all its lives
    std::atomic<int> pause{2};                ///< milliseconds of each step
    std::atomic<int> stuck{-1};               ///< the rank of one that does not get on
    std::atomic<bool> stop{false};
    static board& make() { return in_shared_memory<board>(); }
    std::int64_t newest() const {
        std::int64_t n = 0;
        for (const auto& s : step) n = std::max(n, s.load());
        return n;
    }
    bool wait_for(std::int64_t steps, int rank = 0) const {
        for (int i = 0; i < 60000 && step[rank] < steps; ++i) ::usleep(1000);
        return step[rank] >= steps;
    }
};
struct writes_on {
    board& to;
    int rank;
    template <class Run>
    void after_step(Run& run, const data::batch_view&) {
        to.step[rank] = run.step;
        ++to.made[rank];
        if (to.stop) run.ask_to_stop("enough");
        if (!run.model.last_step().passed) std::this_thread::sleep_for(std::chrono::milliseconds(to.pause.load()));
        while (to.stuck == rank) ::usleep(1000);
    }
};
struct settings {
    std::string folder{};   ///< of the servers' checkpoints; empty: none
    std::int64_t max_steps = 60;
    int replicas = 1;
    int save_every = 5;
    double reconnect_within = 60;
    float rate = 1e-2f;
};

/// A process of the job, in every role.
template <auto Mode>
std::string trains(const cluster& c, const settings& s, board& b) {
    parameter_server_options o{.checkpoints = s.folder, .save_every_steps = s.folder.empty() ? 0 : s.save_every};
    o.replicas = s.replicas;
    o.reconnect_within = s.reconnect_within;
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = s.rate}, max_batch<batch>,
                    parameter_server<Mode>{c, o}, {.threads = 1}};
    std::vector<float> x(4 * batch * batches);
    std::vector<std::int32_t> labels(batch * batches);
    random_stream r(7);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = static_cast<std::int32_t>(r.word() % 3);
        for (std::size_t k = 0; k < 4; ++k) x[4 * i + k] = r.normal() + static_cast<float>(labels[i]);
    }
    const data::dataset d = data::dataset(extents(4), x).labels(labels);
    data::pipeline train = data::source(d) | data::batch(batch), measured = data::source(d) | data::batch(batch);
    model.train(train, {.max_steps = s.max_steps, .validation = &measured, .progress = nullptr},
                writes_on{b, c.rank()});
    if (model.inner().session().serves()) return "served";
    return to_text({"after ", model.inner().steps()});
}

} // namespace sinter::restarts
