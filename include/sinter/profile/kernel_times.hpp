// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/data/batch_view.hpp>
#include <sinter/profile/program_text.hpp>
#include <sinter/train/progress.hpp>
#include <algorithm>

/// Where a training step's time goes, kernel by kernel.
namespace sinter::profile {

/// Runs `steps` training steps on `next()`'s batches and prints for each kernel its median time, rate and share. The
/// trainer (or estimator) has really been trained meanwhile. Throws option_error where there are no steps.
template <class Model, class Next>
void kernel_times(Model& m, Next next, int steps = 50, std::FILE* out = stdout) {
    if constexpr (requires { m.inner(); }) {
        return kernel_times(m.inner(), next, steps, out);
    } else {
        if (steps < 1) throw option_error("number of steps", "kernel_times", std::to_string(steps), "at least 1");
        using P = typename Model::training;
        const program_text text = text_of_program<P>();
        std::vector<std::vector<double>> times(static_cast<std::size_t>(P::v.n_launches));
        double began = 0;
        int batch = 0;
        for (int s = 0; s < steps; ++s) {
            const data::batch_view& b = next();
            batch = b.size;
            m.step(b, [&](int launch, bool before) {
                if (before) began = monotonic_seconds();
                else times[static_cast<std::size_t>(launch)].push_back(monotonic_seconds() - began);
            });
        }
        double all = 0;
        for (auto& v : times) {
            std::sort(v.begin(), v.end());
            all += v[v.size() / 2];
        }
        std::fprintf(out, "%9s %5s %9s %9s  %s\n", "us", "%", "GFLOP/s", "GB/s", "layer and kernel");
        for (const kernel_text& k : text.kernels) {
            const auto& v = times[static_cast<std::size_t>(k.launch)];
            const double s = std::max(v[v.size() / 2], 1e-9);   // the clock may not have moved
            std::fprintf(out, "%9.1f %5.1f %9.1f %9.1f  %s%s%s: %s\n", 1e6 * s, 100 * s / std::max(all, 1e-9),
                         1e-9 * static_cast<double>(k.cost.flops.at(batch)) / s,
                         1e-9 * static_cast<double>(k.cost.read.at(batch) + k.cost.written.at(batch)) / s, k.layer.c_str(),
                         k.layer.empty() ? "" : " ", k.out.c_str(), k.members.c_str());
        }
        std::fprintf(out, "%9.1f us in all\n", 1e6 * all);
    }
}

} // namespace sinter::profile
