// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/parameter_server/table_changes.hpp>
#include <sinter/strategy/parameter_server/server_places.hpp>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// Where one server's files are.
SINTER_COLD SINTER_APART std::string changes_folder(const std::string& folder, int shard, int servers);
/// The file of a server's rows of a table. A server's files have numbers in the order in which they
/// were written.
SINTER_COLD SINTER_APART std::string changes_file(const std::string& of_server, std::int64_t number, std::size_t table);
/// The greatest number of a server's files; 0: there are none.
SINTER_COLD SINTER_APART std::int64_t last_changes(const std::string& of_server);
/// Writes what has changed of each table, where anything has, under a number above `last` and above
/// those of all files that are there: the reader may have removed some. Returns it. Rows that
/// have numbers get those that they have in the whole table. Throws io_error.
SINTER_COLD SINTER_APART std::int64_t write_changes(const std::string& folder, const server_places& places, int shard,
                                                    span<parameter_servers::table_changes> all, std::int64_t last);

}   // namespace sinter::inline SINTER_ORDINARY::session_parts

#if SINTER_BODIES
#include <algorithm>
#include <charconv>
#include <sinter/parameter_server/checkpoint/folder.hpp>
#include <sinter/parameter_server/checkpoint/table_delta.hpp>

namespace sinter::inline SINTER_ORDINARY::session_parts {
SINTER_COLD SINTER_APART std::string changes_folder(const std::string& folder, int shard, int servers) {
    return to_text({folder, "/shard-", shard, "-of-", servers});
}

SINTER_COLD SINTER_APART std::string changes_file(const std::string& of_server, std::int64_t number,
                                                  std::size_t table) {
    return to_text({of_server, "/changes-", number, "-table-", std::int64_t(table), ".safetensors"});
}

SINTER_COLD SINTER_APART std::int64_t last_changes(const std::string& of_server) {
    std::int64_t last = 0;
    io::for_each_name(of_server, [&](std::string_view name) {
        constexpr std::string_view prefix = "changes-";
        if (!name.starts_with(prefix) || !name.ends_with(".safetensors")) return;
        std::int64_t number = 0;
        const auto [end, fault] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
        if (fault == std::errc{} && *end == '-' && number < std::int64_t{1} << 62) last = std::max(last, number);
    });
    return last;
}

SINTER_COLD SINTER_APART std::int64_t write_changes(const std::string& folder, const server_places& places, int shard,
                                                    span<parameter_servers::table_changes> all, std::int64_t last) {
    const std::string own = changes_folder(folder, shard, places.servers());
    parameter_servers::detail::make_folder(folder);
    parameter_servers::detail::make_folder(own);
    const std::int64_t number = std::max(last_changes(own), last) + 1;
    for (std::size_t t = 0; t < all.size(); ++t) {
        parameter_servers::table_changes& c = all[t];
        if (c.keys.empty() && c.removed.empty() && c.since > 0) continue;
        const server_places::table& of = places.tables[t];
        if (!of.hashed)
            for (std::int64_t& key : c.keys) key = of.rows.row(shard, key);
        const std::string& name = places.shards[static_cast<std::size_t>(shard)].tables[t].name;
        parameter_servers::write_delta(changes_file(own, number, t), name, c);
    }
    return number;
}
} // namespace sinter::inline SINTER_ORDINARY::session_parts
#endif
