// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/unique_rows.hpp>

#include "compiler/evaluate_arrays.hpp"

/// The meaning of ops/internal/unique_rows.hpp, which says what the operands are, without looking
/// for equal rows. What these ops hand to each other has a form of its own here. Keys are, for each
/// example, the rows it looks up, then their numbers; sums are the gradient, once for each column.
namespace sinter::test {
using namespace compiler;

/// Fills y with node n's value if it is one of these; false if it is not.
inline bool unique_value(const node& n, const shape* in, const std::vector<const double*>& x, int batch, numbers& y) {
    const int C = n.p[unique_attribute::columns], E = n.p[unique_attribute::width],
        first = n.p[unique_attribute::first],
              R = n.p[unique_attribute::numbers], first_number = n.p[unique_attribute::numbers_first];
    const bool is_one = n.k == op::unique_rows || n.k == op::unique_product || n.k == op::unique_sums ||
                        n.k == op::unique_weights || n.k == op::unique_table;
    if (!is_one) return false;   // its attributes may be anything
    const int keys = unique_floats(C, E);
    switch (n.k) {
        case op::unique_rows:
            for (int b = 0; b < batch; ++b)
                for (int c = 0; c < C; ++c) {
                    const double index = x[1][b * C + c];
                    for (int j = 0; j < E; ++j) y[b * keys + c * E + j] = x[0][static_cast<int>(index) * E + j];
                    y[b * keys + C * E + c] = index;
                }
            return true;
        case op::unique_product:
            for (int b = 0, N = n.s.last(); b < batch; ++b)
                for (int i = 0; i < N; ++i) {
                    for (int j = 0; j < C * E; ++j) y[b * N + i] += x[0][b * keys + j] * x[1][(first + j) * N + i];
                    for (int j = 0; j < R; ++j) y[b * N + i] += x[2][b * R + j] * x[1][(first_number + j) * N + i];
                }
            return true;
        case op::unique_sums:
            for (int b = 0, N = in[1].last(); b < batch; ++b)
                for (int i = 0; i < C * N; ++i) y[b * C * N + i] = x[1][b * N + i % N];
            return true;
        case op::unique_weights:
            for (int b = 0, N = n.s.last(); b < batch; ++b)
                for (int i = 0; i < N; ++i) {
                    for (int j = 0; j < C * E; ++j)
                        y[(first + j) * N + i] += x[0][b * keys + j] * x[1][(b * C + j / E) * N + i];
                    for (int j = 0; j < R; ++j) y[(first_number + j) * N + i] += x[3][b * R + j] * x[2][b * N + i];
                }
            return true;
        case op::unique_table:
            for (int b = 0, N = in[2].last(); b < batch; ++b)
                for (int j = 0; j < C * E; ++j)
                    for (int i = 0; i < N; ++i)
                        y[static_cast<int>(x[0][b * keys + C * E + j / E]) * E + j % E] +=
                            x[1][(b * C + j / E) * N + i] * x[2][(first + j) * N + i];
            return true;
        default: return false;
    }
}

} // namespace sinter::test
