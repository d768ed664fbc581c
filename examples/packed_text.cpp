// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 1 --batch 16 --threads 1 --report packed_text.json
//
// Sentences of different lengths, several in a row: a language model on packed text.
//
//   packed_text --data DIR          learns from Shakespeare's lines
//   packed_text --text lines.txt    or from somebody else's
//
// A row of the net has 96 characters, a sentence has some 30, and filled up with padding most of the net's work would
// be for nothing. pack<96> puts sentences one behind the other, whole ones. Each keeps its own places: they begin with
// 0 anew, and the last character of one is not asked for the first of the next; its weight is 0, as that of padding.
// Segments number the sentences of a row: attention sees nothing of the others.
#include "common/language.hpp"
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/pack.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/layers/transformer.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sstream>
using namespace sinter;

constexpr int length = 96, width = 32;
constexpr attention_settings look_back{.causal = causal::yes};

constexpr auto net = inputs(input<"tokens">(indices<length>), input<"positions">(indices<length>),
                            input<"segments">(indices<length>))
    >> [](tensor tokens, tensor positions, tensor segments) {
           const tensor x = embedding<example::most_characters, width>(tokens) + embedding<length, width>(positions);
           return transformer_block<2, 2 * width, look_back>(x, segments);
       }
    >> layer_norm >> dense<example::most_characters>;

struct sample {
    data::packed_row<length>::numbers tokens, positions, segments, next;
    std::array<float, length> weights;
};

/// What follows each token within its sentence.
static sample next_tokens(const data::packed_row<length>& r) {
    sample s{r.tokens, r.positions, r.segments, {}, {}};
    for (std::size_t i = 0; i + 1 < length; ++i)
        if (r.segments[i] > 0 && r.segments[i + 1] == r.segments[i]) s.next[i] = r.tokens[i + 1], s.weights[i] = 1;
    return s;
}

static void train(const example::language_options& options) {
    const example::corpus corpus = example::find_text(options.text, options.data, options.seed);
    const data::characters vocabulary(corpus.text);
    if (vocabulary.size() > example::most_characters)
        throw data_error("too many different characters", corpus.name, std::to_string(vocabulary.size()),
                         "at most " + std::to_string(example::most_characters));
    std::vector<std::string> lines;
    std::istringstream text(corpus.text);
    for (std::string line; std::getline(text, line);) lines.push_back(line + '\n');
    const auto cut = lines.end() - static_cast<std::ptrdiff_t>(lines.size() / 10);
    const auto encode = [&vocabulary](const std::string& line) { return vocabulary.encode(line); };
    const auto rows = [&](std::vector<std::string> of) {
        return data::rows(std::move(of)) | data::shuffle({.seed = options.seed})
             | data::pack<length>(encode, {.truncate = true})
             | data::map(next_tokens) | data::batch(options.batch) | data::prefetch();
    };
    auto training = rows({lines.begin(), cut}), validation = rows({cut, lines.end()});

    estimator model{net, row_weighted(softmax_cross_entropy), adamw{.learning_rate = 1e-2f}, max_batch<32>,
                    {.threads = options.threads, .seed = options.seed}};
    const train_options all{.epochs = options.epochs, .validation = &model.pipeline_of(validation)};
    const auto history = model.train(training, all);
    if (!options.save.empty()) model.save(options.save);
    const double loss = history.back().validation_loss, in_all = static_cast<double>(history.back().examples);
    example::tell_measured("packed_text", options, corpus.name, model.threads(), history,
                           {{"validation loss", loss}, {"perplexity", std::exp(loss)},
                            {"lines in a row", static_cast<double>(cut - lines.begin()) / in_all}});
}

int main(int argc, char** argv) {
    example::language_options options{{.epochs = 10, .batch = 32, .largest_batch = 32}};
    example::command_line line("Learns to write, line by line, with a very small GPT on packed rows.");
    options.declare(line);
    return example::run(argc, argv, line, [&] { train(options); });
}
