// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/conv/gradient_rows.hpp>
#include <sinter/kernel/cpu/conv_pool/load_winners.hpp>
#include <sinter/kernel/cpu/conv_pool/pooled_gradient_columns.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_list.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_pooled_input_gradient for few input channels: lanes run along (kx, ci), contiguous in dx,
/// so that 5 x 6 fill 30 of 32 lanes. For each column of the convolution's result one list of
/// (output channel, value), from top to bottom: the winners that reach given rows of dx are then
/// one stretch of it, long enough to be worth a loop. `group` rows of dx are summed at a time; rows
/// of zeros around each channel's weights serve the winners that reach only some of them.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct pooled_gradient_rows {
    static constexpr int rows = OH / P, columns = OW / P, channels = CO, pool = P, tall = rows * P;
    using layout = gradient_rows<H, W, CI, CO, KH, KW, S, PT, PL, columns * P, Body>;
    static constexpr int vectors = layout::vectors, row = layout::row, pitch = layout::pitch;
    static constexpr int taken = std::min(vectors, walk_registers);
    static constexpr int group = std::clamp(8 / vectors, 1, std::max(2, (KH + 1) / 2)), padding = group - 1;
    static constexpr int filter = (KH + 2 * padding) * row;   ///< floats, of one output channel
    static constexpr int height = std::max((tall - 1) * S + KH, H + PT) + group;
    static constexpr int list = rows * CO + lanes;
    static constexpr std::int64_t weight_floats = std::int64_t{CO} * filter,
                                  image_floats = std::int64_t{height} * pitch + row;
    static constexpr std::int64_t floats = round_up(weight_floats + image_floats + 2 * P * list + P * (tall + 1), 16);

    struct lists {
        const float* weights;
        float *dx, *value;
        std::int32_t *offset, *start;
    };
    static SINTER_INLINE lists of(const gradient_columns& k) {
        std::int32_t* const offset = reinterpret_cast<std::int32_t*>(k.winners + P * list);
        return {k.weights, k.dx, k.winners, offset, offset + P * list};
    }

    /// The lists of the P columns under one column of windows, and where each of their rows starts
    /// in them.
    static __attribute__((noinline)) void build(const gradient_columns& at_column, const std::uint8_t* winner) {
        const float* const g = at_column.g;
        const lists k = of(at_column);
        const vi lane = lane_numbers();
        for (int dx = 0; dx < P; ++dx) {
            std::int32_t *start = k.start + dx * (tall + 1), *offset = k.offset + dx * list;
            float* value = k.value + dx * list;
            int n = 0;
            for (int y = 0; y < tall; ++y) {
                start[y] = n;
                const std::int64_t from = std::int64_t{y / P} * columns * CO;
                const vi place = splat(std::int32_t(y % P * P + dx));
                for (int o = 0; o < CO; o += lanes) {
                    vf v;
                    vi w;
                    load_winners<CO>(g + from, winner + from, o, v, w);
                    const vi at = (lane + splat(std::int32_t(o))) * splat(std::int32_t(filter)) -
                                  splat(std::int32_t(y * S * row));
                    n = append(offset, value, n, at, v, both(differs(v, zero()), equals(w, place)));
                }
            }
            start[tall] = n;
        }
    }

    /// Vectors [v, v + V) of all rows of dx below one column of the convolution's result.
    template <int V>
    static SINTER_INLINE void sweep(const lists& k, int place, int column, int v) {
        const std::int32_t *start = k.start + place * (tall + 1), *offset = k.offset + place * list;
        const float* value = k.value + place * list;
        for (int y = PT; y < PT + H; y += group) {
            const int low = std::max(0, (y - KH + S) / S * (y >= KH)), high = std::min(tall, (y + group - 1) / S + 1);
            if (low >= high || start[low] == start[high]) continue;
            float* d = k.dx + std::int64_t{y} * pitch + column * S * CI + v * lanes;
            vf c[std::size_t{group * V}];
            clear_block(c);
            walk<V, row, lanes>(c, offset + start[low], value + start[low], start[high] - start[low],
                                k.weights + (y + padding) * row + v * lanes);
            add_block<V>(c, d, pitch);
        }
    }

    static __attribute__((noinline)) void add(const gradient_columns& at_column, int place, int column) {
        const lists k = of(at_column);
        for (int v = 0; v + taken <= vectors; v += taken) sweep<taken>(k, place, column, v);
        if constexpr (vectors % taken > 0) sweep<vectors % taken>(k, place, column, vectors / taken * taken);
    }

    static void run(const call& c) { run_gradient_columns<pooled_gradient_rows>(c); }
};

} // namespace sinter::cpu
