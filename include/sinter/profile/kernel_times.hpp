// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/data/batch_view.hpp>
#include <sinter/profile/kernel_table.hpp>

/// Where a training step's time goes, kernel by kernel.
namespace sinter::inline SINTER_TARGET::profile {

/// Notes what each launch takes: by the clock, or as a device that works apart from the host tells.
struct launch_clock {
    std::vector<std::vector<double>>& times;   ///< of each launch, seconds
    double began = 0;

    void operator()(int launch, bool before) {
        if (before) began = monotonic_seconds();
        else took(launch, monotonic_seconds() - began);
    }
    void took(int launch, double seconds) { times[static_cast<std::size_t>(launch)].push_back(seconds); }
};

/// Runs `steps` training steps on `next()`'s batches and prints for each kernel its time (launches
/// times their median), its fastest launch's, share, rates, and the part of it that the machine
/// could not do without. The trainer (or estimator) has really been trained meanwhile. Throws
/// option_error where there are no steps.
template <class Model, class Next>
void kernel_times(Model& m, Next next, int steps = 50, std::FILE* out = stdout) {
    if constexpr (requires { m.inner(); }) {
        return kernel_times(m.inner(), next, steps, out);
    } else {
        if (steps < 1) throw option_error("number of steps", "kernel_times", std::to_string(steps), "at least 1");
        using P = typename Model::training;
        const program_text text = text_of_program<P>();
        std::vector<std::vector<double>> times(static_cast<std::size_t>(P::v.n_launches));
        int batch = 0;
        for (int s = 0; s < steps; ++s) {
            const data::batch_view& b = next();
            batch = b.size;
            m.step(b, launch_clock{times});
        }
        std::vector<kernel_count> counts(times.size());
        for (std::size_t i = 0; i < times.size(); ++i) {
            std::vector<double>& v = times[i];
            if (v.empty())
                continue;   // it runs in some steps only, as an update of accumulated gradients, and had none
            std::sort(v.begin(), v.end());
            const auto n = static_cast<std::int64_t>(v.size());
            counts[i] = {n, n * batch, static_cast<double>(n) * v[v.size() / 2], v.front()};
        }
        machine_limits limits(m.threads());
        constexpr bool here =
            P::request::target.lanes == cpu::lanes;   // what this processor can do says nothing of a GPU
        print_kernel_table(text, counts, steps, here ? &limits : nullptr, out);
    }
}

} // namespace sinter::profile
