// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 1 --batch 8 --threads 1 --length 50 --report lstm.json --onnx lstm.onnx
//
// Lesson 15: a language model with a memory.
//
//   lstm --data DIR                         learns to write like Shakespeare, character by character
//
// Where lesson 10's net looks back at what it has read, this one reads once, from the beginning,
// and keeps in mind what matters: a long short-term memory (Hochreiter and Schmidhuber 1997)
// decides at each character what to remember, what to forget, and what to say. All else is as
// there.
#include "common/language.hpp"
#include <sinter/layers/lstm.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

constexpr int context = 64, width = 256;

constexpr auto net = indices<context> >> embedding<example::most_characters, 64> >> lstm<width>
    >> dense<example::most_characters>;

int main(int argc, char** argv) {
    example::language_options options{{.epochs = 12, .batch = 32, .largest_batch = 32}};
    example::command_line line(
        "Learns to write, character by character, with a long short-term memory. An epoch is 100 steps.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] {
        example::train_language_model("lstm", options, context, 100, [&](std::int64_t steps) {
            const schedule rate = warm_up(50, cosine(8e-3f, steps, 2e-4f));
            const clip_by_global_norm optimizer{1.f, adam{.learning_rate = rate}};
            return estimator{net, softmax_cross_entropy, optimizer, max_batch<32>,
                             {.threads = options.threads, .seed = options.seed}};
        });
    });
}
