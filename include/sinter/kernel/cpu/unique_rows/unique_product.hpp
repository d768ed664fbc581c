// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/unique_rows/unique_keys.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Y[m][N]: of each example its numbers' product with their rows of the weights, plus its keys'
/// products with theirs. The weights are packed [all_rows][N], the numbers [m][R]. First all keys
/// are multiplied, then each example adds its own; the order of sums is the same whatever the
/// batch. N is a multiple of lanes.
template <class Body>
struct unique_product {
    static constexpr bool only_divides = true;
    static constexpr std::int64_t scratch(const std::int64_t* e, int, std::int64_t m) {
        return m * (e[unique_extent::columns] + 1) * e[unique_extent::outputs];
    }

    static void prepare(const call& c) {
        const unique_shape s(c.e);
        const unique_keys k(c.p[unique_product_operand::keys], s, c.m);
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        float* of_examples = c.scratch;
        if (s.numbers && begin < end)
            multiply(of_examples + begin * s.outputs, c.p[unique_product_operand::numbers] + begin * s.numbers,
                     s.numbers, end - begin, c, s.numbers_first, s);
        for_each_column(k, s, c, [&](std::int64_t column, std::int64_t first, std::int64_t last) {
            const float* rows = k.rows + first * s.width;
            multiply(of_keys(c, s) + first * s.outputs, rows, s.width, last - first, c, s.first + column * s.width, s);
        });
    }
    static void run(const call& c) {
        const unique_shape s(c.e);
        const unique_keys k(c.p[unique_product_operand::keys], s, c.m);
        for (std::int64_t i = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts); i < end; ++i)
            for_each_block(s.outputs, [&](auto vectors, std::int64_t j) SINTER_ALWAYS { add<vectors>(i, j, k, s, c); });
    }

private:
    static float* of_keys(const call& c, const unique_shape& s) { return c.scratch + c.m * s.outputs; }
    /// Rows times rows [first, first + depth) of the weights.
    static void multiply(float* to, const float* x, std::int64_t depth, std::int64_t rows, const call& c,
                         std::int64_t first, const unique_shape& s) {
        for (std::int64_t j = 0; j < s.outputs; j += panel_width) {
            const bool whole = s.outputs - j >= panel_width;
            const float* b = c.p[unique_product_operand::weights] + j * c.e[unique_extent::all_rows] +
                             first * (whole ? panel_width : lanes);
            (whole ? multiply_rows<2> : multiply_rows<1>)(to + j, s.outputs, x, depth, rows, b,
                                                          whole ? panel_width : lanes, depth);
        }
    }
    template <int NV>
    static SINTER_INLINE void add(std::int64_t i, std::int64_t j, const unique_keys& k, const unique_shape& s,
                                  const call& c) {
        vf sum[std::size_t{NV}];
        const float *own = c.scratch + i * s.outputs + j, *products = of_keys(c, s) + j;
        unroll<NV>([&](int v) SINTER_ALWAYS { sum[v] = s.numbers ? load(own + v * lanes) : zero(); });
        const std::int32_t* key = k.key_of + i * s.columns;
        for (std::int64_t column = 0; column < s.columns; ++column) {
            const float* p = products + key[column] * s.outputs;
            unroll<NV>([&](int v) SINTER_ALWAYS { sum[v] += load(p + v * lanes); });
        }
        unroll<NV>([&](int v) SINTER_ALWAYS {
            Body::vector(sum[v], i * s.outputs + j + v * lanes, i, static_cast<int>(j) + v * lanes, c);
        });
    }
};

template <class Body, int... X>
struct nest<op::unique_product, Body, X...> { using type = unique_product<Body>; };

} // namespace sinter::cpu
