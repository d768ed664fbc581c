// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "../common/options.hpp"
#include <cstdint>
#include <string>

/// The program distributed: what it was told, and what each of its strategies' files gives.
namespace distributed {

inline constexpr int largest_batch = 256;

struct settings {
    std::string strategy = "single", detail{};   ///< "mirrored" and "4"
    int canonical = 0;                           ///< 0: not
    bool elastic = false;                        ///< members may die, and others join
    int replicas = 1;                            ///< servers that keep each part of the weights
    std::int64_t steps = 500;
    int batch = 64;
    int threads = 0;
    std::uint64_t seed = 1;
    std::string data = example::options::from_environment("SINTER_DATA"), checkpoint{}, save{}, report{};
    std::int64_t every = 100;
};

/// Each trains where the settings name one of its strategies, and then answers true, and the
/// program's exit code: 0, or 3 where a signal ended the run before its time.
bool train_single(const settings&, int& code);
bool train_mirrored(const settings&, int& code);
bool train_workers(const settings&, int& code);
bool train_mpi(const settings&, int& code);
bool train_servers(const settings&, int& code);
bool train_canonical(const settings&, int& code);
/// Prints a plan instead, and answers true, where SINTER_PLAN says of which cluster.
bool plan_if_asked();

} // namespace distributed
