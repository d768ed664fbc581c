// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/batch_view.hpp>
#include <sinter/profile/text.hpp>
#include <sinter/train/progress.hpp>
#include <algorithm>
#include <cstdio>
#include <vector>

/// Where a training step's time goes, kernel by kernel.
namespace sinter::profile {

/// Runs `steps` training steps on `next()`'s batches and prints for each kernel its median time, rate and share. The
/// trainer has really been trained meanwhile.
template <class Trainer, class Next>
void kernel_times(Trainer& t, Next next, int steps = 50, std::FILE* out = stdout) {
    using P = typename Trainer::training;
    const program_text text = text_of_program<P>();
    std::vector<std::vector<double>> times(static_cast<std::size_t>(P::v.n_launches));
    double began = 0;
    int batch = 0;
    for (int s = 0; s < steps; ++s) {
        const data::batch_view& b = next();
        batch = b.size;
        t.step(b, [&](int launch, bool before) {
            if (before) began = monotonic_seconds();
            else times[static_cast<std::size_t>(launch)].push_back(monotonic_seconds() - began);
        });
    }
    double all = 0;
    for (auto& v : times) {
        std::sort(v.begin(), v.end());
        all += v[v.size() / 2];
    }
    std::fprintf(out, "%9s %5s %9s %9s\n", "us", "%", "GFLOP/s", "GB/s");
    for (const kernel_text& k : text.kernels) {
        const auto& v = times[static_cast<std::size_t>(k.launch)];
        const double s = v[v.size() / 2];
        std::fprintf(out, "%9.1f %5.1f %9.1f %9.1f  %s %s: %s\n", 1e6 * s, 100 * s / all,
                     1e-9 * static_cast<double>(k.cost.flops.at(batch)) / s,
                     1e-9 * static_cast<double>(k.cost.read.at(batch) + k.cost.written.at(batch)) / s, k.layer.c_str(),
                     k.out.c_str(), k.members.c_str());
    }
    std::fprintf(out, "%9.1f us in all\n", 1e6 * all);
}

} // namespace sinter::profile
