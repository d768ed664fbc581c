// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/gemm/tile.hpp>
#include <sinter/kernel/cpu/vector/simd.hpp>
#include <sinter/kernel/panels.hpp>
#include <sinter/compiler/emit/instruction.hpp>

/// What the tests of matrix kernels share.
namespace sinter::test {
using namespace compiler;
using namespace runtime;

using floats = std::vector<float>;

inline floats random_floats(std::size_t n, unsigned seed) {
    std::mt19937 bits(seed);
    std::uniform_real_distribution<float> range(-1.f, 1.f);
    floats v(n);
    for (float& x : v) x = range(bits);
    return v;
}

/// Stores the raw sums and notes the row and column of each, so that a test sees who was called for what.
struct store_body {
    static void vector(cpu::vf acc, std::int64_t off, std::int64_t row, int col, const call& c) {
        vector(acc, cpu::lanes, off, row, col, c);
    }
    static void vector(cpu::vf acc, int n, std::int64_t off, std::int64_t row, int col, const call& c) {
        cpu::store(c.p[2] + off, acc, n);
        for (int i = 0; i < n; ++i) {
            c.p[3][off + i] = static_cast<float>(row);
            c.p[4][off + i] = static_cast<float>(col + i);
            c.p[5][off + i] += 1;   // how often
        }
    }
};

/// The same, as programs' bodies are handed tiles of small products: in registers.
struct tile_body : store_body {
    static constexpr int size = 1, sums = 0;
    template <int MR, int NR>
    static void tile(const cpu::vf* s, std::int64_t off, std::int64_t off_step, std::int64_t row, int col,
                     const call& c) {
        for (int i = 0; i < MR; ++i)
            for (int j = 0; j < NR; ++j)
                vector(s[i * NR + j], off + i * off_step + j * cpu::lanes, row + i, col + j * cpu::lanes, c);
    }
};

/// The same, of so many words that a tile is finished while the next one is summed.
struct long_body : store_body {
    static constexpr int size = 20, sums = 0;
};

/// Results of a kernel: values, rows, columns and visits, each of n floats.
struct outcome {
    floats value, row, col, visits;
    bool operator==(const outcome& o) const {
        return std::memcmp(value.data(), o.value.data(), value.size() * sizeof(float)) == 0 && row == o.row &&
               col == o.col && visits == o.visits;
    }
};

/// `threads`: each is told which parts are its own; 0: they are not.
template <class Kernel>
outcome run(floats a, floats b, std::size_t n, std::vector<std::int64_t> e, int m, int parts, int threads = 0,
            bool first_iteration = false) {
    outcome r{floats(n, -7.f), floats(n), floats(n), floats(n)};
    float* p[] = {a.data(), b.data(), r.value.data(), r.row.data(), r.col.data(), r.visits.data()};
    call c;
    c.p = p;
    e.resize(extent::count);
    c.e = e.data();
    c.m = m;
    c.batch = 1;
    c.first_iteration = first_iteration;
    c.parts = parts;
    floats scratch;
    if constexpr (requires { Kernel::scratch(c.e, parts, c.m); }) {
        scratch.assign(static_cast<std::size_t>(Kernel::scratch(c.e, parts, c.m)),
                       std::numeric_limits<float>::quiet_NaN());
        c.scratch = scratch.data();
    }
    if constexpr (requires { Kernel::prepare(c); })
        for (c.part = parts - 1; c.part >= 0; --c.part) Kernel::prepare(c);
    for (int t = 0; t < threads; ++t) {
        c.first = static_cast<int>(share(parts, t, threads));
        c.end = static_cast<int>(share(parts, t + 1, threads));
        for (c.part = c.first; c.part < c.end; ++c.part) Kernel::run(c);
    }
    for (c.part = parts - 1; !threads && c.part >= 0; --c.part) Kernel::run(c);
    return r;
}

/// A plain product in double: sum over t of a(i, t) * b(t, j).
template <class A, class B>
double dot(std::int64_t depth, A a, B b) {
    double s = 0;
    for (std::int64_t t = 0; t < depth; ++t) s += static_cast<double>(a(t)) * static_cast<double>(b(t));
    return s;
}

/// What a float sum of `depth` products of numbers up to 1 may be off.
inline double tolerance(std::int64_t depth) { return 1e-7 * (8 + 4 * static_cast<double>(depth)); }

} // namespace sinter::test
