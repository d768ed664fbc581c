// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <bit>
#include <sinter/kernel/cpu/math/exp.hpp>
#include <sinter/kernel/cpu/philox.hpp>
#include <sinter/kernel/cpu/product.hpp>

/// What attention's kernels share. Scores are kept transposed, [keys][queries], some queries in a panel's width: the softmax
/// over the keys then works on whole vectors, and keys and values are read where they lie.
namespace sinter::cpu {

/// Keys of a block: its scores, and the gradients of those, stay in L1.
inline constexpr int attention_keys = 128;

/// The launch's extents (ops/attention.hpp), and where one head of one example lies.
struct attention_call {
    std::int64_t queries, keys, heads, groups, width, value_width, shift;
    float scale;
    const float *q, *k, *v, *bias;
    const std::int32_t* lengths;
    std::int64_t bias_example, bias_head, bias_query;   ///< floats from one to the next; 0 where it is the same for all
    float kept;                                         ///< share of the probabilities that dropout leaves; 1: all
    std::uint64_t seed, counter;                        ///< of the numbers that decide which

    explicit attention_call(const call& c)
        : queries(c.e[0]), keys(c.e[1]), heads(c.e[2]), groups(c.e[3]), width(c.e[4]), value_width(c.e[5]), shift(c.e[7]),
          scale(std::bit_cast<float>(static_cast<std::int32_t>(c.e[6]))), q(c.p[0]), k(c.p[1]), v(c.p[2]),
          bias(c.e[9] ? c.p[4] : nullptr), lengths(c.e[8] ? reinterpret_cast<const std::int32_t*>(c.p[3]) : nullptr),
          bias_example(c.e[12]), bias_head(c.e[13]), bias_query(c.e[14]),
          kept(1.f - std::bit_cast<float>(static_cast<std::int32_t>(c.e[15]))), seed(c.seed),
          counter(static_cast<std::uint64_t>(c.turn) << 48 | static_cast<std::uint64_t>(c.step) << 16 |
                  static_cast<std::uint64_t>(c.e[15]) >> 32) {}
    static constexpr bool drops(const std::int64_t* e) { return e[15] != 0; }
    bool drops() const { return kept < 1.f; }

    std::int64_t query_step() const { return heads * width; }
    std::int64_t key_step() const { return groups * width; }
    std::int64_t value_step() const { return groups * value_width; }
    std::int64_t result_step() const { return heads * value_width; }
    std::int64_t query_at(std::int64_t example, std::int64_t head) const { return (example * queries * heads + head) * width; }
    std::int64_t key_at(std::int64_t example, std::int64_t group) const { return (example * keys * groups + group) * width; }
    std::int64_t value_at(std::int64_t example, std::int64_t group) const {
        return (example * keys * groups + group) * value_width;
    }
    std::int64_t result_at(std::int64_t example, std::int64_t head) const {
        return (example * queries * heads + head) * value_width;
    }

    /// Keys that any of the queries [from, from + n) sees: the first so many.
    std::int64_t seen(std::int64_t example, std::int64_t from, std::int64_t n) const {
        std::int64_t most = from + n + shift;
        if (most > keys) most = keys;
        if (lengths && most > lengths[example]) most = lengths[example];
        return most < 0 ? 0 : most;
    }
};

/// Some queries of one head: the columns of a panel of scores.
struct query_panel {
    std::int64_t example, head, first;
    int count, width;   ///< queries, and the same in whole vectors
    query_panel(const attention_call& a, std::int64_t b, std::int64_t h, std::int64_t from)
        : example(b), head(h), first(from),
          count(static_cast<int>(a.queries - from < panel_width ? a.queries - from : panel_width)),
          width((count + lanes - 1) / lanes * lanes) {}
};

/// to[i][w] = sum over t < n of x[i * row_step + t * sum_step] * b[t][w] for i < rows, or added to what is there.
__attribute__((noinline)) inline void multiply_panel(const float* x, std::int64_t row_step, std::int64_t sum_step,
                                                     std::int64_t rows, const float* b, std::int64_t n, float* to, int w,
                                                     bool add) {
    alignas(64) float spare[tile_rows * panel_width];
    const row_cover cover(rows);
    for (std::int64_t t = 0; t < cover.count; ++t) {
        const int height = cover.height(t);
        const std::int64_t begin = cover.begin(t), row = begin + height <= rows ? begin : rows - height;
        const tile_function f = w == panel_width ? tile_of<2>(height) : tile_of<1>(height);
        float* const there = to + row * w;
        float* const result = row == begin ? there : spare;   // rows that an earlier tile has done are not added again
        f(add ? there : no_sum, result, x + row * row_step, row_step, sum_step, b, w, n, 1);
        if (row != begin)
            std::memcpy(there + (begin - row) * w, spare + (begin - row) * w,
                        4 * static_cast<std::size_t>((row + height - begin) * w));
    }
}

/// from[count][columns] to [columns][p.width], times a factor.
inline void transpose_scaled(const query_panel& p, const float* from, std::int64_t step, std::int64_t columns, float scale,
                             float* to) {
    transpose_matrix(from + p.first * step, step, p.count, columns, to, p.width, false);
    if (scale != 1.f)
        for (std::int64_t i = 0; i < columns * p.width; i += lanes) store(to + i, load(to + i) * scale);
}
/// Back again.
inline void transpose_back(const query_panel& p, const float* from, std::int64_t columns, float* to, std::int64_t step) {
    transpose_matrix(from, p.width, columns, p.count, to + p.first * step, step, true);
}

/// The scores of keys [first, first + n) for a panel of queries (which come transposed and scaled): [n][p.width], minus
/// infinity where a query does not see a key. `room` is as large.
inline void attention_scores(const attention_call& a, const query_panel& p, const float* transposed, const float* k,
                             std::int64_t first, std::int64_t n, float* scores, float* room) {
    multiply_panel(k + first * a.key_step(), a.key_step(), 1, n, transposed, a.width, scores, p.width, false);
    if (a.bias) {
        const float* b = a.bias + p.example * a.bias_example + p.head * a.bias_head + first;
        if (a.bias_query) transpose_matrix(b + p.first * a.bias_query, a.bias_query, p.count, n, room, p.width, false);
        for (std::int64_t j = 0; j < n; ++j)
            for (int i = 0; i < p.width; i += lanes) {
                float* const at = scores + j * p.width + i;
                store(at, load(at) + (a.bias_query ? load(room + j * p.width + i) : splat(b[j])));
            }
    }
    vi number{};
    for (int i = 0; i < lanes; ++i) number[i] = i;
    const std::int64_t hidden = p.first + a.shift + 1 - first;   // from here on not every query sees the key
    for (std::int64_t j = hidden > 0 ? hidden : 0; j < n; ++j)
        for (int i = 0; i < p.width; i += lanes) {
            float* const at = scores + j * p.width + i;
            const vi sees = number >= splat(static_cast<std::int32_t>(j - hidden + 1 - i));
            store(at, select(sees, load(at), splat(-__builtin_inff())));
        }
}

/// What dropout multiplies the probabilities of keys [first, first + n) with: 0, or 1 / (share that is kept), [n][p.width]. Query
/// i and key j of a head have the number that random_uniform gives a tensor [examples][heads][queries][keys] of the same stream.
__attribute__((noinline)) inline void attention_mask(const attention_call& a, const query_panel& p, std::int64_t first,
                                                     std::int64_t n, float* mask) {
    for (int i = 0; i < p.width; i += lanes) {
        vu low{}, high{};   // the queries' places, then each key's is `first + j` further
        for (int l = 0; l < lanes; ++l) {
            const std::int64_t at = ((p.example * a.heads + p.head) * a.queries + p.first + i + l) * a.keys + first;
            low[l] = static_cast<std::uint32_t>(at);
            high[l] = static_cast<std::uint32_t>(at >> 32);
        }
        for (std::int64_t j = 0; j < n; ++j) {
            const vu index = low + static_cast<std::uint32_t>(j), carry = (vu)(index < low);
            const vu bits = philox_bits(a.seed, a.counter, index, high - carry);
            const vf u = __builtin_convertvector((vi)(bits >> 8), vf) * splat(0x1p-24f);
            store(mask + j * p.width + i, select(u < splat(a.kept), splat(1.f / a.kept), zero()));
        }
    }
}

} // namespace sinter::cpu
