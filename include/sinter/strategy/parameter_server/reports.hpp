// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/net/progress_report.hpp>
#include <sinter/parameter_server/counters.hpp>
#include <sinter/parameter_server/shard_layout.hpp>

/// What workers and servers report to sinter-launch beside their steps.
namespace sinter::inline SINTER_ORDINARY::session_parts {

SINTER_COLD SINTER_APART void report_worker(wire::progress_report& to, const parameter_servers::client_counters& c,
                                            std::int64_t global_step);
/// Of all workers' pushes, and of the tables as the layout has them.
SINTER_COLD SINTER_APART void report_server(wire::progress_report& to, std::int64_t global_step,
                                            span<const parameter_servers::worker_counters> workers,
                                            span<const parameter_servers::row_counts> tables,
                                            const parameter_servers::shard_layout& layout);

}   // namespace sinter::inline SINTER_ORDINARY::session_parts

#if SINTER_BODIES
#include <algorithm>
#include <limits>
#include <sinter/base/decimal.hpp>
#include <sinter/base/to_text.hpp>

namespace sinter::inline SINTER_ORDINARY::session_parts {
inline std::string counts_text(std::int64_t staleness, std::int64_t pushes, std::int64_t most, std::int64_t dropped,
                               std::int64_t repeated, std::int64_t sent, std::int64_t received) {
    const double mean = static_cast<double>(staleness) / static_cast<double>(std::max<std::int64_t>(1, pushes));
    return "staleness " + base::general_text(mean, 3) +
           to_text({" most_staleness ", most, " dropped ", dropped, " repeated ", repeated, " sent ", sent,
                   " received ", received});
}

SINTER_COLD SINTER_APART void report_worker(wire::progress_report& to, const parameter_servers::client_counters& c,
                                            std::int64_t global_step) {
    to.count(counts_text(c.staleness_sum, c.pushes, c.staleness_max, c.dropped, c.repeated, c.bytes_out, c.bytes_in) +
             to_text({" global_step ", global_step}));
}

SINTER_COLD SINTER_APART void report_server(wire::progress_report& to, std::int64_t global_step,
                                            span<const parameter_servers::worker_counters> workers,
                                            span<const parameter_servers::row_counts> tables,
                                            const parameter_servers::shard_layout& layout) {
    parameter_servers::worker_counters all;
    for (const parameter_servers::worker_counters& w : workers) {
        all.applied += w.applied, all.dropped += w.dropped, all.repeated += w.repeated;
        all.bytes_in += w.bytes_in, all.bytes_out += w.bytes_out;
        all.staleness_sum += w.staleness_sum, all.staleness_max = std::max(all.staleness_max, w.staleness_max);
    }
    to.step(global_step, std::numeric_limits<double>::quiet_NaN());
    to.count(counts_text(all.staleness_sum, all.applied, all.staleness_max, all.dropped, all.repeated, all.bytes_out,
                         all.bytes_in));
    for (std::size_t t = 0; t < tables.size(); ++t) {
        const parameter_servers::row_counts& c = tables[t];
        to.table(layout.tables[t].name, to_text({"rows ", c.rows, " made ", c.made, " waiting ", c.waiting, " refused ",
                                                c.refused, " evicted ", c.evicted, " expired ", c.expired}));
    }
}
} // namespace sinter::inline SINTER_ORDINARY::session_parts
#endif
