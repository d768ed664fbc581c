// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <new>
#include <span>
#include <vector>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/compiler/emit/instruction.hpp>

/// Timing for benchmarks: medians of processor time, and the machine's own limits measured in the
/// same run.
namespace sinter::bench {
using namespace runtime;
using namespace compiler;

/// Seconds of processor time of this thread: other jobs on the machine count only through the
/// caches.
inline double cpu_seconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Seconds of one call: the median, and the twentieth part from below, which tells how fast the
/// code is where neighbours on a shared machine slow down most of the rounds.
struct timing {
    double median, fast;
};

/// Times f in `rounds` rounds of about `seconds` each.
template <class F>
timing time_of(F f, double seconds = 0.001, int rounds = 201) {
    long calls = 1;
    for (;; calls *= 2) {
        const double begin = cpu_seconds();
        for (long i = 0; i < calls; ++i) f();
        if (const double t = cpu_seconds() - begin; t > seconds / 4) {
            calls = std::max(1L, static_cast<long>(static_cast<double>(calls) * seconds / t));
            break;
        }
    }
    std::vector<double> t;
    for (int r = 0; r < rounds; ++r) {
        const double begin = cpu_seconds();
        for (long i = 0; i < calls; ++i) f();
        t.push_back((cpu_seconds() - begin) / static_cast<double>(calls));
    }
    std::sort(t.begin(), t.end());
    return {t[static_cast<std::size_t>(rounds / 2)], t[static_cast<std::size_t>(rounds / 20)]};
}

/// A whole launch of a kernel, in one part. Extents that are not given are zero.
template <class Kernel>
void run_kernel(call c, std::span<const std::int64_t> extents) {
    std::int64_t e[extent::count] = {};
    std::copy(extents.begin(), extents.end(), e);
    c.e = e;
    if constexpr (requires { Kernel::prepare(c); }) Kernel::prepare(c);
    Kernel::run(c);
}

/// Multiply-adds on registers only, twelve independent chains: what no kernel can exceed, in
/// operations a second.
inline double peak_flops(double seconds = 0.001, int rounds = 201) {
    constexpr int chains = 12;
    constexpr long steps = 20000;
    const auto burn = [] {
        cpu::vf c[chains], x = cpu::splat(0.9999f);
        asm volatile("" : "+m"(x));   // hidden, or the loop would be folded
        cpu::unroll<chains>([&](auto i) SINTER_ALWAYS { c[i] = cpu::splat(0.01f * static_cast<float>(i)); });
        const cpu::vf y = x;
        for (long s = 0; s < steps; ++s)
            cpu::unroll<chains>([&](auto i) SINTER_ALWAYS { c[i] = cpu::fma(c[i], y, y); });
        cpu::vf sum = cpu::zero();
        cpu::unroll<chains>([&](auto i) SINTER_ALWAYS { sum += c[i]; });
        asm volatile("" : "+m"(sum));
    };
    return 2.0 * chains * cpu::lanes * steps / time_of(burn, seconds, rounds).fast;
}

/// Floats aligned to a cache line, zeroed.
class buffer {
public:
    explicit buffer(std::int64_t n)
        : n_(n), p_(static_cast<float*>(::operator new(sizeof(float) * static_cast<std::size_t>(n), align))) {
        std::fill(p_, p_ + n, 0.f);
    }
    buffer(const buffer&) = delete;
    buffer& operator=(const buffer&) = delete;
    ~buffer() { ::operator delete(p_, align); }
    operator float*() { return p_; }
    std::int64_t size() const { return n_; }
    void random(unsigned seed, float scale = 1.f) {
        for (std::int64_t i = 0; i < n_; ++i) {
            seed = seed * 1664525u + 1013904223u;
            p_[i] = scale * (static_cast<float>(seed >> 8) / 8388608.f - 1.f);
        }
    }

private:
    static constexpr std::align_val_t align{64};
    std::int64_t n_;
    float* p_;
};

} // namespace sinter::bench
