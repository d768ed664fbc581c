// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/checkpoint/folder.hpp>
#include <sinter/parameter_server/checkpoint/table_delta.hpp>
#include <sinter/strategy/parameter_server/server_places.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// The file of one server's rows of a table, as they were after so many global steps.
inline std::string changes_file(const std::string& folder, int shard, int servers, std::int64_t step,
                                std::size_t table) {
    return joined({folder, "/shard-", shard, "-of-", servers, "/step-", step, "-table-", std::int64_t(table),
                   ".safetensors"});
}
/// Writes what has changed of each table, where anything has. Throws io_error.
SINTER_COLD inline void write_changes(const std::string& folder, const server_places& places, int shard,
                                      span<const sharded::table_changes> all) {
    sharded::detail::make_folder(folder);
    sharded::detail::make_folder(joined({folder, "/shard-", shard, "-of-", places.servers()}));
    for (std::size_t t = 0; t < all.size(); ++t) {
        sharded::table_changes c = all[t];
        if (c.keys.empty() && c.removed.empty() && c.since > 0) continue;
        const server_places::table& of = places.tables[t];
        if (!of.of.hashed)
            for (std::int64_t& key : c.keys) key = of.rows.row(shard, key);
        sharded::write_delta(changes_file(folder, shard, places.servers(), c.step, t),
                             places.shards[static_cast<std::size_t>(shard)].tables[t].name, c);
    }
}

}   // namespace sinter::inline SINTER_TARGET::detail
