// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/add.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/sinusoidal_positions.hpp>

namespace sinter::inline SINTER_TARGET {

/// positional_encoding: x + sines and cosines of the place, [T, E] -> [T, E] (Vaswani et al. 2017).
/// No parameters.
struct positional_encoding_layer : plain_layer<positional_encoding_layer> {
    static constexpr tensor trace(tensor x) {
        const shape s = x.shape();
        if (s.rank != 2) return fail(x.g, fault_kind::axis_out_of_range, op::table, s, extents(s.size(), 1));
        return x + ops::sinusoidal_positions(x, s.d[0], s.d[1]);
    }
};
/// position_embedding: x + a learned row for each place, [T, E] -> [T, E]. Parameter table [T, E]
/// (normal, standard deviation 0.02, as GPT-2). Called with (x, positions), an int32 below T for each
/// row, [T]: the rows of these places, as where several sequences are packed into one.
struct position_embedding_layer : layer<position_embedding_layer> {
    static constexpr const char* name = "position_embedding";
    static constexpr tensor trace(tensor x) {
        const shape s = x.shape();
        if (s.rank != 2) return fail(x.g, fault_kind::axis_out_of_range, op::table, s, extents(s.size(), 1));
        return x + table(x);
    }
    static constexpr tensor trace(tensor x, tensor positions) {
        const shape s = x.shape();
        if (s.rank != 2) return fail(x.g, fault_kind::axis_out_of_range, op::table, s, extents(s.size(), 1));
        return x + gather_rows(table(x), positions);
    }

private:
    static constexpr tensor table(tensor x) {
        const shape s = x.shape();
        return parameter(x, "table", extents(s.d[0], s.d[1]), {init_kind::normal, 0.02f});
    }
};
inline constexpr positional_encoding_layer positional_encoding{};
inline constexpr position_embedding_layer position_embedding{};

} // namespace sinter
