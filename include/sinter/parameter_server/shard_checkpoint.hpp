// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/parameter_server/shard_files.hpp>
#include <memory>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What the files of a server's shard are made from.
struct shard_checkpoint_setup {
    std::string folder;
    int server = 0, servers = 1;
    std::uint64_t program = 0;           ///< a hash of how the program's parameters lie, whatever the servers
    std::vector<piece> pieces;           ///< dense_placement::pieces of this server
    std::vector<row_placement> tables;   ///< of each table of the layout; of one whose keys are any, servers alone
    int keep = 2;                        ///< whole checkpoints that stay; 0: all
};

/// The checkpoints of a server in a folder that all servers see (checkpoint/shard_checkpoints.hpp says what is there).
/// From now on this process is the one that writes them. Throws io_error where the folder cannot be written.
SINTER_APART std::unique_ptr<shard_files> checkpoints_of(shard_checkpoint_setup);

} // namespace sinter::parameter_servers

#if SINTER_BODIES
#include <sinter/parameter_server/checkpoint/shard_checkpoints.hpp>
#endif
