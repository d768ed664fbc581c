// SPDX-License-Identifier: BSL-1.0
// How near the matrix kernels come to the machine's peak, measured in the same run, for the shapes
// of an MLP and a GPT.
#include <cstdio>
#include <cstring>
#include <string>

#include "measure.hpp"
#include <sinter/device/cpu/denormals.hpp>
#include <sinter/device/cpu/threads.hpp>
#include <sinter/kernel/cpu/math/math.hpp>
#include <sinter/kernel/cpu/copy/repack.hpp>
#include <sinter/kernel/cpu/gemm/dense/gemm.hpp>
#include <sinter/kernel/cpu/gemm/weight_gradient/gemm_tn.hpp>
#include <sinter/kernel/cpu/gemm/matmul.hpp>

namespace {
using namespace sinter;
using namespace sinter::base;
using namespace sinter::runtime;
using namespace sinter::cpu;
using std::int64_t;

/// Bodies as the compiler would generate them. p[2] is the result (the weights, where the body
/// updates them).
struct relu_body {
    SINTER_INLINE static void vector(vf a, int64_t off, int64_t, int col, const call& c) {
        store(c.p[2] + off, max(a + load(c.p[3] + col), zero()));
    }
    SINTER_INLINE static void vector(vf a, int n, int64_t off, int64_t, int col, const call& c) {
        store(c.p[2] + off, max(a + load(c.p[3] + col, n), zero()), n);
    }
};
struct store_body {
    SINTER_INLINE static void vector(vf a, int64_t off, int64_t, int, const call& c) { store(c.p[2] + off, a); }
    SINTER_INLINE static void vector(vf a, int n, int64_t off, int64_t, int, const call& c) {
        store(c.p[2] + off, a, n);
    }
};
template <class Update>
struct update_body {
    SINTER_INLINE static void vector(vf g, int64_t off, int64_t, int, const call& c) { Update::apply(g, off, c); }
    SINTER_INLINE static void vector(vf g, int, int64_t off, int64_t, int, const call& c) { Update::apply(g, off, c); }
};
struct sgd {
    SINTER_INLINE static void apply(vf g, int64_t off, const call& c) {
        store(c.p[2] + off, fma(splat(c.scalars[0]), g, load(c.p[2] + off)));
    }
};
template <bool Divider>
struct adam {
    SINTER_INLINE static void apply(vf g, int64_t off, const call& c) {
        vf m = load(c.p[3] + off), v = load(c.p[4] + off);
        const vf square = g * g;
        m = fma(splat(c.k[0]), m - g, g);
        v = fma(splat(c.k[1]), v - square, square);
        store(c.p[3] + off, m);
        store(c.p[4] + off, v);
        const vf d = fma(cpu::sqrt(v), splat(c.scalars[1]), splat(c.k[2])), u = Divider ? m / d : quotient(m, d);
        store(c.p[2] + off, fma(splat(c.scalars[0]), u, load(c.p[2] + off)));
    }
};
double peak;
std::string only;

void report(const char* name, double flops, bench::timing t) {
    if (flops > 0)
        std::printf(
            "{\"case\":\"%s\",\"us\":%.2f,\"us_fast\":%.2f,\"gflops\":%.1f,\"of_peak\":%.3f,\"of_peak_fast\":%.3f}\n",
            name, 1e6 * t.median, 1e6 * t.fast, flops / t.median / 1e9, flops / t.median / peak, flops / t.fast / peak);
    else
        std::printf("{\"case\":\"%s\",\"us\":%.3f,\"us_fast\":%.3f}\n", name, 1e6 * t.median, 1e6 * t.fast);
    std::fflush(stdout);
}
bool wanted(const char* name) { return std::strstr(name, only.c_str()) != nullptr; }

/// m x K x N on buffers of its own.
template <class Kernel>
void time_product(const char* name, int64_t m, int64_t K, int64_t N) {
    if (!wanted(name)) return;
    const int64_t n = std::max(panel_floats(K, N, lanes), m * std::max(N, K));
    bench::buffer a(n), b(n), y(n), s(n), v(n), scratch(2 * n + 32 * K);
    a.random(1), b.random(2), y.random(3), s.random(4);
    float* p[] = {a, b, y, s, v};
    const int64_t e[] = {K, N, K};
    const float k[] = {0.9f, 0.999f, 1e-8f}, scalars[] = {-1e-9f, 1.f};
    call c;
    c.p = p, c.k = k, c.scalars = scalars, c.scratch = scratch, c.m = static_cast<int>(m);
    report(name, 2.0 * static_cast<double>(m * K * N), bench::time_of([&] { bench::run_kernel<Kernel>(c, e); }));
}

/// The matrix work of one training step of 784-128-10, batch 64: what no loss or bias can speed up.
template <class Body>
void mlp_step(const char* name) {
    if (!wanted(name)) return;
    const int64_t m = 64, in = 784, hidden = 128, out = 10;
    bench::buffer x(m * in), h(m * hidden), z(m * 16), w1(in * hidden), m1(in * hidden), v1(in * hidden),
        w2(hidden * 16), m2(hidden * 16), v2(hidden * 16), t2(out * hidden), dh(m * hidden), bias(hidden);
    x.random(1), w1.random(2), w2.random(3), z.random(4);
    for (int64_t k = 0; k < hidden; ++k)   // padding is zero
        for (int64_t j = out; j < 16; ++j)
            if (j < round_up(out, lanes)) w2[panel_offset(hidden, out, k, j, panel_width, lanes)] = 0;
    const float k[] = {0.9f, 0.999f, 1e-8f}, scalars[] = {-1e-9f, 1.f};
    const auto launch = [&](auto kernel, std::initializer_list<float*> p, std::initializer_list<int64_t> e) {
        call c;
        c.p = p.begin(), c.k = k, c.scalars = scalars, c.m = static_cast<int>(m);
        bench::run_kernel<decltype(kernel)>(c, e);
    };
    const auto step = [&] {
        launch(gemm<relu_body>{}, {x, w1, h, bias}, {in, hidden, in});
        launch(gemm<store_body>{}, {h, w2, z}, {hidden, out, hidden});
        launch(transpose_panels{}, {w2, t2}, {hidden, out});
        launch(gemm<store_body>{}, {z, t2, dh}, {out, hidden, out});
        launch(gemm_tn<Body>{}, {h, z, w2, m2, v2}, {hidden, out});
        launch(gemm_tn<Body>{}, {x, dh, w1, m1, v1}, {in, hidden});
    };
    report(name, 2.0 * static_cast<double>(m * (2 * in * hidden + 3 * hidden * out)), bench::time_of(step));
}

template <class F>
void function(const char* name, F f, float low, float high) {
    if (!wanted(name)) return;
    bench::buffer x(4096), y(4096);
    for (int i = 0; i < 4096; ++i) x[i] = low + (high - low) * static_cast<float>(i) / 4096;
    bench::timing t = bench::time_of([&] {
        for (int i = 0; i < 4096; i += lanes) store(y + i, f(load(x + i)));
    });
    report(name, 0, {t.median / 256, t.fast / 256});
}
} // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--help") == 0) {
            std::puts("kernels [NAME]: times the cases whose name contains NAME, one JSON object a line.\n"
                      "us: median processor time of one call; us_fast: the fastest twentieth of the rounds, for\n"
                      "machines shared with others; of_peak: fraction of the multiply-add peak that this run\n"
                      "measured.\n"
                      "math cases: microseconds for 16 floats. Build: g++ -std=c++20 -O3 -march=native -Iinclude");
            return 0;
        }
        if (argv[i][0] == '-' || i > 1) {
            std::fprintf(stderr, "kernels: got %s, needed one NAME or --help\n", argv[i]);
            return 2;
        }
        only = argv[i];
    }
    const flush_denormals here;
    peak = bench::peak_flops();
    std::printf("{\"peak_gflops\":%.1f,\"lanes\":%d,\"registers\":%d}\n", peak / 1e9, lanes, registers);
    time_product<gemm<relu_body>>("forward 64x784x128 relu", 64, 784, 128);
    time_product<gemm_tn<store_body>>("dW 64x784x128 stored", 64, 784, 128);
    time_product<gemm_tn<update_body<sgd>>>("dW 64x784x128 sgd", 64, 784, 128);
    time_product<gemm_tn<update_body<adam<true>>>>("dW 64x784x128 adam", 64, 784, 128);
    time_product<gemm_tn<update_body<adam<false>>>>("dW 64x784x128 adam quotient", 64, 784, 128);
    time_product<gemm<relu_body>>("forward 64x128x10", 64, 128, 10);
    time_product<gemm<relu_body>>("dX 64x10x128", 64, 10, 128);
    time_product<gemm_tn<update_body<sgd>>>("dW 64x128x10 sgd", 64, 128, 10);
    mlp_step<update_body<sgd>>("mlp step sgd");
    mlp_step<update_body<adam<true>>>("mlp step adam");
    mlp_step<update_body<adam<false>>>("mlp step adam quotient");
    time_product<gemm<relu_body>>("forward 32x64x64", 32, 64, 64);
    time_product<gemm<relu_body>>("forward 1x784x128", 1, 784, 128);
    time_product<gemm<store_body>>("forward 512x128x384", 512, 128, 384);
    time_product<gemm<store_body>>("forward 512x128x512", 512, 128, 512);
    time_product<gemm<store_body>>("forward 512x512x128", 512, 512, 128);
    time_product<gemm<store_body>>("forward 64x3136x128", 64, 3136, 128);
    time_product<gemm_tn<update_body<sgd>>>("dW 512x128x512 sgd", 512, 128, 512);
    time_product<gemm_tn<update_body<sgd>>>("dW 512x512x128 sgd", 512, 512, 128);
    time_product<gemm_tn<update_body<sgd>>>("dW 64x3136x128 sgd", 64, 3136, 128);
    function("math exp", [](vf x) { return cpu::exp(x); }, -80, 80);
    function("math log", [](vf x) { return cpu::log(x); }, 0.01f, 80);
    function("math tanh", [](vf x) { return cpu::tanh(x); }, -4, 4);
    function("math sigmoid", [](vf x) { return cpu::sigmoid(x); }, -8, 8);
    function("math erf", [](vf x) { return cpu::erf(x); }, -3, 3);
    function("math reciprocal", [](vf x) { return cpu::reciprocal(x); }, 1, 3);
    if (wanted("barrier")) {
        team threads;
        bench::timing t = bench::time_of([&] {
            threads.run([&](int thread) { for (int i = 0; i < 100; ++i) threads.barrier(thread); });
        });
        report("barrier, all threads", 0, {t.median / 100, t.fast / 100});
    }
}
