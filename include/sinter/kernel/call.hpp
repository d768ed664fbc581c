// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/operands.hpp>
#include <cstdint>

namespace sinter::inline SINTER_TARGET::runtime {

struct call;
/// What a walk can be asked for beside all of its work.
struct row_functions {
    static constexpr int most_arrays = 4;
    void (*run)(std::int64_t first, std::int64_t end, const call&);
    int (*arrays)(const call&,
                  const float** to);   ///< that it reads and writes row by row: where they begin, and how many
};
/// A walk over the rows that a kernel reads, which that kernel is to run itself, each row before it
/// reads it; or none, for all are there.
struct fused_producer {
    const row_functions* rows = nullptr;
    const call* walk = nullptr;
};

/// What a kernel is handed at run time. Everything here stays out of the kernel's type, so that
/// equal work of different extents, addresses or constants shares one instantiation.
struct call {
    float* const* p = nullptr;          ///< operands and results: the root's own first, then the body's
    const std::int64_t* e = nullptr;    ///< extents and strides of this launch (meaning: the kernel's own page)
    const float* k = nullptr;           ///< float constants that the body's instructions refer to
    const float* scalars = nullptr;     ///< values that change from step to step (learning rate, corrections)
    float* scratch = nullptr;           ///< work space that the kernel asked for, shared by all parts
    float* sums = nullptr;              ///< the body's share of it: partial column sums, row buffers
    std::uint64_t seed = 0;             ///< key of the random numbers: step_arguments::random_key()
    std::int64_t step = 0;              ///< counts training steps; enters the random numbers
    std::int64_t iteration = 0;              ///< of the loop that the launch is in
    bool first_iteration = false;            ///< is that the first one made?
    bool finite_weights = false;   ///< are all parameters known to be? Then terms with a factor of zero may be left out
    std::int64_t m = 0;                 ///< rows: those of one example times the batch, or a fixed number
    int batch = 0;                      ///< examples in this call
    int global_batch = 0;               ///< examples of all shards (device/model_memory.hpp: batch_shard)
    const float* loss_weights =
        nullptr;                        ///< what the losses' means are divided by; null: what this batch's values weigh
    int part = 0, parts = 1;            ///< this call does share `part` of `parts`; the split never depends on threads
    int first = 0, end = 0;   ///< the parts that this thread is called for, one after the other; none: not known
    fused_producer before = {};           ///< what makes the first operand's rows
};

/// The first part that this thread is called for. What all of its parts read is made by that one,
/// and what a part needs for a while lies in that one's scratch, which is in the caches then.
constexpr int first_part(const call& c) { return c.end > c.first ? c.first : c.part; }

/// First row (or tile, or image) of share `part` when `n` are split into `parts`.
constexpr std::int64_t share(std::int64_t n, int part, int parts) {
    return parts == 1 ? n * part : n * part / parts;   // a division takes as long as a small kernel's tenth part
}

/// The end of what this thread will do of them: what follows this part's share may be asked for.
constexpr std::int64_t thread_end(const call& c, std::int64_t n) {
    return share(n, c.end > c.part ? c.end : c.part + 1, c.parts);
}

} // namespace sinter::runtime
