// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

/// Which server keeps what: dense parameters by bytes, tables by rows. Workers and servers compute
/// it alike, from the program's layout and the number of servers alone.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Placed parameters begin on lines of so many floats, and are cut there.
inline constexpr std::int64_t line_floats = 16;

/// A range of the parameters' arena that one kernel of the optimizer updates.
struct block {
    std::int64_t parameter = 0;   ///< offset in the parameters' arena, in floats
    std::int64_t gradient = 0;    ///< offset in the gradients' arena
    std::int64_t floats = 0;      ///< whole lines
    int group = 0;                ///< of the optimizer's parameter groups; -1: it is not updated
    int tensor = -1;              ///< -1: may be cut at any line; else the number of a tensor that stays whole
    int bucket = 0;               ///< that its gradient is in; -1: it has none, and stays as it is
    int phase = 0;                ///< whose updates it has, where losses alternate
};
/// What a server knows of a range of its array: `first` and `floats` in that array.
struct run {
    std::int64_t first = 0, floats = 0;
    int group = 0, tensor = -1, phase = 0;
    bool operator==(const run&) const = default;
};
/// What a worker copies: a range of its arenas, and where it lies in the server's array.
struct piece {
    std::int64_t parameter = 0, gradient = 0;   ///< offsets in the worker's arenas
    std::int64_t first = 0;                     ///< in the server's array
    std::int64_t floats = 0;
    int bucket = 0, phase = 0;
    bool operator==(const piece&) const = default;
};
/// All vectors but the innermost are by server. Pieces and runs are in the order of the server's
/// array, in which what is updated comes first.
struct dense_placement {
    int servers = 0;
    std::vector<std::vector<piece>> pieces;
    std::vector<std::vector<run>> runs;
    std::vector<std::int64_t> floats;
    std::vector<std::int64_t> updated;   ///< floats at the front that have gradients: pulled after each step
};

/// Places blocks on servers, those with gradients and then those without. Tensors that stay whole
/// go first, the largest to whoever has the least; what may be cut levels the servers, so that
/// their loads differ by a line where enough of it is there. Server 0's array has the first of the
/// blocks that may be cut, and so on. Throws option_error where there is no server, or a block is
/// not whole lines.
SINTER_APART dense_placement place(span<const block> blocks, int servers);

/// How a table's rows are dealt out: `div`, ranges of neighbours, the first of them one row
/// longer where they are not equal; `mod`, row r to server r mod the number of servers. As
/// TensorFlow's embedding_lookup.
enum class row_partition : std::uint8_t { div, mod };

/// Which server has which rows of a table, and as which of its own.
struct row_placement {
    std::int64_t rows = 0;
    int servers = 1;
    row_partition how = row_partition::mod;

    constexpr std::int64_t rows_of(int server) const {
        return rows / servers + (server < rows % servers);
    }
    constexpr int server(std::int64_t row) const {
        if (how == row_partition::mod) return static_cast<int>(row % servers);
        const std::int64_t each = rows / servers, more = rows % servers, of_longer = more * (each + 1);
        return static_cast<int>(row < of_longer ? row / (each + 1) : more + (row - of_longer) / each);
    }
    /// Of this row among its server's.
    constexpr std::int64_t local(std::int64_t row) const {
        return how == row_partition::mod ? row / servers : row - first(server(row));
    }
    /// The row that is the server's row `local`.
    constexpr std::int64_t row(int server, std::int64_t local) const {
        return how == row_partition::mod ? local * servers + server : first(server) + local;
    }

private:
    constexpr std::int64_t first(int server) const {
        const std::int64_t more = rows % servers;
        return rows / servers * server + (server < more ? server : more);
    }
};

/// Into how many shards a table of `rows` rows is cut: so many, but no shard is empty.
/// (TensorFlow's FixedShardsPartitioner. It and the next two throw nothing; what counts bytes takes
/// rows of at least one.)
constexpr std::int64_t fixed_shards(std::int64_t rows, std::int64_t shards) {
    return shards < rows ? shards : rows;
}
/// As many as give each at least `min_shard_bytes`, at most `max_shards` (MinSizePartitioner).
constexpr std::int64_t min_size_shards(std::int64_t rows, std::int64_t row_bytes, std::int64_t min_shard_bytes,
                                       std::int64_t max_shards) {
    const std::int64_t by_size = (rows * row_bytes + min_shard_bytes - 1) / min_shard_bytes;
    const std::int64_t most = rows < max_shards ? rows : max_shards, shards = by_size < most ? by_size : most;
    return shards > 1 ? shards : 1;
}
/// As few as let each have at most `max_shard_bytes`, or one row; at most `max_shards` (0: any
/// number) (MaxSizePartitioner).
constexpr std::int64_t max_size_shards(std::int64_t rows, std::int64_t row_bytes, std::int64_t max_shard_bytes,
                                       std::int64_t max_shards = 0) {
    const std::int64_t fit = max_shard_bytes / row_bytes, each = fit > 1 ? fit : 1;
    const std::int64_t shards = (rows + each - 1) / each;
    return max_shards > 0 && max_shards < shards ? max_shards : shards;
}

#if SINTER_BODIES
namespace detail {
/// How many lines each server gets of `lines` that may be cut, beside those it has: as even as can
/// be.
inline std::vector<std::int64_t> even_shares(const std::vector<std::int64_t>& has, std::int64_t lines) {
    std::vector<std::size_t> order(has.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return has[a] < has[b]; });
    std::size_t below = 1;   // that many servers get something: all come to the same level
    std::int64_t sum = has[order[0]];
    while (below < order.size() && has[order[below]] * static_cast<std::int64_t>(below) - sum < lines)
        sum += has[order[below++]];
    std::vector<std::int64_t> share(has.size(), 0);
    const std::int64_t n = static_cast<std::int64_t>(below), level = (sum + lines) / n;
    std::int64_t more = (sum + lines) % n;
    for (std::size_t i = 0; i < below; ++i) share[order[i]] = level - has[order[i]] + (more-- > 0);
    return share;
}

/// Puts part of a block after what server `server` has.
inline void append(dense_placement& out, std::size_t server, const block& b, std::int64_t from, std::int64_t floats) {
    if (!floats) return;
    std::int64_t& end = out.floats[server];
    std::vector<piece>& pieces = out.pieces[server];
    std::vector<run>& runs = out.runs[server];
    const auto follows = [&](const piece& last) {
        return last.bucket == b.bucket && last.phase == b.phase && last.parameter + last.floats == b.parameter + from &&
               (b.bucket < 0 || last.gradient + last.floats == b.gradient + from);
    };
    if (!pieces.empty() && follows(pieces.back())) pieces.back().floats += floats;
    else pieces.push_back({b.parameter + from, b.gradient + from, end, floats, b.bucket, b.phase});
    if (!runs.empty() && b.tensor < 0 && runs.back().tensor < 0 && runs.back().group == b.group &&
        runs.back().phase == b.phase)
        runs.back().floats += floats;
    else runs.push_back({end, floats, b.group, b.tensor, b.phase});
    end += floats;
}

/// Places the blocks that have gradients, or those that have none.
SINTER_COLD inline void place_some(span<const block> blocks, bool with_gradients, dense_placement& out) {
    std::vector<const block*> whole, cut;
    std::int64_t lines = 0;
    for (const block& b : blocks) {
        if ((b.bucket >= 0) != with_gradients) continue;
        (b.tensor >= 0 ? whole : cut).push_back(&b);
        if (b.tensor < 0) lines += b.floats / line_floats;
    }
    std::stable_sort(whole.begin(), whole.end(), [](const block* a, const block* b) { return a->floats > b->floats; });
    std::vector<std::int64_t> has(out.floats.size(), 0);
    std::vector<std::vector<const block*>> kept(out.floats.size());
    for (const block* b : whole) {
        const std::size_t least = static_cast<std::size_t>(std::min_element(has.begin(), has.end()) - has.begin());
        has[least] += b->floats / line_floats;
        kept[least].push_back(b);
    }
    std::vector<std::int64_t> share = even_shares(has, lines);
    std::size_t server = 0;
    for (const block* b : cut)
        for (std::int64_t from = 0; from < b->floats;) {
            while (!share[server]) ++server;
            const std::int64_t take = std::min(share[server] * line_floats, b->floats - from);
            append(out, server, *b, from, take);
            share[server] -= take / line_floats;
            from += take;
        }
    for (std::size_t k = 0; k < kept.size(); ++k)
        for (const block* b : kept[k]) append(out, k, *b, 0, b->floats);
}
} // namespace detail

SINTER_APART dense_placement place(span<const block> blocks, int servers) {
    if (servers < 1)
        throw option_error("no server to place parameters on", "servers", std::to_string(servers), "1 or more");
    for (const block& b : blocks)
        if (b.floats < 0 || b.floats % line_floats)
            throw option_error("a block of parameters is not whole lines", "floats", std::to_string(b.floats),
                               "a multiple of " + std::to_string(line_floats));
    const std::size_t n = static_cast<std::size_t>(servers);
    dense_placement out{servers, std::vector<std::vector<piece>>(n), std::vector<std::vector<run>>(n),
                        std::vector<std::int64_t>(n, 0), {}};
    detail::place_some(blocks, true, out);
    out.updated = out.floats;
    detail::place_some(blocks, false, out);
    return out;
}
#endif

} // namespace sinter::parameter_servers
