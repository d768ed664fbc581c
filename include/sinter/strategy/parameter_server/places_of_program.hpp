// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/path_of.hpp>
#include <sinter/strategy/parameter_server/remote_lookups.hpp>
#include <sinter/strategy/parameter_server/server_places.hpp>
#include <sinter/strategy/parameter_server/shard_update.hpp>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Which server has what of training program P. `Others`: those of further losses that alternate with P's. `whole`:
/// tensors are not cut, since servers add up norms of them.
template <class P, class Optimizer, class... Others>
SINTER_COLD server_places places_of_program(int servers, bool whole, parameter_servers::row_partition rows) {
    server_places p;
    const std::vector<parameter_servers::block> blocks = blocks_of<P, Optimizer, Others...>(whole);
    p.dense = parameter_servers::place({blocks.data(), blocks.size()}, servers);
    p.of_bucket = {server_places::parts(static_cast<std::size_t>(P::v.n_buckets)),
                   server_places::parts(static_cast<std::size_t>(Others::v.n_buckets))...};
    p.shards.resize(static_cast<std::size_t>(servers));
    p.shards[0].states = P::v.floats(compiler::space::state);
    for (int s = 0; s < servers; ++s) {
        const auto at = static_cast<std::size_t>(s);
        p.shards[at].floats = p.dense.floats[at];
        p.shards[at].runs = p.dense.runs[at];
        for (const parameter_servers::piece& x : p.dense.pieces[at])
            if (x.bucket >= 0)
                p.of_bucket[static_cast<std::size_t>(x.phase)][static_cast<std::size_t>(x.bucket)].push_back(
                    {s, x.first, x.gradient, x.floats});
    }
    constexpr auto& all = compiler::remote_tables_of<P>;
    for (int t = 0; t < all.n; ++t) {
        const remote_table& r = all.at[t];
        const variable_info& v = P::v.parameters[r.parameter];
        const parameter_servers::row_placement place{r.hashed ? 0 : r.rows, servers, rows};
        p.tables.push_back({r.width, r.hashed, place});
        for (int s = 0; s < servers; ++s)
            p.shards[static_cast<std::size_t>(s)].tables.push_back(
                {compiler::path_of(P::scopes, v.scope, v.name), r.hashed ? -1 : place.rows_of(s), r.width, v.group,
                 r.parameter, r.options, training_of<P, Others...>(r.parameter).phase});
    }
    return p;
}

} // namespace sinter::strategy_parts
