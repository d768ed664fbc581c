// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "onnx.hpp"
#include "results.hpp"
#include "text.hpp"
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/runtime/prefetch.hpp>
#include <sinter/data/source/text/windows.hpp>
#include <cmath>

/// What the character language models share: everything but the net.
namespace example {

/// Numbers for nets: each program is compiled for so many different characters at most.
inline constexpr int most_characters = 128;

/// Draws one of the classes that `logits` [n] give scores to, likelier ones more often; a
/// `temperature` below 1 makes the likely likelier.
inline std::int32_t sample(const float* logits, int n, float temperature, sinter::random_stream& random) {
    float most = logits[0];
    for (int i = 1; i < n; ++i) most = std::max(most, logits[i]);
    double sum = 0;
    std::vector<double> reached;
    for (int i = 0; i < n; ++i)
        reached.push_back(sum += std::exp(static_cast<double>((logits[i] - most) / temperature)));
    const double drawn = sum * static_cast<double>(random.uniform());
    for (int i = 0; i < n; ++i)
        if (drawn < reached[static_cast<std::size_t>(i)]) return i;
    return n - 1;
}

/// Goes on writing after `prompt`: `length` more characters. The net [context] -> [context,
/// most_characters] tells for each place what follows; a place does not see what stands behind it,
/// so that what fills up a short text is of no account.
template <class Model>
std::string write_on(Model& model, const sinter::data::characters& vocabulary, const std::string& prompt, int length,
                     int context, std::uint64_t seed, float temperature = 0.8f) {
    std::vector<std::int32_t> text = vocabulary.encode(prompt), window;
    sinter::random_stream random(sinter::base::stream(seed, sinter::base::fnv1a("example/sample")));
    for (int i = 0; i < length; ++i) {
        const std::size_t seen = std::min(text.size(), static_cast<std::size_t>(context));
        window.assign(text.end() - static_cast<std::ptrdiff_t>(seen), text.end());
        window.resize(static_cast<std::size_t>(context));
        const sinter::data::input_view input{nullptr, window.data(), context};
        const sinter::data::batch_view b{.size = 1, .inputs = {&input, 1}};
        const float* const next = model.predict(b).data() + (seen - 1) * most_characters;
        text.push_back(sample(next, vocabulary.size(), temperature, random));
    }
    return vocabulary.decode(text);
}

struct language_options : options {
    std::string text{};            ///< the file; empty: see find_text
    std::string prompt = "\n";
    int length = 400;

    void declare(command_line& line) {
        options::declare(line);
        line.add("text", text, "FILE", "learn from this text (UTF-8) instead of Shakespeare's")
            .add("prompt", prompt, "TEXT", "what the sample goes on from")
            .add("length", length, 0, 1'000'000, "characters of the sample");
    }
};

/// Trains a model of type Estimator, which make(steps in all) makes, with random windows of the
/// text, `steps` batches in an epoch, and lets it write.
template <class Make>
void train_language_model(const char* program, const language_options& options, int context, int steps, Make make) {
    using namespace sinter;
    const corpus corpus = find_text(options.text, options.data, options.seed);
    const data::characters vocabulary(corpus.text);
    if (vocabulary.size() > most_characters)
        throw data_error("too many different characters", corpus.name, std::to_string(vocabulary.size()),
                         "at most " + std::to_string(most_characters) + ", for which the program was compiled");
    (void)vocabulary.encode(options.prompt);   // while nothing is lost
    const std::vector<std::int32_t> text = vocabulary.encode(corpus.text);
    const auto cut = text.end() - static_cast<std::ptrdiff_t>(text.size() / 10);
    auto training = data::windows({text.begin(), cut}, context,
                                  {.random = std::int64_t{steps} * options.batch, .seed = options.seed})
                  | data::batch(options.batch);
    auto validation = data::windows({cut, text.end()}, context) | data::batch(options.batch);

    auto model = make(std::int64_t{steps} * options.epochs);
    std::printf("%s: %zu characters, %d different ones. The model needs %.1f MB.\n", corpus.name.c_str(), text.size(),
                vocabulary.size(), static_cast<double>(model.bytes()) / 1e6);
    const auto history = model.train(training, {.epochs = options.epochs, .validation = &validation});
    if (!options.save.empty()) model.save(options.save);
    write_onnx(options, model, validation);
    std::printf("%s\n", write_on(model, vocabulary, options.prompt, options.length, context, options.seed).c_str());
    const double loss = history.back().validation_loss;
    tell_measured(program, options, corpus.name, model.threads(), history,
                  {{"validation loss", loss}, {"perplexity", std::exp(loss)}, {"accuracy", history.back().accuracy}});
}

} // namespace example
