// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 1 --batch 8 --threads 1 --length 50 --report gpt.json --onnx gpt.onnx
//
// Lesson 10: a language model with attention.
//
//   gpt --data DIR                         learns to write like Shakespeare, character by character
//   gpt --text novel.txt --epochs 20       or like somebody else
//   gpt --strategy mirrored:2              on two replicas, each with half of every batch
//
// A small GPT (Radford et al. 2019): each place of a text looks at those before it, by attention
// (Vaswani et al. 2017), and thinks about what it saw, in a net of two layers; four times over. To
// attend, a place asks with a query; the keys of the places up to it say how well each answers, and
// it gets the average of their values, weighted so. Each head does that with numbers of its own.
#include "common/language.hpp"
#include "common/replicas.hpp"
#include <sinter/layers/attention.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

constexpr int context = 64, width = 128, heads = 4, blocks = 4;

/// What a place is, beside which character stands there: learned, too.
struct position_layer : layer<position_layer> {
    static constexpr const char* name = "position";
    static constexpr tensor trace(tensor x) {
        return x + parameter(x, "table", extents(context, width), {init_kind::uniform, 0.05f});
    }
};
constexpr position_layer position{};

constexpr auto look_back = multi_head_attention<heads, attention_settings{.causal = causal::yes}>;

// transformer_block<heads, 4 * width, ...> is this, ready made.
constexpr auto block = [](tensor x) {
    x = x + look_back(layer_norm(x));
    return x + dense<width>(gelu(dense<4 * width>(layer_norm(x))));
};
constexpr auto all_blocks = [](tensor x) {
    for (int i = 0; i < blocks; ++i) x = block(x);
    return x;
};
constexpr auto net = indices<context>
    >> embedding<example::most_characters, width> >> position
    >> all_blocks >> layer_norm
    >> dense<example::most_characters>;

int main(int argc, char** argv) {
    example::language_options options{{.epochs = 10, .batch = 32, .largest_batch = 32}};
    example::command_line line("Learns to write, character by character, with a small GPT. An epoch is 100 steps.");
    std::string strategy = "single";
    options.declare(line);
    example::declare_strategy(line, strategy);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] {
        example::under_strategy(strategy, [&](const auto& replicas) {
            example::train_language_model("gpt", options, context, 100, [&](std::int64_t steps) {
                const schedule rate = warm_up(100, cosine(4e-3f, steps, 4e-4f));
                const clip_by_global_norm optimizer{
                    1.f, adamw{.learning_rate = rate, .beta2 = 0.99f, .weight_decay = 0.1f}};
                return estimator{net, softmax_cross_entropy, optimizer, max_batch<32>, replicas,
                                 {.threads = options.threads, .seed = options.seed}};
            });
        });
    });
}
