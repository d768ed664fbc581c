// SPDX-License-Identifier: BSL-1.0
// needs: distributed program_options
// smoke: --help
//
// Who clicks? A table that no worker could hold, on parameter servers.
//
//   sinter-launch --workers 2 --ps 2 -- click_through --epochs 2   clicks that it makes up: an area of 0.74
//   sinter-launch --workers 2 --ps 2 -- click_through --data DIR   the Open Bandit Dataset, of which a
//                                                                  small sample has too few clicks
//                                                                  to learn from
//
// What is known of an impression (user, item, place...) becomes 64-bit keys, and each key has a row
// of numbers that the net learns. There are as many rows as keys: the servers make one when its key
// is seen for the tenth time (whoever is seen less would only be learned by heart), and a worker
// has but the rows of its batch. Rows that no update has named for a million steps are given up;
// where all 50 million are taken, the one that has rested longest makes way.
#include "common/clicks.hpp"
#include "common/options.hpp"
#include <sinter/layers/hashed_embedding.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/metrics/auc.hpp>
using namespace sinter;

constexpr hashed_options rows{
    .most_rows = 50'000'000, .admit_after = 10, .expire_after = 1'000'000, .full = when_full::evict};
constexpr auto net = keys<example::clicks::facts>
    >> hashed_embedding<16, rows> >> flatten
    >> dense<32> >> relu
    >> dense<2>;

static void train(const example::options& options) {
    const example::clicks clicks = example::find_clicks(options.data, options.seed);
    // One program in every role: the environment says which one this process has (doc/cluster.md).
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, max_batch<512>,
                    parameter_server<async>{cluster::from_environment()},
                    {.threads = options.threads, .seed = options.seed}};
    const membership me = model.inner().session().member();
    // Each worker its own.
    const std::uint64_t order = options.seed + static_cast<std::uint64_t>(std::max(0, me.index));
    auto training = data::source(clicks.part(false)) | data::shuffle(100'000, order)
                    | data::batch(options.batch) | data::prefetch();
    auto test = data::source(clicks.part(true)) | data::batch(options.batch);

    model.train(training, {.epochs = options.epochs});   // a server serves here, until all workers are done
    if (model.inner().session().serves() || !me.chief()) return;
    // Clicks are rare, and their probabilities small: of 200 thresholds most examples would be below the first.
    const evaluation_result r = model.evaluate(test, {metrics::auc(100'000)});
    std::printf("%s, %zu impressions, %lld steps of all workers: test loss %.4f, area under the curve %.3f\n",
                clicks.name.c_str(), clicks.clicked.size(), static_cast<long long>(model.inner().steps()), r.loss,
                r.metrics[0].value);
}

int main(int argc, char** argv) {
    example::options options{.epochs = 2, .batch = 256, .largest_batch = 512};
    example::command_line line(
        "Learns from clicks which impressions are clicked on, with a table on parameter servers.");
    options.declare(line);
    return example::run(argc, argv, line, [&] { train(options); });
}
