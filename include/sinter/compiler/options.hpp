// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/gradient_policy.hpp>
#include <sinter/graph/winograd.hpp>

namespace sinter::inline SINTER_TARGET {

/// What products multiply: float32, or that rounded to bfloat16.
enum class precision { float32, bfloat16 };

/// Choices that change a program and, but for roundings, not what it computes.
struct program_options {
    bool fuse = true;              ///< false: every op is a kernel of its own
    bool store_gradients = false;  ///< keep all gradients in memory: the same as gradient_policy::stored
    sinter::winograd winograd =
        sinter::winograd::f4;   ///< for 3 x 3 and 5 x 5 convolutions on CPUs: its rounding errors are larger

    precision products = precision::float32;   ///< what products multiply; bfloat16 is another result
                                               ///< (compiler/passes/round_products.hpp)

    gradient_policy gradients = gradient_policy::fused;
    int bucket_bytes =
        1 << 18;   ///< gradient_policy::reduced: a bucket ends with the tensor that makes it as large as this

    /// Of how many replicas sweeps read the gradients, which they add up as a binary tree: those
    /// that share parameters and slots in one memory. Lists of rows, and tables' slots where steps
    /// are accumulated, are still joined before. Under gradient_policy::reduced, on the processor.
    int gradient_sources = 1;
    static constexpr int most_gradient_sources = 16;

    /// The most examples of a batch, if tables that are only looked up are elsewhere, on servers: a
    /// program then holds the rows that one batch can name (compiler/passes/remote_tables.hpp). 0:
    /// none is.
    int remote_tables = 0;
    /// Into how many parts such a batch is cut, each of which draws numbers of its own (a sampled
    /// loss's candidates).
    int remote_parts = 1;

    constexpr gradient_policy policy() const {
        return store_gradients && gradients == gradient_policy::fused ? gradient_policy::stored : gradients;
    }
    constexpr bool operator==(const program_options&) const = default;
};

} // namespace sinter
