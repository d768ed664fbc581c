// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/parameter_server/shard_layout.hpp>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// Which server has what of a training program. Workers and servers compute it alike (places_of_program.hpp).
struct server_places {
    struct table {
        int width = 0;                           ///< floats of a row
        bool hashed = false;                     ///< its keys are any 64-bit numbers
        parameter_servers::row_placement rows;   ///< a hashed table's: servers alone
    };
    /// A stretch of a bucket that goes to one server.
    struct part {
        int server = 0;
        std::int64_t first = 0, gradient = 0, floats = 0;
    };
    using parts = std::vector<std::vector<part>>;
    parameter_servers::dense_placement dense;
    std::vector<parameter_servers::shard_layout> shards;
    std::vector<table> tables;
    /// Of each training program and bucket that is no list, what goes where.
    std::vector<parts> of_bucket;

    int servers() const { return dense.servers; }
    /// f(server, first float there, first float here, floats) for what of [from, from + n) in the
    /// parameters' arena servers have. `updated`: but for what never changes.
    template <class F>
    void each_stretch(std::int64_t from, std::int64_t n, bool updated, F f) const {
        for (int s = 0; s < dense.servers; ++s)
            for (const parameter_servers::piece& p : dense.pieces[static_cast<std::size_t>(s)]) {
                if (updated && p.bucket < 0) continue;
                const std::int64_t begin = std::max(from, p.parameter),
                                   end = std::min(from + n, p.parameter + p.floats);
                if (begin < end) f(s, p.first + begin - p.parameter, begin, end - begin);
            }
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::session_parts
