// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/base/target_namespace.hpp>
#include <sinter/graph/rules.hpp>
#include <sinter/base/host_device.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

inline constexpr int most_scalars = 64, most_loss_weights = 6;

/// What changes from step to step: written to the device together with the batch, so that the
/// launches themselves stay the same while the batch keeps its size.
struct step_state {
    float scalars[most_scalars] = {};   ///< what the optimizer's scalars() wrote
    std::uint64_t seed = 0;             ///< key of the random numbers
    std::int64_t number = 0;            ///< of the step; enters the random numbers
    int batch = 0;                      ///< examples
    int global_batch = 0;               ///< examples of all shards
    float loss_weights[most_loss_weights] = {};   ///< what the losses' means are divided by
    bool has_loss_weights = false;      ///< false: by what this batch's values weigh

    SINTER_HOST_DEVICE sinter::batch_numbers batch_numbers() const {
        return {batch, global_batch, has_loss_weights ? loss_weights : nullptr};
    }
};

/// What a body is handed, by value: operands and literals as its instructions name them, and the
/// extents of its walk. The rows are dealt out to `parts`, part i taking rows i, i + parts, ...;
/// their number depends on the extents alone, never on the device, and so does the order of every
/// sum.
template <int Operands, int Literals, int Draws>
struct body_call {
    float* p[std::size_t{Operands}];
    float k[std::size_t{Literals}];
    std::uint32_t streams[std::size_t{Draws}];   ///< of random numbers, by instructions' numbers
    const step_state* step;
    std::int64_t iteration;            ///< of the loop that the launch is in
    float* sums;                  ///< partial column sums [sum][part][column], then row buffers [part][buffer][stride]
    std::int64_t columns, rows, buffer_stride;
    std::int64_t q[4];            ///< divisors of mapped rows
    int parts, sum_count, buffers;
    int list_width;
    const std::int32_t* list;     ///< rows, of `list_width` floats, of a list whose lines are gone over; or null

    SINTER_HOST_DEVICE std::int64_t row_count() const {
        return list ? (static_cast<std::int64_t>(*list) * list_width + columns - 1) / columns : rows;
    }
    SINTER_HOST_DEVICE float* partial_sum(int number, int part) const {
        return sums + (static_cast<std::int64_t>(number) * parts + part) * columns;
    }
    SINTER_HOST_DEVICE float* row_buffer(int number, int part) const {
        return sums + static_cast<std::int64_t>(sum_count) * parts * columns +
               (static_cast<std::int64_t>(part) * buffers + number) * buffer_stride;
    }
};

} // namespace sinter::gpu
