// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <bit>
#include <cstdint>
#include <sinter/kernel/cpu/attention/attention_product.hpp>
#include <sinter/kernel/cpu/math/exp.hpp>
#include <sinter/kernel/cpu/vector/lane_mask.hpp>
#include <sinter/kernel/cpu/vector/philox.hpp>
#include <sinter/ops/detail/attention_positions.hpp>
#include <type_traits>

/// What attention's kernels share. Scores are kept transposed, [keys][queries], some queries in a
/// panel's width: the softmax over the keys then works on whole vectors. What a causal mask hides
/// is left out vector by vector.
namespace sinter::inline SINTER_TARGET::cpu {

/// Queries of a panel and keys of a block: a block's scores, and the gradients of those, stay in
/// L1. Tiles read a few rows more than a block has.
inline constexpr int attention_queries = 64, attention_keys = 64;
inline constexpr std::int64_t attention_floats = attention_queries * (attention_keys + tile_rows);

struct query_panel;

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
        : queries(c.e[attention_extent::queries]), keys(c.e[attention_extent::keys]),
          heads(c.e[attention_extent::heads]), groups(c.e[attention_extent::groups]),
          width(c.e[attention_extent::width]), value_width(c.e[attention_extent::value_width]),
          shift(c.e[attention_extent::shift]),
          scale(std::bit_cast<float>(static_cast<std::int32_t>(c.e[attention_extent::scale]))),
          q(c.p[attention_operand::q]), k(c.p[attention_operand::k]), v(c.p[attention_operand::v]),
          bias(c.e[attention_extent::biased] ? c.p[attention_operand::bias] : nullptr),
          lengths(c.e[attention_extent::limit] == attention_limit::lengths
                      ? reinterpret_cast<const std::int32_t*>(c.p[attention_operand::lengths])
                      : nullptr),
          bias_example(c.e[attention_extent::bias_example]), bias_head(c.e[attention_extent::bias_head]),
          bias_query(c.e[attention_extent::bias_query]),
          kept(1.f - std::bit_cast<float>(static_cast<std::int32_t>(c.e[attention_extent::dropout]))), seed(c.seed),
          counter(static_cast<std::uint64_t>(c.iteration) << 48 | static_cast<std::uint64_t>(c.step) << 16 |
                  static_cast<std::uint64_t>(c.e[attention_extent::dropout]) >> 32) {}
    static constexpr bool drops(const std::int64_t* e) { return e[attention_extent::dropout] != 0; }
    bool drops() const { return kept < 1.f; }
    static constexpr bool packed = false;

    std::int64_t query_step() const { return heads * width; }
    std::int64_t key_step() const { return groups * width; }
    std::int64_t value_step() const { return groups * value_width; }
    std::int64_t result_step() const { return heads * value_width; }
    std::int64_t query_at(std::int64_t example, std::int64_t head) const {
        return (example * queries * heads + head) * width;
    }
    std::int64_t key_at(std::int64_t example, std::int64_t group) const {
        return (example * keys * groups + group) * width;
    }
    std::int64_t value_at(std::int64_t example, std::int64_t group) const {
        return (example * keys * groups + group) * value_width;
    }
    std::int64_t result_at(std::int64_t example, std::int64_t head) const {
        return (example * queries * heads + head) * value_width;
    }

    /// Where a query's maximum is kept for the gradient; its sum is `queries` further.
    std::int64_t kept_at(const query_panel& p) const;

    bool one_block() const { return keys <= attention_keys; }
    /// Scores are scaled when they are read, or, where they have a bias or their order would turn
    /// round, by their queries.
    float behind() const { return bias || scale < 0.f ? 1.f : scale; }
    float before() const { return bias || scale < 0.f ? scale : 1.f; }

    std::int64_t queries_at_once() const { return queries < attention_queries ? queries : attention_queries; }
    std::int64_t keys_at_once() const { return keys < attention_keys ? keys : attention_keys; }

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
          count(static_cast<int>(a.queries - from < attention_queries ? a.queries - from : attention_queries)),
          width((count + lanes - 1) / lanes * lanes) {}
};

inline std::int64_t attention_call::kept_at(const query_panel& p) const {
    return (p.example * heads + p.head) * 2 * queries + p.first;
}

/// Rows of several sequences: queries and keys have numbers of segments, [examples][keys].
struct packed_attention_call : attention_call {
    static constexpr bool packed = true;
    const std::int32_t* segments;

    explicit packed_attention_call(const call& c)
        : attention_call(c), segments(reinterpret_cast<const std::int32_t*>(c.p[attention_operand::lengths])) {}

    /// Has no query of the panel a key of its segment among [first, first + n)? Such blocks are left out. Only the
    /// least and the largest numbers of both are compared. Where numbers ascend, as data::pack writes them, that is
    /// exact; elsewhere some blocks are computed in vain.
    bool apart(const query_panel& p, std::int64_t first, std::int64_t n) const {
        const range queries_have = of(p.example, p.first, p.count), keys_have = of(p.example, first, n);
        return queries_have.most < keys_have.least || keys_have.most < queries_have.least;
    }

private:
    struct range {
        std::int32_t least = INT32_MAX, most = INT32_MIN;   ///< without padding
    };
    range of(std::int64_t example, std::int64_t first, std::int64_t n) const {
        range r;
        const std::int32_t* const from = segments + example * keys + first;
        for (std::int64_t i = 0; i < n; ++i) {
            if (from[i] && from[i] < r.least) r.least = from[i];
            if (from[i] && from[i] > r.most) r.most = from[i];
        }
        return r;
    }
};
template <bool Packed>
using attention_call_of = std::conditional_t<Packed, packed_attention_call, attention_call>;

/// from[count][columns] to [columns][p.width], times a factor.
template <class = void>
inline void transpose_scaled(const query_panel& p, const float* from, std::int64_t step, std::int64_t columns,
                             float scale, float* to) {
    transpose_matrix(from + p.first * step, step, p.count, columns, to, p.width, false);
    if (scale != 1.f)
        for (std::int64_t i = 0; i < columns * p.width; i += lanes) store(to + i, load(to + i) * scale);
}

/// The softmax is computed in powers of two, which take fewer operations than those of e: scores
/// times log2(e).
inline constexpr float log2_of_e = 1.44269504f;

/// Which keys of the block that begins at `first` a vector of queries sees: all its queries the
/// first `all` (maybe less than none), some of them the first `some`; lane l those below all + l.
struct seen_keys {
    std::int64_t all, some;
    seen_keys(const attention_call& a, const query_panel& p, int i, std::int64_t first, std::int64_t n)
        : all(p.first + i + a.shift + 1 - first), some(within(all + lanes - 1, n)) {
        if (all > n) all = n;
    }
    static std::int64_t within(std::int64_t k, std::int64_t n) { return k < 0 ? 0 : k < n ? k : n; }
    SINTER_INLINE vi hides(std::int64_t j) const {   ///< key j
        return lane_numbers() < splat(static_cast<std::int32_t>(j - all + 1));
    }
    /// Calls f(row, lanes that do not see it) for the keys that some do not see.
    template <class F>
    SINTER_INLINE void each_hidden(F f) const {
        for (std::int64_t j = all > 0 ? all : 0; j < some; ++j) f(j, hides(j));
    }
    /// Zeros in the rows behind, as far as a tile that begins before them reads.
    void clear_behind(float* x, int w, std::int64_t n) const {
        for (std::int64_t j = some; j < n && j < some + tile_rows; ++j) store(x + j * w, zero());
    }
};
/// Keys [first, first + n) that query i of a panel sees: so many of them, from the first on.
inline std::int64_t keys_of_query(const attention_call& a, const query_panel& p, std::int64_t i, std::int64_t first,
                                  std::int64_t n) {
    return seen_keys::within(p.first + (i < p.count ? i : p.count - 1) + a.shift + 1 - first, n);
}

/// to[j][i] = x's row j times transposed[width][p.width], for the keys of a block and the queries
/// that see them.
template <class = void>
inline void attention_half(const attention_call& a, const query_panel& p, const float* x, std::int64_t step,
                           std::int64_t width, const float* transposed, std::int64_t first, std::int64_t n, float* to,
                           attention_ahead& next) {
    const int w = p.width;
    for (int i = 0; i < w; i += panel_width) {
        const std::int64_t keys = seen_keys(a, p, i, first, n).some;
        const bool two = i + lanes < w;
        if (two) attention_rows_by<2>(x, step, 0, keys, transposed + i, w, width, to + i, w, next);
        else attention_rows_by<1>(x, step, 0, keys, transposed + i, w, width, to + i, w, next);
        if (!two) continue;
        const int other = i + lanes;
        attention_rows_by<1>(x, step, keys, seen_keys(a, p, other, first, n).some, transposed + other, w, width,
                             to + other, w, next);
    }
}

template <class = void>
inline void add_bias(const attention_call& a, const query_panel& p, std::int64_t first, std::int64_t n, float* scores,
                     float* workspace) {
    const float* b = a.bias + p.example * a.bias_example + p.head * a.bias_head + first;
    if (a.bias_query) transpose_matrix(b + p.first * a.bias_query, a.bias_query, p.count, n, workspace, p.width, false);
    for (int i = 0; i < p.width; i += lanes)
        for (std::int64_t j = 0, end = seen_keys(a, p, i, first, n).some; j < end; ++j) {
            float* const at = scores + j * p.width + i;
            store(at, load(at) + (a.bias_query ? load(workspace + j * p.width + i) : splat(b[j])));
        }
}
/// Scores of pairs of two segments, or of padding, become minus infinity. Most vectors of queries have one segment: of
/// these a key's scores are all hidden, or none.
inline void hide_other_segments(const packed_attention_call& a, const query_panel& p, std::int64_t first,
                                std::int64_t n, float* scores) {
    const std::int32_t* const all = a.segments + p.example * a.keys;
    const vf hidden = splat(-__builtin_inff());
    std::int64_t alike = 1;   // keys of the block's first segment
    while (alike < n && all[first + alike] == all[first]) ++alike;
    for (int i = 0; i < p.width; i += lanes) {
        const int some = p.count - i < lanes ? p.count - i : lanes;
        const std::int32_t* const own = all + p.first + i;
        const vi each = (vi)load(reinterpret_cast<const float*>(own), some);   // none's have 0
        const bool one = own[0] && !any(mask_of(each != splat(own[0])));
        for (std::int64_t j = one && own[0] == all[first] ? alike : 0, end = seen_keys(a, p, i, first, n).some; j < end;
             ++j) {
            float* const at = scores + j * p.width + i;
            const std::int32_t key = all[first + j];
            if (!one) store(at, select((each == splat(key)) & (each != vi{}), load(at), hidden));
            else if (key != own[0]) store(at, hidden);
        }
    }
}

/// The scores of keys [first, first + n) for a panel of queries (which come transposed and scaled):
/// [n][p.width]. Those of keys that no query of a vector sees are left as they are. `workspace`
/// is as large.
template <class Call>
inline void attention_scores(const Call& a, const query_panel& p, const float* transposed, const float* k,
                             std::int64_t first, std::int64_t n, float* scores, float* workspace,
                             attention_ahead& next) {
    attention_half(a, p, k + first * a.key_step(), a.key_step(), a.width, transposed, first, n, scores, next);
    if (a.bias) add_bias(a, p, first, n, scores, workspace);
    if constexpr (Call::packed) hide_other_segments(a, p, first, n, scores);
}

/// What dropout multiplies the probabilities of keys [first, first + n) with: 0, or 1 / (share that
/// is kept), [n][p.width]; of keys that no query of a vector sees nothing. Query i and key j of a
/// head have the number that random_uniform gives a tensor [examples][heads][queries][keys] of the
/// same stream. Where a query's keys begin with a block of the generator's words, its four words
/// are four keys'.
__attribute__((noinline)) inline void attention_mask(const attention_call& a, const query_panel& p, std::int64_t first,
                                                     std::int64_t n, float* mask) {
    const bool whole_blocks = a.keys % 4 == 0 && first % 4 == 0;
    for (int i = 0; i < p.width; i += lanes) {
        vu low{}, high{};   // the queries' places, then each key's is `first + j` further
        for (int l = 0; l < lanes; ++l) {
            const std::int64_t at = ((p.example * a.heads + p.head) * a.queries + p.first + i + l) * a.keys + first;
            low[l] = static_cast<std::uint32_t>(at);
            high[l] = static_cast<std::uint32_t>(at >> 32);
        }
        const auto put = [&](std::int64_t j, vu bits) SINTER_ALWAYS {
            store(mask + j * p.width + i, select(uniform(bits) < splat(a.kept), splat(1.f / a.kept), zero()));
        };
        for (std::int64_t j = 0, end = seen_keys(a, p, i, first, n).some; j < end; j += whole_blocks ? 4 : 1) {
            const vu from = low + static_cast<std::uint32_t>(j), above = high - (vu)(from < low);
            if (whole_blocks) {
                vu word[4];
                philox_blocks(a.seed, a.counter, from >> 2 | above << 30, above >> 2, word);
                for (int k = 0; k < 4 && j + k < end; ++k) put(j + k, word[k]);
            } else {
                put(j, philox_words(a.seed, a.counter, from, above));
            }
        }
    }
}
/// x, [n][p.width], times that, for the keys that are seen.
inline void multiply_seen(const attention_call& a, const query_panel& p, std::int64_t first, std::int64_t n,
                          const float* mask, float* x) {
    for (int i = 0; i < p.width; i += lanes)
        for (std::int64_t j = 0, end = seen_keys(a, p, i, first, n).some; j < end; ++j)
            store(x + j * p.width + i, load(x + j * p.width + i) * load(mask + j * p.width + i));
}

} // namespace sinter::cpu
