// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <cstring>
#include <sinter/compiler/emit/spec.hpp>
#include <sinter/kernel/cuda/body.hpp>
#include <sinter/kernel/cuda/library_work.hpp>
#include <sinter/kernel/cuda/walk_extents.hpp>
#include <sinter/ops/detail/strides.hpp>

/// Where the values come from that a kernel's body works on: each source computes one element from
/// its place alone, so any thread can, and the host too. Specialised for each op with a kernel of
/// its own (sources/). Beside value() it may have:
///     operands                   how many it reads; else one
///     walk(m, e), walk(m, e, x)  what its threads go over; else the body's extents
///     by                         the library that does the work on a device, with by_library(work,
///                                to) of a product, `part` of a convolution
///     second_result              it writes one, whatever the body does
///     arguments                  puts further addresses into the call
///     prepare(engine, s, w, scratch), scratch_words(m, e)
///                                runs kernels of its own before, in memory of its own
///     rows(s, most)              ends the walk early
///     target(s, at)              tells the body another place than the walk's
namespace sinter::inline SINTER_TARGET::gpu {

/// Who computes a root op's values on a device, if not its source.
enum class library { none, product, convolution };

/// What a source is handed, by value.
struct source_call {
    const float *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr;   ///< operands in the op's own order
    float* out = nullptr;                     ///< second result, or the result where no body stores it
    std::int32_t *first = nullptr, *next = nullptr;   ///< scatter_rows: chains of equal indices
    const std::int32_t* count = nullptr;              ///< rows of its list
    std::int64_t m = 0;                       ///< rows, images, matrices, as the launch counts them
    std::int64_t rows = 0;                    ///< of the walk
    std::int64_t e[16] = {};                  ///< the launch's extents
    int x[12] = {};                           ///< the spec's extents
    SINTER_HOST_DEVICE float fill() const { return float_of(static_cast<std::int32_t>(e[strided::fill])); }
    static SINTER_HOST_DEVICE float float_of(std::int32_t bits) {
        float f;
        memcpy(&f, &bits, 4);
        return f;
    }
};

/// Sources beside the ops that bear their own names.
inline constexpr int from_nothing = static_cast<int>(walk::flat), from_rows = static_cast<int>(walk::rows);
inline constexpr int from_memory = 1;             ///< what a library has left in `a`
inline constexpr int from_filter_gradient = 2;    ///< the same of a filter, in cuDNN's order
inline constexpr int from_filter = 3;             ///< convolution weights in the order that cuDNN wants
inline constexpr int from_ordered_filter = 4;     ///< weights that are in this order, with a margin of zeros

/// A filter with a margin of zeros, as these three know it: places in source_call::e.
namespace filter_extent {
enum : int { rows, columns, first_row, first_column };
}

struct plain_source {   ///< every element has a value
    static SINTER_HOST_DEVICE bool visits(const source_call&, const place&) { return true; }
};

template <int S>
struct source : plain_source {
    static_assert(S < 0, "this net holds an op that has no kernel for GPUs: its page in doc/ops/ says so");
    static SINTER_HOST_DEVICE float value(const source_call&, const place&) { return 0.f; }
};
template <>
struct source<from_nothing> : plain_source {
    static constexpr int operands = 0;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*) { return {m, 1}; }
    static SINTER_HOST_DEVICE float value(const source_call&, const place&) { return 0.f; }
};
template <>
struct source<from_rows> : plain_source {
    static constexpr int operands = 0;
    static SINTER_HOST_DEVICE float value(const source_call&, const place&) { return 0.f; }
};
template <>
struct source<from_memory> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) { return s.a[at.off]; }
};

} // namespace sinter::gpu
