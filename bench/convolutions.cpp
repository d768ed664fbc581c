// SPDX-License-Identifier: BSL-1.0
// Convolution kernels on the layers of two small nets and of a residual net: GFLOP/s, counting the
// dense direct work with padded taps, and the fraction of the multiply-add peak measured in the
// same run. --help says more.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <sinter/kernel/cpu/conv/conv_forward.hpp>
#include <sinter/kernel/cpu/conv/conv_input_gradient.hpp>
#include <sinter/kernel/cpu/conv/conv_pointwise.hpp>
#include <sinter/kernel/cpu/conv/conv_transpose_weights.hpp>
#include <sinter/kernel/cpu/conv/conv_weight_gradient.hpp>
#include <sinter/kernel/cpu/conv_pool/conv_max_pool_forward.hpp>
#include <sinter/kernel/cpu/conv_pool/conv_pooled_input_gradient.hpp>
#include <sinter/kernel/cpu/conv_pool/conv_pooled_weight_gradient.hpp>

#include "measure.hpp"
#include "options.hpp"

using namespace sinter::cpu;
using sinter::runtime::call;
using sinter::bench::buffer;
using sinter::bench::timing;

namespace {

std::string only;
int batch = 64;
double peak = 0;   // operations a second

void report(const std::string& layer, const char* kernel, double flops, timing t) {
    std::printf("{\"layer\":\"%s\",\"kernel\":\"%s\",\"us\":%.1f,\"fast_us\":%.1f,\"gflops\":%.1f,\"peak_gflops\":%.1f,"
                "\"of_peak\":%.3f,\"fast_of_peak\":%.3f}\n",
                layer.c_str(), kernel, t.median * 1e6, t.fast * 1e6, flops / t.median * 1e-9, peak * 1e-9,
                flops / t.median / peak, flops / t.fast / peak);
    std::fflush(stdout);
}

/// What follows a layer in these nets, without the arithmetic: results are stored.
struct store_raw {
    static SINTER_INLINE void vector(vf v, std::int64_t off, std::int64_t, int, const call& c) {
        store(c.p[3] + off, v);
    }
    static SINTER_INLINE void vector(vf v, int n, std::int64_t off, std::int64_t, int, const call& c) {
        store(c.p[3] + off, v, n);
    }
};
template <sinter::op_id K, int... X>
using chosen = typename nest<K, store_raw, X..., 0>::type;

/// Bias and relu as well.
struct store_relu {
    static SINTER_INLINE void vector(vf v, std::int64_t off, std::int64_t, int col, const call& c) {
        store(c.p[3] + off, max(v + load(c.p[4] + col), zero()));
    }
    static SINTER_INLINE void vector(vf v, int n, std::int64_t off, std::int64_t, int col, const call& c) {
        store(c.p[3] + off, max(v + load(c.p[4] + col), zero()), n);
    }
};

template <class Kernel>
timing time_kernel(std::vector<float*> p, int m) {
    std::int64_t floats = 16;
    if constexpr (requires { Kernel::scratch(1); }) floats += Kernel::scratch(1);
    else floats += Kernel::scratch(nullptr, 1, m);
    buffer scratch(floats);
    call c;
    c.p = p.data();
    c.m = c.batch = m;
    c.scratch = scratch;
    return sinter::bench::time_of(
        [&] {
            if constexpr (requires { &Kernel::prepare; }) Kernel::prepare(c);
            Kernel::run(c);
            if (Kernel::phases == 2) Kernel::finish(c);
        },
        0.002, 41);
}

template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P = 0>
void layer(const char* name, int m) {
    if (!std::strstr(name, only.c_str())) return;
    peak = sinter::bench::peak_flops();
    const double flops = 2. * m * OH * OW * CO * KH * KW * CI;
    const std::string n = name;
    buffer x(std::int64_t{m} * H * W * CI), y(std::int64_t{m} * OH * OW * CO), b(CO + lanes);
    buffer w(sinter::runtime::panel_floats(KH * KW * CI, CO, lanes)), dw(w.size());
    buffer t(conv_transpose_weights<CI, CO, KH, KW>::floats);
    x.random(1), y.random(2), b.random(3), w.random(4), t.random(5);
    if constexpr (P == 0) {
        using forward = chosen<sinter::op::conv, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL>;
        using input_gradient = chosen<sinter::op::conv_input_gradient, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL>;
        using weight_gradient = chosen<sinter::op::conv_weight_gradient, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL>;
        report(n, "forward", flops, time_kernel<forward>({x, w, nullptr, y}, m));
        report(n, "transpose_weights", 0, time_kernel<conv_transpose_weights<CI, CO, KH, KW>>({w, t}, m));
        if (CI > 1) report(n, "input_gradient", flops, time_kernel<input_gradient>({y, t, nullptr, x}, m));
        report(n, "weight_gradient", flops, time_kernel<weight_gradient>({x, y, nullptr, dw}, m));
    } else {
        using forward = conv_max_pool_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, store_relu>;
        using input_gradient = conv_pooled_input_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, store_raw>;
        using weight_gradient = conv_pooled_weight_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, store_raw>;
        const std::int64_t pooled = std::int64_t{m} * (OH / P) * (OW / P) * CO;
        buffer d(pooled), winners(pooled / 4 + 16), chance(pooled);
        chance.random(6);
        report(n, "max_pool_forward", flops, time_kernel<forward>({x, w, winners, y, b}, m));
        for (float alive : {0.65f, 1.f}) {
            d.random(7);
            for (std::int64_t i = 0; i < pooled; ++i)
                if (chance[i] > 2 * alive - 1) d[i] = 0;
            const std::string s = n + (alive < 1 ? ", 65 % alive" : ", all alive");
            report(s, "pooled_weight_gradient", flops, time_kernel<weight_gradient>({x, d, winners, dw}, m));
            if (CI > 1) report(s, "pooled_input_gradient", flops, time_kernel<input_gradient>({d, t, winners, x}, m));
        }
    }
}

int all_layers() {
    layer<28, 28, 1, 28, 28, 6, 5, 5, 1, 2, 2>("lenet conv1", batch);
    layer<28, 28, 1, 28, 28, 6, 5, 5, 1, 2, 2, 2>("lenet conv1 pooled", batch);
    layer<14, 14, 6, 10, 10, 16, 5, 5, 1, 0, 0>("lenet conv2", batch);
    layer<14, 14, 6, 10, 10, 16, 5, 5, 1, 0, 0, 2>("lenet conv2 pooled", batch);
    layer<28, 28, 1, 28, 28, 32, 3, 3, 1, 1, 1>("cnn conv1", batch);
    layer<28, 28, 1, 28, 28, 32, 3, 3, 1, 1, 1, 2>("cnn conv1 pooled", batch);
    layer<14, 14, 32, 14, 14, 64, 3, 3, 1, 1, 1>("cnn conv2", batch);
    layer<14, 14, 32, 14, 14, 64, 3, 3, 1, 1, 1, 2>("cnn conv2 pooled", batch);
    layer<56, 56, 64, 56, 56, 64, 3, 3, 1, 1, 1>("resnet 56x56x64", std::max(1, batch / 32));
    layer<56, 56, 64, 28, 28, 128, 3, 3, 2, 0, 0>("resnet 56x56x64 stride 2", std::max(1, batch / 32));
    layer<7, 7, 512, 7, 7, 512, 3, 3, 1, 1, 1>("resnet 7x7x512", std::max(1, batch / 16));
    layer<56, 56, 256, 56, 56, 64, 1, 1, 1, 0, 0>("resnet 1x1 256 to 64", std::max(1, batch / 32));
    return 0;
}

constexpr const char* help =
    "convolutions [--batch N] [--layer TEXT]\n\n"
    "Times the CPU's convolution kernels on one thread and prints a JSON line for each: microseconds a call\n"
    "(median of CPU time, and the twentieth part from below), GFLOP/s counting all dense products, padding included,\n"
    "and the fraction of the multiply-add peak measured just before. Kernels that skip zeros can exceed 1.\n\n"
    "  --batch N     images (default 64)\n  --layer TEXT  only layers whose name contains TEXT";

}   // namespace

int main(int argc, char** argv) {
    auto take = [](const std::string& name, const std::string& value) {
        if (name == "--batch") batch = sinter::bench::number(name, value, 1, 1 << 20);
        else if (name == "--layer") only = value;
        else return false;
        return true;
    };
    return sinter::bench::with_options(argc, argv, help, take, all_layers);
}
