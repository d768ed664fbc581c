// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
#define BOOST_TEST_MODULE kernel_attention
#include <boost/test/unit_test.hpp>

#include <sinter/kernel/cpu/attention/attention.hpp>
#include <sinter/kernel/cpu/attention/attention_bias_gradient.hpp>
#include <sinter/kernel/cpu/attention/attention_gradient.hpp>

#include "fixtures/pytorch_attention.hpp"
#include "support/attention.hpp"

/// The kernels alone, on memory of exactly the size that they may touch: many extents for the price of one program.
using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;
using namespace sinter::runtime;
using namespace sinter::test;
using floats = std::vector<float>;

namespace {

struct no_body {};

floats floats_of(const doubles& a) { return {a.v.begin(), a.v.end()}; }
std::string text_of(const attention_case& c) {
    std::string t;
    for (int x : {c.heads, c.groups, c.queries, c.keys, c.width, c.value_width, static_cast<int>(c.mask)})
        t += std::to_string(x) + " ";
    return t;
}
void compare(const floats& got, const doubles& want, const std::string& what) {
    double largest = 1;
    for (double x : want.v) largest = std::isinf(x) ? largest : std::max(largest, std::abs(x));
    for (int i = 0; i < want.size(); ++i) {
        const double g = got[static_cast<std::size_t>(i)];
        if (g != want[i] && !(std::abs(g - want[i]) <= 2e-5 * largest))
            BOOST_FAIL(what << ": element " << i << " is " << g << ", not " << want[i]);
    }
}

/// A bias's own extents, 1 where it is stretched; none at all if it has no keys.
struct bias_extents {
    int examples = 0, heads = 0, queries = 0, keys = 0;
};

struct experiment {
    attention_case c;
    bias_extents b;
    int batch;
    const doubles* segments = nullptr;   ///< [batch][queries], of as many keys
    static constexpr int step = 5, stream = 3;

    /// As the op says it: the stream, and the rate's bits.
    std::int64_t drops() const {
        return c.dropout == 0 ? 0 : std::int64_t{stream} << 32 | std::bit_cast<std::uint32_t>(c.dropout);
    }
    template <class Kernel>
    void launch(std::vector<floats>& memory, int m, int parts, bool measured) const {
        std::vector<float*> p;
        for (floats& f : memory) p.push_back(f.data());
        const std::int64_t shift = c.mask == causal::no ? c.keys : c.mask == causal::yes ? 0 : c.keys - c.queries;
        const std::int64_t one = b.queries * b.keys;
        const std::int64_t e[16] = {c.queries, c.keys, c.heads, c.groups, c.width, c.value_width,
                                    std::bit_cast<std::int32_t>(scale()), shift,
                                    segments   ? attention_limit::segments
                                    : measured ? attention_limit::lengths
                                               : attention_limit::none, b.keys > 0, 0, 0,
                                    b.examples > 1 ? b.heads * one : 0, b.heads > 1 ? one : 0,
                                    b.queries > 1 ? b.keys : 0, drops()};
        floats scratch(static_cast<std::size_t>(Kernel::scratch(e, parts, m)), NAN);
        call l;
        l.p = p.data();
        l.e = e;
        l.scratch = scratch.data();
        l.m = m;
        l.seed = c.seed;
        l.step = step;
        l.parts = parts;
        for (l.part = parts - 1; l.part >= 0; --l.part) Kernel::run(l);
    }
    float scale() const { return c.scale != 0 ? c.scale : 1 / std::sqrt(static_cast<float>(c.width)); }
    /// Of the sums of exponentials, from what forward keeps: maxima, which are scaled without a
    /// bias, and sums of differences to them.
    floats logarithms(const floats& kept) const {
        const float behind = b.keys || scale() < 0 ? 1 : scale();
        floats r;
        for (int i = 0; i < batch * c.heads * c.queries; ++i) {
            const float* const at = &kept[static_cast<std::size_t>(i / c.queries * 2 * c.queries + i % c.queries)];
            r.push_back(at[c.queries] == 0 ? -INFINITY : behind * at[0] + std::log(at[c.queries]));
        }
        return r;
    }
    /// y, the sums' logarithms, dq, dk, dv, dbias.
    std::vector<floats> run(const doubles& q, const doubles& k, const doubles& v, const doubles& bias,
                            const doubles* lengths, const doubles& d, int parts) const {
        std::vector<floats> p{floats_of(q), floats_of(k), floats_of(v),
                              floats(static_cast<std::size_t>(segments ? batch * c.keys : batch)), floats_of(bias)};
        const doubles* const integers = segments ? segments : lengths;
        for (std::size_t n = 0; integers && n < p[3].size(); ++n) {
            const auto whole = static_cast<std::int32_t>(integers->v[n]);
            std::memcpy(p[3].data() + n, &whole, 4);
        }
        return segments ? run_kernels<true>(p, k, v, q, bias, lengths, d, parts)
                        : run_kernels<false>(p, k, v, q, bias, lengths, d, parts);
    }
    template <bool Packed>
    std::vector<floats> run_kernels(std::vector<floats> p, const doubles& k, const doubles& v, const doubles& q,
                                    const doubles& bias, const doubles* lengths, const doubles& d, int parts) const {
        const auto room = [](std::size_t n) { return floats(n, NAN); };
        std::vector<floats> f = p;
        f.push_back(room(static_cast<std::size_t>(2 * batch * c.heads * c.queries)));
        f.push_back(room(d.v.size()));
        launch<cpu::attention<no_body, Packed>>(f, batch * c.heads, parts, lengths);
        for (const floats& x : {f[6], f[5], floats_of(d)}) p.push_back(x);
        std::vector<floats> g = p;
        for (const doubles* x : {&k, &v, &q}) g.push_back(room(x->v.size()));
        launch<cpu::attention_gradient<no_body, Packed>>(g, batch * c.groups, parts, lengths);
        std::vector<floats> results{f[6], logarithms(f[5]), g[10], g[8], g[9]};
        if (b.keys) {
            p.push_back(room(bias.v.size()));
            launch<cpu::attention_bias_gradient<no_body, Packed>>(p, batch, parts, lengths);
            results.push_back(p.back());
        }
        return results;
    }
    /// Against sums written down plainly; nothing may depend on the parts.
    void check(bool measured) const {
        random_numbers random(static_cast<std::uint64_t>(c.queries * 31 + c.keys * 7 + c.width));
        const doubles q = random.fill({batch, c.queries, c.heads, c.width}, -2, 2),
                      k = random.fill({batch, c.keys, c.groups, c.width}, -2, 2),
                      v = random.fill({batch, c.keys, c.groups, c.value_width}, -2, 2),
                      d = random.fill({batch, c.queries, c.heads, c.value_width}, -1, 1),
                      bias = random.fill({b.examples, b.heads, b.queries, b.keys}, -1, 1);
        doubles numbers({batch});
        for (double& x : numbers.v) x = random.below(c.keys + 1);
        const doubles* const lengths = measured ? &numbers : nullptr;
        const auto got = run(q, k, v, bias, lengths, d, 1);
        for (int parts : {3, 8}) {
            const auto again = run(q, k, v, bias, lengths, d, parts);
            for (std::size_t i = 0; i < got.size(); ++i)
                BOOST_TEST(std::memcmp(again[i].data(), got[i].data(), 4 * got[i].size()) == 0,
                           text_of(c) << "result " << i << " in " << parts);
        }
        const attention_result want = plain_attention(c, q, k, v, b.keys ? &bias : nullptr, lengths, &d, segments);
        const char* const names[] = {"y", "sums", "dq", "dk", "dv"};
        const doubles* const all[] = {&want.y, &want.sums, &want.dq, &want.dk, &want.dv};
        for (std::size_t i = 0; i < 5; ++i) compare(got[i], *all[i], text_of(c) + names[i]);
        if (!b.keys) return;
        doubles summed(bias.d);
        for (int i = 0; i < want.dbias.size(); ++i) {
            auto at = want.dbias.where(i);
            for (std::size_t a = 0; a < 4; ++a)
                if (summed.d[a] == 1) at[a] = 0;
            summed.at(at) += want.dbias[i];
        }
        compare(got[5], summed, text_of(c) + "dbias");
    }
};

template <std::size_t N>
doubles list(const double (&x)[N], std::vector<int> d) {
    return doubles(std::move(d), std::vector<double>(x, x + N));
}

} // namespace

BOOST_AUTO_TEST_CASE(of_many_extents) {
    random_numbers random(11);
    auto of = [&](std::initializer_list<int> list) {
        return list.begin()[random.below(static_cast<int>(list.size()))];
    };
    for (int n = 0; n < 150; ++n) {
        attention_case c;
        c.groups = of({1, 2, 3});
        c.heads = c.groups * of({1, 1, 2, 4});
        c.queries = of({1, 2, 7, 16, 17, 33, 50, 100});
        c.keys = of({1, 3, 16, 29, 64, cpu::attention_keys, cpu::attention_keys + 5, 2 * cpu::attention_keys + 41});
        c.width = of({1, 3, 8, 16, 20, 37});
        c.value_width = random.below(2) ? c.width : of({1, 5, 16, 33});
        c.mask = static_cast<causal>(random.below(3));
        c.dropout = n % 3 ? 0.f : 0.25f * static_cast<float>(1 + n % 2);
        c.seed = 0x123456789abcu + static_cast<unsigned>(n);
        c.counter = experiment::step << 16 | experiment::stream;
        bias_extents b;
        const int batch = of({1, 2, 3});
        if (random.below(2)) b = {of({1, batch}), of({1, c.heads}), of({1, c.queries}), c.keys};
        experiment{c, b, batch}.check(random.below(3) == 0);
    }
}

/// Extents at the edges of panels and blocks, one after the other, each with every mask, dropout and lengths.
BOOST_AUTO_TEST_CASE(at_the_edges) {
    const int block = cpu::attention_keys, panel = cpu::attention_queries;
    const int extents[][2] = {{1, 1}, {1, block + 1}, {panel + 1, 1}, {panel, block}, {panel - 1, block - 1},
                              // the last: with from_end the first queries see no key at all
                              {panel + 1, block + 1}, {2 * panel + 1, panel}};
    for (const auto& [queries, keys] : extents)
        for (causal mask : {causal::no, causal::yes, causal::from_end})
            for (float dropout : {0.f, 0.5f}) {
                const attention_case c{.heads = 4, .groups = 2, .queries = queries, .keys = keys, .width = 5,
                                       .value_width = 3, .mask = mask, .dropout = dropout, .seed = 9,
                                       .counter = experiment::step << 16 | experiment::stream};
                experiment{c, {}, 2}.check(false);
                experiment{c, {1, 4, 1, keys}, 2}.check(true);
            }
}

/// Scores are scaled by their readers unless a bias or a negative factor forbids it: then the queries are, before.
BOOST_AUTO_TEST_CASE(scaled_by_any_factor) {
    const int keys = cpu::attention_keys + 5;
    for (float scale : {0.01f, 2.f, -0.5f})
        for (causal mask : {causal::no, causal::from_end}) {
            const attention_case c{.heads = 2, .queries = 9, .keys = keys, .width = 5, .value_width = 3, .mask = mask,
                                   .scale = scale};
            experiment{c, {}, 2}.check(false);
            experiment{c, {}, 2}.check(true);   // with lengths: some queries see no key of a block, or none at all
            experiment{c, {1, 1, 9, keys}, 2}.check(true);
        }
}

/// Scores of any finite size, with a bias or without, some or all of them masked by large numbers:
/// probabilities depend on their differences alone. Products are of small integers and powers of
/// two, so that scores are the same in floats.
BOOST_AUTO_TEST_CASE(of_scores_of_any_size) {
    random_numbers random(5);
    const auto of = [&](std::initializer_list<float> list) {
        return list.begin()[random.below(static_cast<int>(list.size()))];
    };
    const auto whole = [&](doubles x) {
        for (double& e : x.v) e = random.below(5) - 2;
        return x;
    };
    for (int n = 0; n < 120; ++n) {
        attention_case c{.heads = 2, .queries = 1 + random.below(70), .keys = 1 + random.below(150), .width = 4,
                         .value_width = 3, .mask = static_cast<causal>(random.below(3)), .rounded_scores = true};
        const bool biased = n % 2;
        const double size = static_cast<double>(of({1, 0x1p10f, 0x1p17f, 0x1p30f, 0x1p40f, 0x1p100f, 0}));
        c.scale = biased ? 0.5f : of({0.5f, 0.3f, 1.f});
        doubles q = whole(doubles({2, c.queries, 2, 4})), k = whole(doubles({2, c.keys, 1, 4})),
                v = random.fill({2, c.keys, 1, 3}, -2, 2), d = random.fill({2, c.queries, 2, 3}, -1, 1);
        const bias_extents b{2, 2, biased ? c.queries : 0, biased ? c.keys : 0};
        doubles bias({2, 2, b.queries, b.keys});
        double largest = 2, row = 1;
        for (int i = 0; i < q.size(); ++i) {   // size 0: mixed
            if (i % 4 == 0) row = biased ? 1 : size != 0 ? size : std::exp2(random.below(100));
            q[i] *= row;
            largest = std::max(largest, std::abs(q[i]));
        }
        const float common = of({0, 1e5f, -1e5f, -1e6f, -1e7f, -1e9f, -1e12f, -1e30f, -3e38f, -__FLT_MAX__, -INFINITY});
        for (double& x : bias.v) {
            const bool some = n % 4 == 1 && random.below(2);
            x = static_cast<double>(some ? -0.f : common + static_cast<float>(random.below(3)));
        }
        if (!biased) c.rounded_scores = false;   // they are scaled when differences are there
        const experiment e{c, biased ? b : bias_extents{}, 2};
        const auto got = e.run(q, k, v, bias, nullptr, d, 1);
        const attention_result want = plain_attention(c, q, k, v, biased ? &bias : nullptr, nullptr, &d);
        const auto near = [&](const floats& g, const doubles& w, double bound, const char* what) {
            for (int i = 0; i < w.size(); ++i)
                if (const double x = static_cast<double>(g[static_cast<std::size_t>(i)]);
                    !(std::abs(x - w[i]) <= bound))
                    BOOST_FAIL(text_of(c) << what << " of " << common << ", " << size << ": " << x << ", not " << w[i]);
        };
        near(got[0], want.y, 2e-6, "y");
        near(got[2], want.dq, 2e-5, "dq");
        near(got[3], want.dk, 1e-5 * largest, "dk");
        near(got[4], want.dv, 1e-5, "dv");
        if (biased) near(got[5], want.dbias, 5e-6, "dbias");
    }
}

/// Keys that none of a panel's queries sees are not read at all: causal attention costs half.
BOOST_AUTO_TEST_CASE(keys_of_later_panels_are_left_alone) {
    const int panel = cpu::attention_queries, n = 3 * panel, before = 2 * panel;
    for (float dropout : {0.f, 0.5f}) {
        const attention_case c{.queries = n, .keys = n, .width = 4, .value_width = 4, .mask = causal::yes,
                               .dropout = dropout};
        doubles q({1, n, 1, 4}, 0.5), k = q, v = q, d({1, n, 1, 4}, 1.);
        for (int i = 4 * before; i < 4 * n; ++i) k[i] = v[i] = NAN;
        const std::vector<floats> r = experiment{c, {}, 1}.run(q, k, v, doubles({0}), nullptr, d, 1);
        for (int result : {0, 2})   // y and dq
            for (int i = 0; i < 4 * n; ++i)
                BOOST_TEST(std::isnan(r[static_cast<std::size_t>(result)][static_cast<std::size_t>(i)]) ==
                           (i >= 4 * before));
    }
}
/// Equal scores and a unit matrix of values show the probabilities themselves.
BOOST_AUTO_TEST_CASE(the_share_that_is_dropped) {
    const int n = 64, heads = 2, batch = 3;
    doubles unit({batch, n, 1, n});
    for (int b = 0; b < batch; ++b)
        for (int j = 0; j < n; ++j) unit[(b * n + j) * n + j] = 1;
    for (float rate : {0.1f, 0.5f, 0.9f}) {
        const attention_case c{.heads = heads, .queries = n, .keys = n, .width = 1, .value_width = n, .dropout = rate};
        const doubles q({batch, n, heads, 1}), k({batch, n, 1, 1}), d({batch, n, heads, n});
        int dropped = 0;
        const std::vector<floats> r = experiment{c, {}, batch}.run(q, k, unit, doubles({0}), nullptr, d, 1);
        for (float y : r[0]) {
            dropped += y == 0;
            BOOST_TEST((y == 0 || std::abs(y * static_cast<float>(n) * (1 - rate) - 1) < 1e-5f));
        }
        const double all = batch * n * heads * n, p = static_cast<double>(rate);
        BOOST_TEST(std::abs(dropped - p * all) < 4 * std::sqrt(p * (1 - p) * all));
    }
}
/// The numbers' counter goes on beyond 32 bits, within a block too.
BOOST_AUTO_TEST_CASE(numbers_of_very_many_probabilities) {
    for (const std::int64_t S : {65'537, 65'536}) {   // with a block of four words for four keys, and without
        const std::int64_t T = 70'000, drops = experiment{{.dropout = 0.5f}, {}, 1}.drops(),
                           e[16] = {T, S, 3, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, drops};
        float* const none[16] = {};
        call l;
        l.p = none;
        l.e = e;
        l.seed = 77;
        l.step = 2;
        const cpu::attention_call a(l);
        for (const auto& [query, key] :
             {std::pair<std::int64_t, std::int64_t>{65'534, 65'500}, {65'535, 4}, {69'998, 65'400}, {69'997, 3}}) {
            const cpu::query_panel p(a, 2, 1, query);
            floats mask(static_cast<std::size_t>(20 * p.width));
            cpu::attention_mask(a, p, key, 20, mask.data());
            for (int j = 0; j < 20; ++j)
                for (int i = 0; i < p.count; ++i) {
                    const auto index = static_cast<std::uint64_t>((7 * T + query + i) * S + key + j);
                    const float u = uniform(philox_word(77, index, 2u << 16 | experiment::stream));
                    BOOST_TEST(mask[static_cast<std::size_t>(j * p.width + i)] == (u < 0.5f ? 2.f : 0.f));
                }
        }
    }
}

/// Numbers of segments as data::pack gives them: 1, 2, ..., each once or more, then 0.
doubles packed_segments(random_numbers& random, int batch, int rows, int longest) {
    doubles s({batch, rows});
    for (int b = 0; b < batch; ++b)
        for (int i = 0, left = 0, id = 0, end = rows - random.below(3) * rows / 8; i < end; ++i, --left) {
            if (left == 0) left = 1 + random.below(longest), ++id;
            s[b * rows + i] = id;
        }
    return s;
}
BOOST_AUTO_TEST_CASE(rows_of_several_segments) {
    random_numbers random(13);
    auto of = [&](std::initializer_list<int> list) {
        return list.begin()[random.below(static_cast<int>(list.size()))];
    };
    for (int n = 0; n < 90; ++n) {
        attention_case c;
        c.groups = of({1, 2});
        c.heads = c.groups * of({1, 2});
        c.queries = c.keys = of({1, 7, 17, 64, 65, 100, 150, 193});
        c.width = of({1, 8, 16, 20});
        c.value_width = random.below(2) ? c.width : of({5, 16, 33});
        c.mask = static_cast<causal>(random.below(3));
        c.dropout = n % 3 ? 0.f : 0.25f;
        if (n % 5 == 0) c.scale = -0.5f;
        c.seed = 7000u + static_cast<unsigned>(n);
        c.counter = experiment::step << 16 | experiment::stream;
        const int batch = of({1, 2, 3});
        bias_extents b;
        if (n % 4 == 0) b = {of({1, batch}), of({1, c.heads}), of({1, c.queries}), c.keys};
        doubles segments = packed_segments(random, batch, c.queries, of({3, 40, 130}));
        const int kind = random.below(5);
        for (double& s : segments.v)
            s = kind == 0 ? random.below(4) - 1   // in any order; -1 is no padding
                : kind == 1 ? 0
                : kind == 2 ? (s > 1 ? 2147483647. : s == 0 ? 0. : -2147483648.)
                            : s;
        experiment{c, b, batch, &segments}.check(false);
    }
}
/// What one row gives for its sequences is what each gives alone; padding has zeros, and no gradient.
BOOST_AUTO_TEST_CASE(as_each_segment_alone) {
    const int lengths[] = {70, 1, 64, 33}, all = 200, width = 20;
    for (causal mask : {causal::no, causal::yes}) {
        attention_case c{.heads = 2, .groups = 1, .queries = all, .keys = all, .width = width, .value_width = width,
                         .mask = mask};
        random_numbers random(3);
        const doubles q = random.fill({1, all, 2, width}, -2, 2), k = random.fill({1, all, 1, width}, -2, 2),
                      v = random.fill({1, all, 1, width}, -2, 2), d = random.fill({1, all, 2, width}, -1, 1);
        doubles segments({1, all});
        for (int i = 0, at = 0; i < 4; at += lengths[i++])
            for (int j = 0; j < lengths[i]; ++j) segments[at + j] = i + 1;
        const auto whole = experiment{c, {}, 1, &segments}.run(q, k, v, doubles({0}), nullptr, d, 1);
        int at = 0;
        for (const int n : lengths) {
            const auto part = [&](const doubles& x, int step) {
                doubles y({1, n, step / width, width});
                std::copy_n(x.v.begin() + at * step, n * step, y.v.begin());
                return y;
            };
            c.queries = c.keys = n;
            const auto alone = experiment{c, {}, 1}.run(part(q, 2 * width), part(k, width), part(v, width),
                                                        doubles({0}), nullptr, part(d, 2 * width), 1);
            const int steps[] = {2 * width, 0, 2 * width, width, width};
            for (std::size_t r : {0u, 2u, 3u, 4u})
                for (int i = 0; i < n * steps[r]; ++i) {
                    const float got = whole[r][static_cast<std::size_t>(at * steps[r] + i)],
                                want = alone[r][static_cast<std::size_t>(i)];
                    if (!(std::abs(got - want) <= 2e-5f))
                        BOOST_FAIL("result " << r << " of " << n << ": " << got << ", not " << want);
                }
            at += n;
        }
        for (std::size_t r : {0u, 2u, 3u, 4u})
            for (std::size_t i = static_cast<std::size_t>(at) * whole[r].size() / all; i < whole[r].size(); ++i)
                BOOST_TEST(whole[r][i] == 0.f);
    }
}
/// Blocks of keys without a common segment are not read at all, in either direction.
BOOST_AUTO_TEST_CASE(blocks_of_other_segments_are_left_alone) {
    const int block = cpu::attention_keys, n = 3 * block;
    const attention_case c{.queries = n, .keys = n, .width = 4, .value_width = 4};
    doubles q({1, n, 1, 4}, 0.5), k = q, v = q, d({1, n, 1, 4}, 1.), segments({1, n});
    for (int i = 0; i < n; ++i) segments[i] = i < block ? 2 : i < 2 * block ? 1 : 0;
    for (int i = 0; i < 4 * n; ++i)
        if (i / 4 / block != 1) q[i] = k[i] = v[i] = d[i] = NAN;
    const std::vector<floats> r = experiment{c, {}, 1, &segments}.run(q, k, v, doubles({0}), nullptr, d, 1);
    for (std::size_t result : {0u, 2u, 3u, 4u})
        for (int i = 0; i < 4 * n; ++i)
            BOOST_TEST(std::isnan(r[result][static_cast<std::size_t>(i)]) == (i < 4 * block));
}

BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch;
    const doubles q = list(p::sdpa_q, {2, 5, 4, 3}), k = list(p::sdpa_k, {2, 7, 2, 3}),
        v = list(p::sdpa_v, {2, 7, 2, 3}),
                  dy = list(p::sdpa_dy, {2, 5, 4, 3}), bias = list(p::sdpa_bias, {1, 4, 5, 7});
    const auto check = [&](causal mask, bias_extents b, const doubles& y, const doubles& dq, const doubles& dk,
                           const doubles& dv) {
        const experiment e{{.heads = 4, .groups = 2, .queries = 5, .keys = 7, .width = 3, .value_width = 3,
                            .mask = mask}, b, 2};
        const auto r = e.run(q, k, v, b.keys ? bias : doubles({0}), nullptr, dy, 2);
        compare(r[0], y, "y");
        compare(r[2], dq, "dq");
        compare(r[3], dk, "dk");
        compare(r[4], dv, "dv");
        return r;
    };
    check(causal::no, {}, list(p::sdpa_plain_y, q.d), list(p::sdpa_plain_dq, q.d), list(p::sdpa_plain_dk, k.d),
          list(p::sdpa_plain_dv, k.d));
    check(causal::yes, {}, list(p::sdpa_causal_y, q.d), list(p::sdpa_causal_dq, q.d), list(p::sdpa_causal_dk, k.d),
          list(p::sdpa_causal_dv, k.d));
    const auto r = check(causal::no, {1, 4, 5, 7}, list(p::sdpa_biased_y, q.d), list(p::sdpa_biased_dq, q.d),
                         list(p::sdpa_biased_dk, k.d), list(p::sdpa_biased_dv, k.d));
    compare(r[5], list(p::sdpa_biased_dbias, bias.d), "dbias");
}
BOOST_AUTO_TEST_CASE(segments_as_pytorch) {
    namespace p = fixture::pytorch;
    const doubles q = list(p::packed_q, {2, 7, 4, 3}), k = list(p::packed_k, {2, 7, 2, 3}),
                  v = list(p::packed_v, {2, 7, 2, 3}), dy = list(p::packed_dy, {2, 7, 4, 3}),
                  segments = list(p::packed_segments, {2, 7});
    const auto check = [&](causal mask, const doubles& y, const doubles& dq, const doubles& dk, const doubles& dv) {
        const attention_case c{.heads = 4, .groups = 2, .queries = 7, .keys = 7, .mask = mask};
        const auto r = experiment{c, {}, 2, &segments}.run(q, k, v, doubles({0}), nullptr, dy, 2);
        compare(r[0], y, "y");
        compare(r[2], dq, "dq");
        compare(r[3], dk, "dk");
        compare(r[4], dv, "dv");
    };
    check(causal::no, list(p::packed_plain_y, q.d), list(p::packed_plain_dq, q.d), list(p::packed_plain_dk, k.d),
          list(p::packed_plain_dv, k.d));
    check(causal::yes, list(p::packed_causal_y, q.d), list(p::packed_causal_dq, q.d), list(p::packed_causal_dk, k.d),
          list(p::packed_causal_dv, k.d));
}

BOOST_AUTO_TEST_CASE(what_is_not_finite) {
    const experiment e{{.queries = 2, .keys = 3, .width = 1, .value_width = 1}, {1, 1, 2, 3}, 1};
    const doubles q({2}, std::vector<double>{1, 1}), k({3}, std::vector<double>{1, 2, 3}),
        v({3}, std::vector<double>{1, 2, 4}), d({2}, 1.);
    // hidden by minus infinity: as if these keys were not there; a query that sees none gets 0, and gives no gradient
    const double none = -INFINITY;
    const auto r = e.run(q, k, v, doubles({6}, std::vector<double>{0, none, none, none, none, none}), nullptr, d, 1);
    compare(r[0], doubles({2}, std::vector<double>{1, 0}), "y");
    compare(r[2], doubles({2}), "dq");
    compare(r[3], doubles({3}), "dk");
    compare(r[4], doubles({3}, std::vector<double>{1, 0, 0}), "dv");
    compare(r[5], doubles({6}), "dbias");
    // scores far beyond e^'s range
    const auto far = e.run(q, k, v, doubles({6}, std::vector<double>{1000, 0, -1000, 3e4, 3e4 - 1, -3e4}),
                           nullptr, d, 1);
    compare(far[0], doubles({2}, std::vector<double>{1, 1.5}), "y of large scores");
    // NaN stays NaN
    const auto nan = e.run(doubles({2}, std::vector<double>{NAN, 1}), k, v, doubles({6}), nullptr, d, 1);
    BOOST_TEST(std::isnan(nan[0][0]));
    BOOST_TEST(!std::isnan(nan[0][1]));
}
