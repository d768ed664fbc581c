// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/vector/simd.hpp>
#include <sinter/kernel/panels.hpp>

/// Convolution in double precision, scattering instead of gathering, with extents known at run time only: written to
/// share nothing with the kernels. Also what their tests have in common.
namespace conv_test {
using namespace sinter::compiler;
using namespace sinter::runtime;

struct extents {
    int H, W, CI, OH, OW, CO, KH, KW, S, PT, PL;
    std::size_t x() const { return std::size_t(H) * W * CI; }
    std::size_t y() const { return std::size_t(OH) * OW * CO; }
    std::size_t w() const { return std::size_t(KH) * KW * CI * CO; }
};

/// f(index into x, index into y, index into w) for every product that the convolution of m images adds up.
template <class F>
void each_product(const extents& e, int m, F f) {
    for (int n = 0; n < m; ++n)
        for (int iy = 0; iy < e.H; ++iy)
            for (int ix = 0; ix < e.W; ++ix)
                for (int oy = 0; oy < e.OH; ++oy)
                    for (int ox = 0; ox < e.OW; ++ox) {
                        const int ky = iy + e.PT - oy * e.S, kx = ix + e.PL - ox * e.S;
                        if (ky < 0 || kx < 0 || ky >= e.KH || kx >= e.KW) continue;
                        for (int i = 0; i < e.CI; ++i)
                            for (int o = 0; o < e.CO; ++o)
                                f(((std::size_t(n) * e.H + iy) * e.W + ix) * e.CI + i,
                                  ((std::size_t(n) * e.OH + oy) * e.OW + ox) * e.CO + o,
                                  ((std::size_t(ky) * e.KW + kx) * e.CI + i) * e.CO + o);
                    }
}

inline std::vector<float> noise(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> v(n);
    for (float& f : v) f = float(random() >> 8) / float(1 << 23) - 1.f;
    return v;
}

/// Heap memory that ends where it ends, so that the address sanitizer sees reads past it; NaN wherever nothing is
/// written.
struct buffer {
    std::unique_ptr<float[]> at;
    std::size_t n;
    explicit buffer(std::size_t size) : at(new float[size]), n(size) { clear(); }
    explicit buffer(const std::vector<float>& v) : buffer(v.size()) { std::copy(v.begin(), v.end(), at.get()); }
    void clear() { std::fill_n(at.get(), n, NAN); }
    std::vector<float> values() const { return {at.get(), at.get() + n}; }
};

/// 64-byte aligned scratch, likewise.
struct scratch {
    std::unique_ptr<float, decltype(&std::free)> at;
    explicit scratch(std::int64_t n)
        : at(static_cast<float*>(std::aligned_alloc(64, std::size_t(n + 16) / 16 * 64)), &std::free) {
        std::fill_n(at.get(), (n + 16) / 16 * 16, NAN);
    }
};

inline std::vector<float> packed(const std::vector<float>& w, int rows, int columns) {
    std::vector<float> p(std::size_t(sinter::runtime::panel_floats(rows, columns, sinter::cpu::lanes)), NAN);
    sinter::runtime::pack_panels(w.data(), p.data(), rows, columns, 2 * sinter::cpu::lanes, sinter::cpu::lanes);
    return p;
}
inline std::vector<float> unpacked(const std::vector<float>& p, int rows, int columns) {
    std::vector<float> w(std::size_t(rows) * columns);
    sinter::runtime::unpack_panels(p.data(), w.data(), rows, columns, 2 * sinter::cpu::lanes, sinter::cpu::lanes);
    return w;
}

/// Where sanitizers watch, a shape takes the compiler three seconds. So they do not see shapes that come to no line and
/// no branch of the kernels but those that the other shapes come to, for vectors of 512 bits.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// The body of these tests: stores raw results at p[3].
struct store_raw {
    using vf = sinter::cpu::vf;
    static void vector(vf v, std::int64_t off, std::int64_t, int, const sinter::runtime::call& c) {
        sinter::cpu::store(c.p[3] + off, v);
    }
    static void vector(vf v, int n, std::int64_t off, std::int64_t, int, const sinter::runtime::call& c) {
        sinter::cpu::store(c.p[3] + off, v, n);
    }
};
/// The same, which says that it walks so many arrays: products of single pixels ask for those, and
/// where there are three let their sums wait for whole rows.
template <int Arrays>
struct store_raw_and_walk : store_raw {
    template <class F>
    static void each_line(int rows, int columns, std::int64_t off, std::int64_t off_step,
                          const sinter::runtime::call& c, F f) {
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; j += sinter::cpu::floats_a_line)
                for (int array = 0; array < Arrays; ++array) f(c.p[3] + off + i * off_step + j, std::true_type{});
    }
};

inline constexpr std::int64_t no_extents[sinter::compiler::extent::count] = {};

/// Runs a kernel in `parts`, the parts in the given direction, with scratch as it asks; e: extents
/// that it is told at run time.
template <class Kernel>
void run(std::vector<float*> p, int m, int parts, bool backwards = false, const std::int64_t* e = no_extents,
         sinter::runtime::fused_producer before = {}) {
    std::int64_t floats = 0;
    if constexpr (requires { Kernel::scratch(parts); }) floats = Kernel::scratch(parts);
    else if constexpr (requires { Kernel::scratch(e, parts, m); }) floats = Kernel::scratch(e, parts, m);
    scratch space(floats);
    sinter::runtime::call c;
    c.p = p.data();
    c.e = e;
    c.m = c.batch = m;
    c.scratch = space.at.get();
    c.parts = parts;
    c.before = before;
    const auto all = [&](auto phase) {
        for (int i = 0; i < parts; ++i) {
            c.part = backwards ? parts - 1 - i : i;
            phase(c);
        }
    };
    if constexpr (requires { Kernel::prepare(c); }) all([](const sinter::runtime::call& d) { Kernel::prepare(d); });
    all([](const sinter::runtime::call& d) { Kernel::run(d); });
    if constexpr (requires { Kernel::finish(c); }) all([](const sinter::runtime::call& d) { Kernel::finish(d); });
}

/// What a term of a sum loses: without fused multiply-add its product is rounded, too.
#if defined(__SSE2__) && !defined(__FMA__)
inline constexpr double lost_by_a_term = 9e-8;
#else
inline constexpr double lost_by_a_term = 6e-8;
#endif
/// Largest difference from the reference, as a multiple of what `terms` float products of numbers up to 1 may lose.
inline double error(const std::vector<float>& got, const std::vector<double>& want, double terms) {
    double worst = got.size() == want.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < got.size() && i < want.size(); ++i) {
        const double d = std::fabs(got[i] - want[i]);
        worst = d <= worst ? worst : d;   // a NaN counts as worst
        if (std::isnan(d)) return INFINITY;
    }
    return worst / (lost_by_a_term * (20 + terms));
}

}   // namespace conv_test
