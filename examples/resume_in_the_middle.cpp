// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 3 --batch 16 --threads 1 --report resume_in_the_middle.json
//
// A run that is killed in the middle of a pass, and ends with the bits of one that nobody disturbed.
//
// Elements of this pipeline have no numbers by which they could be found: a filter leaves some out, a shuffle has read
// others ahead, and each is moved by random numbers. A checkpoint has the place of each stage, beside the weights and
// the optimizer's memory. So whoever goes on, in another process or on another machine, reads what the shuffle held,
// and not the pass from its beginning; and draws the random numbers that the next element would have had.
#include "common/results.hpp"
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle_window.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
using namespace sinter;

constexpr auto net = features<2> >> dense<32> >> relu >> dense<2>;

struct point {
    std::array<float, 2> x;
    std::int32_t inside;   // of a ring
};

static point any_point(std::int64_t i) {
    random_stream random(7, static_cast<std::uint64_t>(i));
    const float x = random.uniform(-1, 1), y = random.uniform(-1, 1), far = x * x + y * y;
    return {{x, y}, far > 0.2f && far < 0.7f};
}
static auto points(std::int64_t n) {
    return data::from(n, any_point) | data::filter([](const point& p) { return p.x[0] + p.x[1] < 1; });
}

/// In the place of whatever ends a process: behind that step nothing is done any more.
struct killed {};
struct kill_behind {
    std::int64_t step;
    void after_step(training_run& run, const data::batch_view&) {
        if (run.step == step) throw killed{};
    }
};

static auto model_of(const example::options& options) {
    return estimator{net, softmax_cross_entropy, adam{.learning_rate = 2e-2f}, max_batch<64>,
                     {.threads = options.threads, .seed = options.seed}};
}
static auto stream(const example::options& options) {
    return points(4'000) | data::shuffle(500, options.seed) | data::map([](const point& p, random_stream& random) {
               return point{{p.x[0] + 0.02f * random.normal(), p.x[1] + 0.02f * random.normal()}, p.inside};
           }, options.seed) | data::batch(options.batch) | data::parallel(2);
}

static void train(const example::options& options) {
    auto undisturbed = model_of(options), killed_one = model_of(options), resumed = model_of(options);
    auto all = stream(options), first = stream(options), rest = stream(options);
    const train_options all_epochs{.epochs = options.epochs};
    const auto history = undisturbed.train(all, all_epochs);
    const std::int64_t steps = undisturbed.inner().steps(), pass = steps / options.epochs, death = steps - pass / 3;

    const std::string file = "resume_in_the_middle.safetensors";
    try {
        killed_one.train(first, all_epochs, kill_behind{death}, save_checkpoints(file, {.every_steps = 20}));
    } catch (const killed&) {
        std::printf("Killed behind step %lld of %lld, %lld steps into a pass.\n", static_cast<long long>(death),
                    static_cast<long long>(steps), static_cast<long long>(death % pass));
    }
    resumed.train(rest, all_epochs, save_checkpoints(file, {.every_steps = 20, .resume = true}));

    const std::vector<std::byte> a = undisturbed.save_to_memory(), b = resumed.save_to_memory();
    std::int64_t differ = std::abs(std::ssize(a) - std::ssize(b));
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) differ += a[i] != b[i];
    auto test = points(1'000) | data::batch(options.batch);
    example::tell_measured("resume_in_the_middle", options, "made-up points", resumed.threads(), history,
                           {{"accuracy", resumed.evaluate(test).accuracy}, {"bytes", static_cast<double>(a.size())},
                            {"bytes that differ", static_cast<double>(differ)}});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 3, .batch = 16, .largest_batch = 64};
    example::command_line line("Is killed while it trains, goes on, and ends as if nothing had happened.");
    options.declare(line);
    return example::run(argc, argv, line, [&] { train(options); });
}
