// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/decimal.hpp>
#include <sinter/profile/machine_limits.hpp>
#include <sinter/profile/program_text.hpp>
#include <utility>

/// The table of a program's kernels: what each took, at which rates, and how near that is to its
/// floor.
namespace sinter::inline SINTER_TARGET::profile {

/// What was counted of one kernel.
struct kernel_count {
    std::int64_t launches = 0, examples = 0;   ///< examples: the sum of its launches' batches
    double seconds = 0;                        ///< of all launches together
    double least = 0;   ///< seconds of the fastest launch: what others on the machine disturb least
};

/// What a kernel did in all its launches.
struct kernel_work {
    double flops = 0, bytes = 0;   ///< bytes read and written: each operand and result once a launch
    kernel_work(const group_cost& c, const kernel_count& n) {
        auto in_all = [&](const batch_count& k) {
            return static_cast<double>(k.per_example) * static_cast<double>(n.examples) +
                   static_cast<double>(k.once) * static_cast<double>(n.launches);
        };
        flops = in_all(c.flops);
        bytes = in_all(c.read) + in_all(c.written);
    }
    /// The least seconds that a machine could take for `launches` of them: all operations at its
    /// peak, or all bytes at the pace of copies in the cache level that one launch's bytes fit
    /// into, whichever takes longer.
    double floor(machine_limits& limits, std::int64_t launches) const {
        if (launches == 0) return 0;
        return std::max(flops / limits.flops(), bytes / limits.copied_bytes(bytes / static_cast<double>(launches)));
    }
};

/// Prints a line for each kernel, in the program's order, together with the walk that it runs, if
/// one leads it; `counts` has one entry for each. Without `limits` no floors.
SINTER_COLD inline void print_kernel_table(const program_text& text, const std::vector<kernel_count>& counts,
                                           std::int64_t steps, machine_limits* limits, std::FILE* out) {
    double all = 0, best = 0, floors = 0;
    for (const kernel_count& n : counts) {
        all += n.seconds;
        best += n.least * static_cast<double>(n.launches);
    }
    all = std::max(all, 1e-9);
    std::fprintf(out, "%8s %9s %9s %9s %5s %9s %8s %6s  %s\n", "launches", "ms", "us each", "us best", "%", "GFLOP/s",
                 "GB/s", "floor", "layer and kernel");
    group_cost before;   // of a fused producer: it is part of the next kernel
    std::string members;
    for (const kernel_text& k : text.kernels) {
        before.add(k.cost);
        members += k.members;
        if (k.is_producer) {
            members += ", then ";
            continue;
        }
        const kernel_count& n = counts[static_cast<std::size_t>(k.launch)];
        const kernel_work w(std::exchange(before, {}), n);
        const double s = std::max(n.seconds, 1e-9);   // the clock may not have moved
        const double floor = limits ? w.floor(*limits, n.launches) : 0;
        floors += floor;
        const double each = 1e6 * n.seconds / static_cast<double>(std::max<std::int64_t>(n.launches, 1));
        std::fprintf(out, "%8lld %9s %9s %9s %5s %9s %8s %6s", static_cast<long long>(n.launches),
                     fixed_text(1e3 * n.seconds, 3).c_str(), fixed_text(each, 2).c_str(),
                     fixed_text(1e6 * n.least, 2).c_str(), fixed_text(100 * n.seconds / all, 1).c_str(),
                     fixed_text(1e-9 * w.flops / s, 1).c_str(), fixed_text(1e-9 * w.bytes / s, 1).c_str(),
                     limits ? fixed_text(floor / s, 2).c_str() : "-");
        std::fprintf(out, "  %s%s%s: %s\n", k.layer.c_str(), k.layer.empty() ? "" : " ", k.out.c_str(),
                     std::exchange(members, {}).c_str());
    }
    const double each = 1e3 / static_cast<double>(std::max<std::int64_t>(steps, 1));
    std::fprintf(out, "%9s ms a step in kernels, %s at their best, %lld steps", fixed_text(each * all, 3).c_str(),
                 fixed_text(each * best, 3).c_str(), static_cast<long long>(steps));
    if (limits) {
        std::fprintf(out, ", floors / time %s\n%d thread%s: peak %s GFLOP/s, copies",
                     fixed_text(floors / all, 2).c_str(), limits->threads(), limits->threads() == 1 ? "" : "s",
                     fixed_text(1e-9 * limits->flops(), 1).c_str());
        for (const double kib : {32., 1024., 65536.})
            std::fprintf(out, " %s", fixed_text(1e-9 * limits->copied_bytes(1024 * kib), 0).c_str());
        std::fprintf(out, " GB/s within 32 KiB, 1 MiB, 64 MiB");
    }
    std::fputc('\n', out);
}

} // namespace sinter::profile
