// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdlib>

#include <sinter/layers/embedding.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/layers/transformer.hpp>
#include <sinter/sinter.hpp>
#include <zoo/lenet.hpp>
#include <zoo/mlp.hpp>

/// The nets that are measured, and data for them, fixed pseudo-random numbers: images of
/// 28 x 28 x 1 and ten classes, rows of 32 x 256 and ten classes, text of 64 symbols out of 65.
namespace sinter::bench {

inline constexpr auto mlp = zoo::mlp<10, 128>;
inline constexpr auto lenet = zoo::lenet<>;
inline constexpr auto cnn = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2> >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dense<10>;
/// README's.
inline constexpr auto quickstart = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2> >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;

/// What decides between two actions from four numbers: the smallest net that anybody trains in
/// earnest.
inline constexpr auto policy = features<4> >> dense<64> >> relu >> dense<64> >> relu >> dense<2>;

/// Five numbers and nine categories of an example, 149 numbers with the categories' embeddings; a
/// yes or no. The columns' tables lie one behind the other in a single one, and indices are rows of
/// that.
inline constexpr int column_width = 16, column_numbers = 5, column_rows[] = {10, 16, 25, 40, 80, 150, 300, 600, 1000};
inline constexpr int column_count = 9, all_column_rows = 2221;
inline constexpr auto columns = inputs(features<column_numbers>, indices<column_count>)
    >> [](tensor numbers, tensor rows) {
           return concat(flatten(embedding<all_column_rows, column_width>(rows)), numbers);
       }
    >> dense<64> >> relu >> dense<1>;

/// Two layers of 256 over 32 steps.
inline constexpr auto lstm = array<32, 256>
    >> sinter::lstm<256>
    >> sinter::lstm<256, recurrent_options{.sequences = false}>
    >> dense<10>;

inline constexpr int gpt_context = 64, gpt_width = 128, gpt_symbols = 65;
inline constexpr auto gpt_place = [](tensor x) {
    return x + parameter(x, "place", extents(gpt_context, gpt_width), {init_kind::uniform, 0.05f});
};
/// Four blocks as GPT-2's (Radford et al. 2019), whose gelu is the approximate one; or with the
/// exact one.
template <bool ExactGelu>
inline constexpr auto gpt_blocks = [](tensor x) {
    for (int i = 0; i < 4; ++i) {
        x = x + multi_head_attention<4, attention_settings{.causal = causal::yes}>(layer_norm(x));
        const tensor hidden = dense<4 * gpt_width>(layer_norm(x));
        x = x + dense<gpt_width>(ExactGelu ? ops::gelu(hidden) : ops::gelu_tanh(hidden));
    }
    return x;
};
template <bool ExactGelu>
inline constexpr auto gpt_net = indices<gpt_context>
    >> embedding<gpt_symbols, gpt_width> >> gpt_place
    >> gpt_blocks<ExactGelu> >> layer_norm
    >> dense<gpt_symbols>;
inline constexpr auto gpt = gpt_net<false>;
inline constexpr auto gpt_exact = gpt_net<true>;

/// The same four times as wide, where products take nearly all the time.
inline constexpr int wide_gpt_width = 512;
inline constexpr auto wide_gpt = indices<gpt_context> >> embedding<gpt_symbols, wide_gpt_width>
    >> [](tensor x) {
           x = x + parameter(x, "place", extents(gpt_context, wide_gpt_width), {init_kind::uniform, 0.05f});
           for (int i = 0; i < 4; ++i) {
               x = x + multi_head_attention<8, attention_settings{.causal = causal::yes}>(layer_norm(x));
               x = x + dense<wide_gpt_width>(ops::gelu_tanh(dense<4 * wide_gpt_width>(layer_norm(x))));
           }
           return x;
       }
    >> layer_norm >> dense<gpt_symbols>;

inline std::vector<float> numbers(std::size_t n) {
    std::vector<float> x(n);
    random_stream r(7);
    for (float& v : x) v = r.uniform();
    return x;
}
inline std::vector<std::int32_t> classes(std::size_t n, int most, int seed) {
    std::vector<std::int32_t> y(n);
    random_stream r(seed);
    for (std::int32_t& v : y) v = static_cast<std::int32_t>(r.below(most));
    return y;
}

/// Sixteen batches, as all sets here, where no other number of examples is asked for.
inline data::dataset images(std::size_t n = 16 * 64) {
    return data::dataset(extents(28, 28, 1), numbers(n * 784)).labels(classes(n, 10, 8), 10);
}
/// The same kept as bytes.
inline data::dataset images_of_bytes(std::size_t n) {
    std::vector<std::byte> pixels(n * 784);
    random_stream r(7);
    for (std::byte& p : pixels) p = static_cast<std::byte>(r.below(256));
    return data::dataset().pixels(extents(28, 28, 1), std::move(pixels)).labels(classes(n, 10, 8), 10);
}
/// Sixteen batches of Fashion-MNIST's training images, from the folder fashion-mnist below
/// $SINTER_DATA: half of their pixels are zero.
inline data::dataset clothes() {
    const char* folder = std::getenv("SINTER_DATA");
    if (!folder) throw option_error("no data", "SINTER_DATA", "not set", "the folder in which fashion-mnist lies");
    const std::string files = std::string(folder) + "/fashion-mnist/train-";
    return data::idx(files + "images-idx3-ubyte.gz", files + "labels-idx1-ubyte.gz", 10).slice(0, 16 * 64);
}
inline data::dataset rows() {
    return data::dataset(extents(32, 256), numbers(16 * 32 * 32 * 256)).labels(classes(16 * 32, 10, 8), 10);
}
inline data::dataset text() {
    const std::size_t n = 16 * 8 * gpt_context;
    return data::dataset().input(extents(gpt_context), classes(n, gpt_symbols, 7))
                              .labels(extents(gpt_context), classes(n, gpt_symbols, 8), gpt_symbols);
}

inline data::dataset observations(std::size_t n = 16 * 32) {
    return data::dataset(extents(4), numbers(n * 4)).labels(classes(n, 2, 8), 2);
}
/// Every category of a column is as frequent as any other.
inline data::dataset clicks(std::size_t n = 16 * 256) {
    std::vector<std::int32_t> rows;
    random_stream r(7);
    for (std::size_t i = 0; i < n; ++i) {
        int first = 0;
        for (int c = 0; c < column_count; first += column_rows[c++])
            rows.push_back(first + static_cast<std::int32_t>(r.below(column_rows[c])));
    }
    std::vector<float> yes;
    for (std::int32_t y : classes(n, 2, 8)) yes.push_back(static_cast<float>(y));
    return data::dataset()
        .input(extents(column_numbers), numbers(n * column_numbers))
        .input(extents(column_count), std::move(rows))
        .targets(extents(1), std::move(yes));
}

} // namespace sinter::bench
