// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hashed_options.hpp>
#include <sinter/base/checksum.hpp>
#include <sinter/parameter_server/placement.hpp>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A table of which a server has some rows.
struct table_layout {
    std::string name;
    std::int64_t rows = 0;   ///< of this server's; -1: keys are any 64-bit numbers, and rows are made when first seen
    int row_floats = 0;
    int group = 0;           ///< of the optimizer's parameter groups
    int tensor = -1;         ///< the parameter's number among all, as run::tensor
    hashed_options options{};   ///< where keys are any numbers
    int phase = 0;              ///< as run::phase
    bool operator==(const table_layout&) const = default;
};

/// All that one server keeps. Workers and servers compute it alike; its hash is part of what they
/// compare when they meet.
struct shard_layout {
    std::int64_t floats = 0;   ///< of dense parameters, whole lines
    std::vector<run> runs;     ///< what they are, in order
    std::int64_t states = 0;   ///< floats of states that are no parameters, as running statistics
    std::vector<table_layout> tables;

    /// Floats in front that pushes have gradients of and pulls bring; those after are only read
    /// and written.
    std::int64_t updated() const {
        std::int64_t n = 0;
        for (const run& r : runs)
            if (r.group >= 0) n = r.first + r.floats;
        return n;
    }
    /// Of these, what pushes of one phase have gradients of.
    std::int64_t updated(int phase) const {
        std::int64_t n = 0;
        for (const run& r : runs)
            if (r.group >= 0 && r.phase == phase) n += r.floats;
        return n;
    }
    bool operator==(const shard_layout&) const = default;
};

/// A number that differs where any shard's layout does: for wire::identity::layout.
SINTER_APART std::uint64_t hash_of(span<const shard_layout> shards);

#if SINTER_BODIES
SINTER_APART std::uint64_t hash_of(span<const shard_layout> shards) {
    base::checksum sum;
    const auto add = [&](std::int64_t n) { sum.update({reinterpret_cast<const std::byte*>(&n), sizeof n}); };
    for (const shard_layout& s : shards) {
        for (const std::int64_t n : {s.floats, s.states, std::int64_t(s.runs.size()), std::int64_t(s.tables.size())})
            add(n);
        for (const run& r : s.runs)
            for (const std::int64_t n :
                 {r.first, r.floats, std::int64_t(r.group), std::int64_t(r.tensor), std::int64_t(r.phase)})
                add(n);
        for (const table_layout& t : s.tables) {
            for (const std::int64_t n :
                 {t.rows, std::int64_t(t.row_floats), std::int64_t(t.group), std::int64_t(t.phase),
                  std::int64_t(t.options.most_rows), std::int64_t(t.options.admit_after),
                  std::int64_t(t.options.expire_after), std::int64_t(t.options.full)})
                add(n);
            sum.update(as_bytes(t.name));
        }
    }
    return sum.value();
}
#endif

} // namespace sinter::parameter_servers
