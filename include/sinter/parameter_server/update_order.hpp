// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// When a push becomes an update.
enum class update_mode : std::uint8_t {
    async,   ///< at once, each by itself
    clocks   ///< together with the other workers' of the same clock, as one update
};
/// The order in which floats of several workers are added: by rank, or ((x0 + x1) + (x2 + x3)) +
/// ...
enum class sum_order : std::uint8_t { ranks, tree };
/// How gradients of several workers become one.
enum class gradient_join : std::uint8_t {
    sum,   ///< added: each worker's loss is divided by what all have together
    mean   ///< the mean, each weighted by `push_info::weight`
};

/// A server's rule. `clocks` with staleness s and b backup workers: clock c is applied once all
/// workers that live but b of them have pushed it, and a worker that has pushed clocks 0..c-1 gets
/// values once clock c - s - 1 is applied. Of what comes later than that nothing is used.
struct update_order {
    update_mode mode = update_mode::async;
    std::int64_t staleness = 0;
    int backup = 0;
    sum_order order = sum_order::ranks;
    gradient_join join = gradient_join::sum;
    /// Workers share batches, so that nobody can be done without: clocks wait for those that have
    /// not come yet, and one that dies ends the job. False: whoever is not there is not waited for.
    bool all_join = false;

    static constexpr update_order async() { return {}; }
    static constexpr update_order stale(std::int64_t s) { return {update_mode::clocks, s}; }
    static constexpr update_order sync(int backup = 0) {
        return {update_mode::clocks, 0, backup, sum_order::ranks, backup ? gradient_join::mean : gradient_join::sum};
    }
    /// Throws option_error where it makes no sense for so many workers.
    void check(int workers) const {
        if (staleness < 0 || staleness > 1000)
            throw option_error("out of range", "the staleness of a parameter server", std::to_string(staleness),
                               "0 to 1000 clocks");
        if (backup < 0 || backup >= workers)
            throw option_error("too many backup workers", "the mode of a parameter server", std::to_string(backup),
                               "0 to " + std::to_string(workers - 1) + ": one less than the workers");
    }
};

} // namespace sinter::parameter_servers
