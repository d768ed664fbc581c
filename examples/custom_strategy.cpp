// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 2 --threads 1
// needs: distributed
//
// A strategy of your own: DiLoCo, which talks once in many steps.
//
// Each process trains on batches of its own for some steps (adamw). Then all look how far they have
// come from where they set out together: the mean of these differences is an outer gradient, by
// which an outer optimizer (Nesterov's momentum) moves the common weights, and everybody goes on
// from there (Douillard et al. 2023, arXiv 2311.08105, algorithm 1).
//
//   sinter-launch -n 4 -- custom_strategy --data DIR
//
// The strategy is in common/diloco.hpp; what one has is told in sinter/strategy/strategy.hpp.
#include "common/diloco.hpp"
#include "common/results.hpp"
#include <sinter/collective/ring.hpp>
#include <sinter/net/from_environment.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

static void train(const example::options& options) {
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);
    trainer model{image<28, 28, 1> >> flatten >> dense<128> >> relu >> dense<10>, softmax_cross_entropy,
                  adamw{.learning_rate = 1e-3f}, max_batch<256>, example::diloco<ring>{cluster::from_environment()},
                  {.threads = options.threads, .seed = options.seed}};
    const membership me = model.session().member();

    for (int epoch = 1; epoch <= options.epochs; ++epoch) {
        double sums[2] = {};   // losses, steps
        int number = 0;
        const auto whole = static_cast<int>(images.train.size()) / options.batch / me.count * me.count;
        for (const data::batch_view& batch : training) {   // all have as many batches; each takes its own
            if (number == whole) continue;
            if (number++ % me.count != me.index) continue;
            sums[0] += static_cast<double>(model.step(batch));
            ++sums[1];
        }
        model.session().reduce(sums);
        metrics::accuracy accuracy;
        for (const data::batch_view& batch : test) {
            model.evaluate(batch);
            accuracy.add(model.output().data(), batch.labels, batch.size, 10);
        }
        if (me.chief())
            std::printf("epoch %d: loss %.4f over %d processes; the chief's test accuracy %.4f\n", epoch,
                        sums[0] / sums[1], me.count, accuracy.value());
    }
}

int main(int argc, char** argv) {
    example::options options{.epochs = 5, .largest_batch = 256};
    example::command_line line("Trains a small net on several processes that talk once in twenty steps.");
    options.declare(line);
    return example::run(argc, argv, line, [&] { train(options); });
}
