// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/communicator.hpp>
#include <sinter/strategy/session.hpp>
#include <cstdint>
#include <memory>
#include <string>

namespace sinter::inline SINTER_TARGET {

/// What becomes of states (batch_norm's running statistics) that shards of one batch have made.
enum class state_policy : std::uint8_t {
    per_shard,   ///< the mean over all shards that had examples
    local        ///< those of each process's first shard: nothing is sent; the chief's are saved
};
/// Where the members of a job have their batches from.
enum class batch_input : std::uint8_t {
    global,      ///< all read the same data, and each takes its part of every batch
    per_worker   ///< each has batches of its own, of any size; who has none left steps with empty ones
};

namespace strategy_parts {
/// Who else trains the model, as far as it is known when the program compiles.
enum class other_processes : std::uint8_t {
    none,           ///< nobody: nothing of sending is compiled
    update_all,     ///< each updates all weights
    update_parts,   ///< each updates a part of the weights (sharded_update.hpp)
    update_copied_parts   ///< likewise, and the part of the member before it (elastic.hpp)
};

/// How a synchronous session is made up: what a strategy says of it when its trainer is made.
struct synchronous_setup {
    int shards = 1;                ///< of this process: replicas that each compute a part of a batch
    int workers = 0;               ///< threads that share them; 0: as many as there are threads to work with
    batch_input input = batch_input::global;
    state_policy states = state_policy::per_shard;
    bool in_tree_order = false;    ///< sums over members, too, are the tree's: canonical
    std::unique_ptr<collective::communicator> members = nullptr;   ///< null: this process is alone
    place_in_job in_job{};

    int processes() const { return members ? members->size() : 1; }
};

/// In the place of a communicator where there never is one.
struct no_members {
    no_members(std::unique_ptr<collective::communicator>) {}
    constexpr explicit operator bool() const { return false; }
    constexpr collective::communicator* get() const { return nullptr; }
    constexpr collective::communicator* operator->() const { return nullptr; }
    constexpr collective::communicator& operator*() const { return *get(); }
};
} // namespace strategy_parts

} // namespace sinter
