// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/arena.hpp>
#include <sinter/device/cpu/threads.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/train/progress.hpp>
#include <algorithm>
#include <map>

namespace sinter::inline SINTER_TARGET::profile {

/// What no kernel on so many threads can exceed, measured where it is asked for: multiply-adds on
/// registers, and copies within the cache level of a working set. Both are rates of all threads
/// together.
class machine_limits {
public:
    explicit machine_limits(int threads) : team_(threads) {}

    /// Operations a second, a multiply-add counted as two.
    double flops() {
        constexpr int chains = 12,
                      steps = 200'000;   // chains: enough for the latency of two units, and they fit the registers
        if (flops_ > 0) return flops_;
        const double s = seconds_of([](int) {
            cpu::vf c[chains], x = cpu::splat(0.9999f);
            asm volatile("" : "+m"(x));   // hidden, or the loop would be folded
            cpu::unroll<chains>([&](auto i) SINTER_ALWAYS { c[i] = cpu::splat(0.01f * static_cast<float>(i)); });
            const cpu::vf y = x;
            for (int k = 0; k < steps; ++k)
                cpu::unroll<chains>([&](auto i) SINTER_ALWAYS { c[i] = cpu::fma(c[i], y, y); });
            cpu::vf sum = cpu::zero();
            cpu::unroll<chains>([&](auto i) SINTER_ALWAYS { sum += c[i]; });
            asm volatile("" : "+m"(sum));
        });
        return flops_ = 2.0 * chains * steps * cpu::lanes * team_.size() / s;
    }

    /// Bytes a second, read and written ones together, of copies whose source and target are
    /// together as large as `working_set` bytes, rounded up to a power of two between 16 KiB and
    /// 128 MiB; each thread copies its own part.
    double copied_bytes(double working_set) {
        std::int64_t bytes = smallest;
        while (static_cast<double>(bytes) < working_set && bytes < largest) bytes *= 2;
        double& known = copied_[bytes];
        if (known > 0) return known;
        const std::int64_t floats =
            bytes / 8 / team_.size() / (4 * cpu::lanes) * (4 * cpu::lanes);   // that a thread copies
        const std::int64_t times = std::max<std::int64_t>(1, (32 << 20) / bytes);
        if (const std::int64_t all = 2 * floats * team_.size(); scratch_.size() < all) scratch_ = arena(all);
        const double s = std::min(seconds_of([&](int thread) { repeat<false>(thread, floats, times); }),
                                  seconds_of([&](int thread) { repeat<true>(thread, floats, times); }));
        return known = 8.0 * static_cast<double>(floats * times) * team_.size() / s;
    }

    int threads() const { return team_.size(); }

private:
    static constexpr std::int64_t smallest = 16 << 10, largest = 128 << 20;
    team team_;
    arena scratch_;
    double flops_ = 0;
    std::map<std::int64_t, double> copied_;

    /// The least of several rounds, each as long as its slowest thread.
    template <class F>
    double seconds_of(F f) {
        double best = 1e300, began = 0;
        for (int round = 0; round < 9; ++round) {
            team_.run([&](int thread) {
                team_.barrier(thread);
                if (thread == 0) began = monotonic_seconds();
                f(thread);
            });
            best = std::min(best, monotonic_seconds() - began);
        }
        return std::max(best, 1e-9);   // the clock may not have moved
    }
    /// By vectors in small caches, by the library, which knows how to pass by the caches, beyond
    /// them: the faster one counts.
    template <bool Library>
    void repeat(int thread, std::int64_t floats, std::int64_t times) const {
        float* const from = scratch_.data() + 2 * floats * thread;
        float* const to = from + floats;
        for (std::int64_t t = 0; t < times; ++t) {
            if (Library) std::memcpy(to, from, static_cast<std::size_t>(floats) * sizeof(float));
            else
                for (std::int64_t i = 0; i < floats; i += 4 * cpu::lanes)
                    cpu::unroll<4>([&, at = i](auto k) SINTER_ALWAYS {
                        cpu::store(to + at + k * cpu::lanes, cpu::load(from + at + k * cpu::lanes));
                    });
            asm volatile("" : : "r"(to) : "memory");   // each copy counts
        }
    }
};

} // namespace sinter::profile
