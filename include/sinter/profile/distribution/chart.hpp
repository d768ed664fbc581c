// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/distribution/report.hpp>
#include <sinter/train/chart/line_chart.hpp>
#include <cmath>

namespace sinter::inline SINTER_TARGET::profile {

/// Efficiency of each algorithm over the number of workers; what a step is made of; and what larger
/// batches bring. Workers and batches are drawn by their logarithms.
inline std::vector<line_chart> charts_of(const training_profile& p, const cluster_model& m) {
    line_chart efficiency{"Efficiency", "workers, log2", "%", {}}, parts{"A step", "workers, log2", "ms", {}};
    for (int a = 0; a < 4; ++a) {
        const auto algorithm = static_cast<reduction_algorithm>(a);
        constexpr const char* short_names[] = {"ring", "halving", "hierarchical", "servers"};   // legends are narrow
        curve c{short_names[a], {}, {}};
        curve compute{"computing", {}, {}}, straggling{"+ straggling", {}, {}}, step{"+ waiting", {}, {}};
        for (int n : worker_counts(m.workers)) {
            cluster_model other = m;
            if (!other_cluster(other, algorithm, n)) continue;
            const distribution_plan d = plan_distribution(p, other);
            const double x = std::log2(n);
            c.x.push_back(x), c.y.push_back(100 * d.efficiency);
            for (curve* k : {&compute, &straggling, &step}) k->x.push_back(x);
            compute.y.push_back(1e3 * d.compute);
            straggling.y.push_back(1e3 * (d.compute + d.straggling));
            step.y.push_back(1e3 * d.step);
        }
        if (c.y.empty()) continue;
        efficiency.curves.push_back(c);
        if (algorithm == m.algorithm) parts.curves = {compute, straggling, step};
    }
    parts.title = "A step, " + std::string(name_of(m.algorithm));
    line_chart batches{"Efficiency by batch", "examples a worker, log2", "%", {}};
    curve c{std::to_string(m.workers) + " workers", {}, {}};
    for (int b = 1; b <= 4096; b *= 2) {
        cluster_model other = with_measured_rates(p, m);
        other.batch = b;
        const distribution_plan d = plan_distribution(p, other);
        if (!d.fits) break;
        c.x.push_back(std::log2(b)), c.y.push_back(100 * d.efficiency);
    }
    batches.curves.push_back(c);
    return {efficiency, parts, batches};
}

} // namespace sinter::profile
