// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/archive.hpp>
#include <sinter/parameter_server/checked_number.hpp>
#include <sinter/parameter_server/push_log.hpp>
#include <string>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What a checkpoint of a server has beside values: `shard_view::log`, as bytes of an archive.
struct server_log {
    std::int64_t global_step = 0, clocks = 0, max_steps = 0;
    std::int64_t version = 0;   ///< how often the chief had overwritten values; 0 in older files
    bool open = false;
    std::vector<push_log::entry> pushes;   ///< by rank
    std::vector<std::int64_t> phases{};    ///< updates of each, where losses alternate
    std::int64_t open_clock = 0, open_step = 0;   ///< clocks applied, and steps, when the job was opened

    std::string bytes() const {
        wire::archive_writer w;
        std::uint8_t o = open;
        std::vector<std::uint64_t> all;
        for (const auto& e : pushes) all.insert(all.end(), {e.incarnation, e.last, e.missing});
        w & global_step & clocks & max_steps & o & all & version;
        w & phases & open_clock & open_step;
        return w.bytes();
    }
    /// Throws format_error for bytes that are none.
    static server_log of(const std::string& bytes) {
        server_log l;
        wire::archive_reader r(as_bytes(bytes));
        std::uint8_t o = 0;
        std::vector<std::uint64_t> all;
        r & l.global_step & l.clocks & l.max_steps & o & all;
        if (!r.at_end()) r & l.version;
        if (!r.at_end()) r & l.phases;
        if (!r.at_end()) r & l.open_clock & l.open_step;
        r.expect_end();
        constexpr const char* where = "the log of a server's checkpoint";
        check_number(l.global_step, 0, "no global step", where);
        check_number(l.clocks, 0, "no number of clocks", where);
        check_number(l.max_steps, 0, "no number of steps to make", where, INT64_MAX);
        check_number(l.version, 0, "no number of overwritings", where);
        check_number(l.open_clock, 0, "no number of clocks", where);
        check_number(l.open_step, 0, "no global step", where);
        check_number(o, 0, "neither open nor closed", where, 1);
        for (const std::int64_t n : l.phases) check_number(n, 0, "no number of updates of a loss", where);
        check_number(static_cast<std::int64_t>(all.size() % 3), 0, "pushes that are cut short: numbers over", where, 0);
        l.open = o != 0;
        for (std::size_t i = 0; i < all.size(); i += 3) l.pushes.push_back({all[i], all[i + 1], all[i + 2]});
        return l;
    }
};

} // namespace sinter::parameter_servers
