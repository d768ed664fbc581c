// SPDX-License-Identifier: BSL-1.0
// peers: onednn
// Convolutions on the layers of nets, beside oneDNN's direct ones and those that it chooses itself,
// in turns. --help says more.
#include <memory>

#include <sinter/device/cpu.hpp>
#include <sinter/kernel/cpu/conv/conv_forward.hpp>
#include <sinter/kernel/cpu/conv/conv_input_gradient.hpp>
#include <sinter/kernel/cpu/conv/conv_pointwise.hpp>
#include <sinter/kernel/cpu/conv/conv_transpose_weights.hpp>
#include <sinter/kernel/cpu/conv/conv_weight_gradient.hpp>
#include <sinter/kernel/cpu/conv/pointwise_weight_gradient.hpp>
#include <sinter/kernel/cpu/conv_nd/convolution_results.hpp>
#include <sinter/kernel/cpu/conv_nd/convolution_weight_sums.hpp>
#include <sinter/kernel/cpu/conv_nd/depthwise_results.hpp>
#include <sinter/kernel/cpu/conv_nd/depthwise_weight_sums.hpp>
#include <sinter/kernel/cpu/gemm/tile.hpp>
#include <sinter/kernel/cpu/winograd/winograd.hpp>
#include <sinter/kernel/cpu/winograd/winograd_weight_gradient.hpp>
#include <sinter/kernel/panels.hpp>

#include "conv_contest.hpp"

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::cpu;
using bench::buffer;
using std::int64_t;

namespace {

bench::contest_settings settings{.seconds = 0.002, .rounds = 9};

/// What the compiler takes for a convolution where it does not take one by Winograd's filtering.
template <op_id K, int... X>
using chosen = typename nest<K, struct store_body, X..., 0>::type;

/// The result is stored: p[3] of every convolution.
struct store_body {
    static SINTER_INLINE void vector(vf v, int64_t off, int64_t, int, const call& c) { store(c.p[3] + off, v); }
    static SINTER_INLINE void vector(vf v, int n, int64_t off, int64_t, int, const call& c) {
        store(c.p[3] + off, v, n);
    }
    /// As the compiler's bodies: the lines that a tile writes, to be prefetched.
    template <class F>
    static SINTER_INLINE void each_line(int rows, int columns, int64_t off, int64_t off_step, const call& c, F f) {
        for (int i = 0; i < rows; ++i, off += off_step)
            for (int j = 0; j < columns; j += floats_a_line) f(c.p[3] + off + j, std::true_type{});
    }
    static SINTER_INLINE void prefetch(int rows, int columns, int64_t off, int64_t off_step, const call& c) {
        each_line(rows, columns, off, off_step, c,
                  [](const float* p, auto) SINTER_ALWAYS { __builtin_prefetch(p, 1); });
    }
};
template <class Kernel>
class kernel_run {
public:
    explicit kernel_run(int m) : m_(m), scratch_(floats() + 16) {}
    void operator()(std::initializer_list<float*> p) {
        call c;
        c.p = p.begin(), c.m = c.batch = m_, c.scratch = scratch_;
        Kernel::run(c);
        if constexpr (requires { Kernel::finish(c); })
            if (Kernel::phases == 2) Kernel::finish(c);
    }

private:
    static int64_t floats() {
        if constexpr (requires { Kernel::scratch(1); }) return Kernel::scratch(1);
        else return 0;
    }
    int m_;
    buffer scratch_;
};

/// The same for kernels that are told their extents: general ones, and those by Winograd's
/// filtering.
template <class Kernel>
class told_run {
public:
    told_run(std::vector<int64_t> extents, int m)
        : e_(std::move(extents)), m_(m), scratch_(Kernel::scratch(e_.data(), 1, m) + 16) {}
    void operator()(float* const* p) {
        call c;
        c.p = p, c.e = e_.data(), c.m = c.batch = m_, c.scratch = scratch_;
        if constexpr (requires { Kernel::prepare(c); }) Kernel::prepare(c);
        Kernel::run(c);
        if constexpr (requires { Kernel::finish(c); }) Kernel::finish(c);
    }

private:
    std::vector<int64_t> e_;
    int m_;
    buffer scratch_;
};
/// Outputs of a tile along each axis where programs take Winograd's filtering, else 0.
constexpr int winograd_tile(const shape& from, const shape& to, int K, int S, int m) {
    return winograd_choice{winograd::f4, lanes, cpu_device::target.parts, m}.tile(from, to, K, K, S);
}
/// Nothing for tiles of 0.
template <template <int, int> class Kernel, int Tile, int K>
std::function<void()> filtered(std::vector<int64_t> extents, int m, std::vector<float*> p) {
    if constexpr (Tile == 0) return {};
    else {
        auto kernel = std::make_shared<told_run<Kernel<Tile, K>>>(std::move(extents), m);
        return [kernel, p = std::move(p)] { (*kernel)(p.data()); };
    }
}
template <int M, int K>
using filtered_convolution = winograd_convolution<M, K, store_body>;
template <int M, int K>
using filtered_weight_gradient = winograd_weight_gradient<M, K, store_body>;

bool wanted(const char* name, const char* kind) {
    return settings.wanted(name, kind);
}

/// M images of H x W x CI to OH x OW x CO, by windows of KH x KW, S apart, PT and PL zeros before.
template <int M, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL>
void layer(const char* name, bool input_gradient = true) {
    if (!wanted(name, "forward") && !wanted(name, "dX") && !wanted(name, "dW")) return;
    constexpr int K = KH * KW * CI, behind_y = (OH - 1) * S + KH - H - PT, behind_x = (OW - 1) * S + KW - W - PL;
    const double flops = 2. * M * OH * OW * CO * K;
    const int64_t xs = int64_t{M} * H * W * CI, ys = int64_t{M} * OH * OW * CO;
    buffer x(xs + 64), y(ys + 64), w(int64_t{K} * CO), packed(panel_floats(K, CO, lanes));
    buffer result(std::max({xs, ys, packed.size()}) + 64);
    buffer t(conv_transpose_weights<CI, CO, KH, KW>::floats), theirs(result.size()), again(result.size());
    constexpr shape in = batch_of(H, W, CI), out = batch_of(OH, OW, CO);
    constexpr int there = KH == KW ? winograd_tile(in, out, KH, S, M) : 0,
                  back = KH == KW ? winograd_tile(out, in, KH, S, M) : 0;
    x.random(1), y.random(2), w.random(3);
    pack_panels(w, packed, K, CO, panel_width, lanes);
    bench::peer_layer p{
        {M, CI, H, W}, {M, CO, OH, OW}, {CO, CI, KH, KW}, {S, S}, {PT, PL}, {behind_y, behind_x}, {0, 0}, x, y, w};
    if (wanted(name, "forward")) {
        kernel_run<chosen<op::conv, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL>> forward(M);
        forward({x, packed, nullptr, result});
        p.at_y = theirs;
        const auto filter =
            filtered<filtered_convolution, there, KH>({H, W, CI, OH, OW, CO, PT, PL}, M, {x, packed, nullptr, again});
        bench::compete(name, "forward", flops, p, theirs, result, ys, [&] { forward({x, packed, nullptr, result}); },
                       filter, again, settings);
        p.at_y = y;
    }
    if (input_gradient && wanted(name, "dX")) {
        kernel_run<conv_transpose_weights<CI, CO, KH, KW>> transpose(M);
        transpose({packed, t});
        kernel_run<chosen<op::conv_input_gradient, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL>> gradient(M);
        gradient({y, t, nullptr, result});
        p.at_x = theirs;
        bench::compete(name, "dX", flops, p, theirs, result, xs, [&] { gradient({y, t, nullptr, result}); },
                       filtered<filtered_convolution, back, KH>({OH, OW, CO, H, W, CI, KH - 1 - PT, KW - 1 - PL}, M,
                                                                {y, t, nullptr, again}),
                       again, settings);
        p.at_x = x;
    }
    if (wanted(name, "dW")) {
        kernel_run<chosen<op::conv_weight_gradient, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL>> gradient(M);
        gradient({x, y, nullptr, result});
        buffer mine(w.size());
        unpack_panels(result, mine, K, CO, panel_width, lanes);
        p.at_w = theirs;
        const auto filter =
            filtered<filtered_weight_gradient, there, KH>({H, W, CI, OH, OW, CO, PT, PL}, M, {x, y, nullptr, again});
        buffer unpacked(w.size());
        if (filter) filter(), unpack_panels(again, unpacked, K, CO, panel_width, lanes);
        bench::compete(name, "dW", flops, p, theirs, mine, w.size(), [&] { gradient({x, y, nullptr, result}); },
                       filter, unpacked, settings);
    }
}

/// A convolution that the general kernels take: M images or (z longer than one) volumes, channels
/// and groups.
struct general_layer {
    const char* name;
    int M;
    sliding z, y, x;
    int CI, CO, groups = 1;
};
/// A window on one axis, padded on either side so that a stride of 1 keeps the extent.
sliding same(int extent, int k, int stride = 1, int dilation = 1) {
    return {extent, k, window{.stride = stride, .padding = padding::same, .dilation = dilation}, 2};
}

void general(const general_layer& l) {
    std::vector<int64_t> e(extent::count);
    convolution_extents c(e.data());
    c.axis[0] = l.z, c.axis[1] = l.y, c.axis[2] = l.x, c.inputs = l.CI, c.outputs = l.CO, c.groups = l.groups;
    c.write(e.data());
    const int64_t xs = l.M * c.in_pixels() * l.CI, ys = l.M * c.out_pixels() * l.CO, ws = int64_t{c.depth()} * l.CO;
    const double flops = 2. * static_cast<double>(ys * c.depth());
    buffer x(xs), y(ys), w(ws), result(std::max({xs, ys, ws})), theirs(result.size());
    x.random(1), y.random(2), w.random(3);
    bench::peer_layer p{{l.M, l.CI}, {l.M, l.CO}, {l.CO / l.groups, l.CI / l.groups}, {}, {}, {}, {}, x, y, w};
    if (l.groups > 1) p.w.insert(p.w.begin(), l.groups);
    for (int i = l.z.extent > 1 ? 0 : 1; i < 3; ++i) {
        const sliding& a = c.axis[i];
        p.x.push_back(a.extent), p.y.push_back(a.out), p.w.push_back(a.k);
        p.step.push_back(a.stride), p.holes.push_back(a.dilation - 1);
        p.before.push_back(a.before), p.behind.push_back((a.out - 1) * a.stride + a.reach() - a.extent - a.before);
    }
    const auto timed = [&]<class Kernel>(std::type_identity<Kernel>, const char* kind, int64_t m, float* left,
                                         float* right, float*& at, int64_t n) {
        if (!wanted(l.name, kind)) return;
        float* const operands[] = {left, right, nullptr, result};
        told_run<Kernel> kernel(e, static_cast<int>(m));
        kernel(operands);
        float* const own = std::exchange(at, theirs);
        bench::compete(l.name, kind, flops, p, theirs, result, n, [&] { kernel(operands); }, {}, nullptr, settings,
                       ",\"general\":true");
        at = own;
    };
    // As programs choose, by the width of a group's results.
    const auto chosen = [&]<op_id K>(std::integral_constant<op_id, K>, const char* kind, int width, int64_t m,
                                     float* left, float* right, float*& at, int64_t n) {
        if (c.depthwise())
            timed(std::type_identity<typename nest<K, store_body, 2>::type>{}, kind, m, left, right, at, n);
        else if (l.groups > 1 && width < convolution_extents::wide)
            timed(std::type_identity<typename nest<K, store_body, 1>::type>{}, kind, m, left, right, at, n);
        else timed(std::type_identity<typename nest<K, store_body, 0>::type>{}, kind, m, left, right, at, n);
    };
    chosen(std::integral_constant<op_id, op::convolution>{}, "forward", c.group_outputs(), l.M * c.out_pixels(), x, w,
           p.at_y, ys);
    chosen(std::integral_constant<op_id, op::convolution_input_gradient>{}, "dX", c.group_inputs(), l.M * c.in_pixels(),
           y, w, p.at_x, xs);
    chosen(std::integral_constant<op_id, op::convolution_weight_gradient>{}, "dW", c.group_outputs(), l.M, x, y, p.at_w,
           ws);
}

int all_layers() {
    layer<64, 28, 28, 1, 28, 28, 6, 5, 5, 1, 2, 2>("lenet conv1", false);
    layer<64, 14, 14, 6, 10, 10, 16, 5, 5, 1, 0, 0>("lenet conv2");
    layer<64, 28, 28, 1, 28, 28, 32, 3, 3, 1, 1, 1>("cnn conv1", false);
    layer<64, 14, 14, 32, 14, 14, 64, 3, 3, 1, 1, 1>("cnn conv2");
    layer<2, 224, 224, 3, 112, 112, 64, 7, 7, 2, 3, 3>("resnet 7x7 stride 2", false);
    layer<2, 56, 56, 64, 56, 56, 64, 3, 3, 1, 1, 1>("resnet 56x56x64");
    layer<2, 56, 56, 64, 28, 28, 128, 3, 3, 2, 1, 1>("resnet 56x56x64 stride 2");
    layer<2, 28, 28, 128, 28, 28, 128, 3, 3, 1, 1, 1>("resnet 28x28x128");
    layer<2, 14, 14, 256, 14, 14, 256, 3, 3, 1, 1, 1>("resnet 14x14x256");
    layer<4, 7, 7, 512, 7, 7, 512, 3, 3, 1, 1, 1>("resnet 7x7x512");
    layer<2, 56, 56, 256, 56, 56, 64, 1, 1, 1, 0, 0>("resnet 1x1 256 to 64");
    layer<2, 14, 14, 256, 14, 14, 1024, 1, 1, 1, 0, 0>("resnet 1x1 256 to 1024");
    layer<2, 27, 27, 64, 27, 27, 192, 5, 5, 1, 2, 2>("alexnet 5x5");
    layer<1, 112, 112, 64, 112, 112, 128, 3, 3, 1, 1, 1>("vgg 112x112x64");
    layer<8, 28, 28, 16, 28, 28, 32, 5, 5, 1, 2, 2>("googlenet 5x5");
    layer<8, 64, 64, 32, 64, 64, 3, 3, 3, 1, 1, 1>("decoder 64x64x32 to 3 colours");
    layer<8, 64, 64, 32, 64, 64, 1, 1, 1, 1, 0, 0>("mask 1x1 64x64x32 to 1");
    const sliding one(1, 1, window{}, 0);
    general({"mobilenet depthwise 56x56x128", 2, one, same(56, 3), same(56, 3), 128, 128, 128});
    general({"mobilenet depthwise 56x56x128 stride 2", 2, one, same(56, 3, 2), same(56, 3, 2), 128, 128, 128});
    general({"mobilenet depthwise 14x14x512", 8, one, same(14, 3), same(14, 3), 512, 512, 512});
    general({"efficientnet depthwise 5x5 28x28x240", 2, one, same(28, 5), same(28, 5), 240, 240, 240});
    general({"resnext 56x56x128, 32 groups", 2, one, same(56, 3), same(56, 3), 128, 128, 32});
    general({"resnext 14x14x512, 32 groups", 4, one, same(14, 3), same(14, 3), 512, 512, 32});
    general({"deeplab 28x28x256 dilated", 2, one, same(28, 3, 1, 2), same(28, 3, 1, 2), 256, 256});
    general({"deep speech 11x21 stride 1x2", 2, one, same(50, 11), same(81, 21, 2), 32, 32});
    general({"wavenet 4000x64 dilated", 1, one, one, same(4000, 2, 1, 64), 64, 64});
    general({"c3d 8x28x28x64", 1, same(8, 3), same(28, 3), same(28, 3), 64, 128});
    return 0;
}

constexpr const char* help =
    "conv_peers [--layer TEXT] [--kind TEXT] [--rounds N] [--seconds S]\n\n"
    "Times Sinter's convolutions beside oneDNN's direct ones and those that oneDNN chooses (auto), on one thread, in\n"
    "turns, and prints a JSON line for each layer and kind (forward, dX, dW); where programs take Winograd's\n"
    "filtering that is timed, too, and is what peers are compared with: microseconds (median of N rounds of S\n"
    "seconds, default 9 of 0.002), the fraction of the multiply-add peak measured between them, counting all dense\n"
    "products, padding included, and the best peer's time over Sinter's. Results are compared first. oneDNN's\n"
    "operands all lie as it asks for; Sinter's weights too.";

} // namespace

int main(int argc, char** argv) { return bench::contest_main(argc, argv, help, settings, all_layers); }
