// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 1 --batch 32 --threads 1 --report handwriting.json --onnx handwriting.onnx
//
// Lesson 14: sequences whose labels have no place (CTC).
//
// A pen has written rows of digits, and the net sees how it moved, frame by frame. Which digits
// they are is known, and in which order, but not which frames are which digit's. Connectionist
// temporal classification (Graves et al. 2006) needs no more: the net says in each frame one of the
// digits, or nothing (the blank), and the loss adds up the probabilities of all ways to say the
// right row. No data: the program moves the pen itself, along the strokes of which it draws digits
// in the other lessons.
#include "common/onnx.hpp"
#include "common/results.hpp"
#include "common/strokes.hpp"
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <sinter/layers/transformer.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/decode/ctc_greedy.hpp>
#include <sinter/train/losses/ctc.hpp>
using namespace sinter;

constexpr int frames = example::handwriting::frames, numbers = example::handwriting::numbers, width = 64, classes = 11;

/// Each frame beside its neighbours: [T, N] -> [T, (2 Reach + 1) N], zeros where there are none.
template <int Reach>
constexpr auto with_neighbours = [](tensor x) {
    const tensor nothing = ops::broadcast_to(slice(x, 0, 0, 1) * 0.f, batch_of(Reach, numbers));
    const tensor padded = concat({nothing, x, nothing}, 0);
    tensor all = slice(padded, 0, 0, frames);
    for (int i = 1; i <= 2 * Reach; ++i) all = concat(all, slice(padded, 0, i, frames), 1);
    return all;
};
/// Which frame it is: learned.
struct position_layer : layer<position_layer> {
    static constexpr const char* name = "position";
    static constexpr tensor trace(tensor x) {
        return x + parameter(x, "table", extents(frames, width), {init_kind::uniform, 0.05f});
    }
};
constexpr position_layer position{};

constexpr auto net = array<frames, numbers> >> with_neighbours<3> >> dense<width> >> relu >> dense<width> >> position
    >> transformer_block<4, 2 * width> >> transformer_block<4, 2 * width> >> layer_norm >> dense<classes>;

/// How many digits must be changed, left out or put in to make one row of the other (Levenshtein
/// 1966).
static int edits(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
    std::vector<int> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        int corner = row[0];
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const int changed = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

static void train(const example::options& options) {
    const auto rows = [&](const char* what, int n) {
        return example::written_digits(n, base::stream(options.seed, base::fnv1a(what))).set;
    };
    auto training =
        data::source(rows("train", 6'000)) | data::shuffle(10'000, options.seed) | data::batch(options.batch);
    auto validation = data::source(rows("validation", 500)) | data::batch(options.batch);
    auto test = data::source(rows("test", 1'000)) | data::batch(options.batch);

    const std::int64_t steps = (training.size() + options.batch - 1) / options.batch * options.epochs;
    const clip_by_global_norm optimizer{1.f, adam{.learning_rate = warm_up(100, cosine(2e-3f, steps))}};
    estimator model{net, ctc<example::handwriting::most_digits>, optimizer, max_batch<64>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs, .validation = &validation});
    if (!options.save.empty()) model.save(options.save);

    std::int64_t wrong = 0, digits = 0, shown = 0;
    for (const data::batch_view& b : test) {
        const span<const float> scores = model.predict(b);
        for (int i = 0; i < b.size; ++i) {
            const std::vector<std::int32_t> said =
                decode::ctc_greedy(scores.data() + i * frames * classes, frames, classes);
            std::vector<std::int32_t> meant;
            for (int k = 0; k < b.label_width && b.labels[i * b.label_width + k] > 0; ++k)
                meant.push_back(b.labels[i * b.label_width + k]);
            wrong += edits(said, meant);
            digits += static_cast<std::int64_t>(meant.size());
            if (shown++ >= 5) continue;
            for (const std::vector<std::int32_t>* row : {&std::as_const(meant), &said}) {
                std::fputs(row == &meant ? "written " : ", read ", stdout);
                for (const std::int32_t d : *row) std::printf("%d", d - 1);
            }
            std::puts("");
        }
    }
    example::write_onnx(options, model, test);
    example::tell_measured("handwriting", options, "drawn strokes", model.threads(), history,
                           {{"error rate", static_cast<double>(wrong) / static_cast<double>(digits)}});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 4, .batch = 32, .largest_batch = 64};
    example::command_line line("Learns to read rows of handwritten digits from the movement of the pen.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] { train(options); });
}
