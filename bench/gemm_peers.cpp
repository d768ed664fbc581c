// SPDX-License-Identifier: BSL-1.0
// peers: openblas onednn
// Matrix products on the shapes of nets, beside OpenBLAS and oneDNN in the same process, in turns.
// --help says more.
#include <cblas.h>

#include <memory>

#include <sinter/kernel/cpu/copy/repack.hpp>
#include <sinter/kernel/cpu/gemm/dense/gemm.hpp>
#include <sinter/kernel/cpu/gemm/weight_gradient/gemm_tn.hpp>
#include <sinter/kernel/cpu/gemm/matmul.hpp>
#include <sinter/compiler/passes/transposed_weights.hpp>

#include "contest.hpp"
#include "onednn.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::runtime;
using bench::buffer;
using std::int64_t;

namespace {

bench::contest_settings settings{.seconds = 0.0005, .rounds = 15};

/// The result is stored: p[2] of every product.
struct store_body {
    SINTER_INLINE static void vector(cpu::vf a, int64_t off, int64_t, int, const call& c) {
        cpu::store(c.p[2] + off, a);
    }
    SINTER_INLINE static void vector(cpu::vf a, int n, int64_t off, int64_t, int, const call& c) {
        cpu::store(c.p[2] + off, a, n);
    }
    /// What bodies of programs have: without these their tiles would be finished by way of memory.
    static constexpr int size = 1, sums = 0, stores = 1;
    template <int MR, int NR>
    SINTER_INLINE static void tile(const cpu::vf* a, int64_t off, int64_t off_step, int64_t, int, const call& c) {
        cpu::unroll<NR>([&](auto j) SINTER_ALWAYS {
            cpu::unroll<MR>(
                [&](int i) SINTER_ALWAYS { cpu::store(c.p[2] + off + i * off_step + j * cpu::lanes, a[i * NR + j]); });
        });
    }
    static void prefetch(int rows, int columns, int64_t off, int64_t off_step, const call& c) {
        if (off_step == columns) columns *= rows, rows = 1;
        for (int i = 0; i < rows; ++i, off += off_step)
            for (int j = 0; j < columns; j += cpu::floats_a_line) __builtin_prefetch(c.p[2] + off + j, 1);
    }
};
template <class Kernel>
void launch(std::initializer_list<float*> p, std::initializer_list<int64_t> e, int64_t m) {
    call c;
    c.p = p.begin(), c.m = static_cast<int>(m);
    bench::run_kernel<Kernel>(c, e);
}

/// C[M][N] = op(A) op(B); a transposed operand lies as its transpose, row-major.
struct plain_product {
    bool ta, tb;
    int64_t M, N, K;
    float *a, *b, *c;

    void openblas() const {
        const auto i = [](int64_t n) { return static_cast<blasint>(n); };
        cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, i(M), i(N), i(K),
                    1.f, a, i(ta ? M : K), b, i(tb ? K : N), 0.f, c, i(N));
    }
    /// `packed`: B may lie as the primitive likes, as a layer's weights may.
    bench::onednn::function onednn(bool packed) const {
        using namespace bench::onednn;
        const desc da({M, K}, f32, ta ? dims{1, M} : dims{K, 1}), db({K, N}, f32, tb ? dims{1, K} : dims{N, 1});
        const desc dc({M, N}, f32, dims{N, 1});
        const desc any({K, N}, f32, tag::any);
        const dnnl::matmul::primitive_desc p({da, packed ? any : db, dc}, engine());
        return {dnnl::matmul(p),
                {{DNNL_ARG_SRC, {da, a, da}},
                 {DNNL_ARG_WEIGHTS, {db, b, p.weights_desc()}},
                 {DNNL_ARG_DST, {dc, c, dc}}},
                DNNL_ARG_DST};
    }
};

bool wanted(const std::string& layer, const std::string& kind) {
    return settings.wanted(layer, kind);
}
/// `ours` puts its result where `result` says, row-major [M][N].
void compete(const std::string& layer, const std::string& kind, const plain_product& q, bool weights,
             std::vector<bench::contestant> ours, const std::function<void(float*)>& result) {
    const auto number = [](const char* name, int64_t n) {
        return std::string(",\"") + name + "\":" + std::to_string(n);
    };
    const std::string facts = "\"layer\":\"" + layer + "\",\"kind\":\"" + kind + "\"" + number("m", q.M) +
                              number("n", q.N) + number("k", q.K);
    buffer mine(q.M * q.N);
    ours[0].run();
    result(mine);
    bench::onednn::function plain = q.onednn(false), packed = q.onednn(weights);
    std::fill(q.c, q.c + q.M * q.N, 0.f);
    q.openblas();
    bench::expect_equal("OpenBLAS", facts, q.c, mine, q.M * q.N);
    packed();
    packed.get();
    bench::expect_equal("oneDNN", facts, q.c, mine, q.M * q.N);
    ours.push_back({"openblas", [&] { q.openblas(); }});
    ours.push_back({"onednn", [&] { plain(); }});
    if (weights) ours.push_back({"onednn_packed", [&] { packed(); }});
    bench::contest(facts, 2. * static_cast<double>(q.M * q.N * q.K), ours, settings.seconds, settings.rounds);
}

/// A dense layer of m rows, K inputs and N outputs: forward, gradient of the input (its weights
/// transposed before, and within the time), gradient of the weights.
void layer(const std::string& name, int64_t m, int64_t K, int64_t N, bool input_gradient = true) {
    if (!wanted(name, "forward") && !wanted(name, "dX") && !wanted(name, "dW")) return;
    const int lanes = cpu::lanes, width = cpu::panel_width;
    buffer x(m * K), d(m * N), w(K * N), packed(panel_floats(K, N, lanes)), transposed(panel_floats(N, K, lanes));
    buffer y(m * N + 64), dx(m * K + 64), dw(packed.size());
    x.random(1), d.random(2), w.random(3);
    pack_panels(w, packed, K, N, width, lanes);
    const auto transpose = [&] { launch<cpu::transpose_panels>({packed, transposed}, {K, N}, 0); };
    const auto copied = [](float* from, int64_t n) { return [from, n](float* to) { std::copy(from, from + n, to); }; };
    transpose();
    buffer result(std::max({m * N, m * K, K * N}));
    if (wanted(name, "forward"))
        compete(name, "forward", {false, false, m, N, K, x, w, result}, true,
                {{"sinter", [&] { launch<cpu::gemm<store_body>>({x, packed, y}, {K, N, K}, m); }}}, copied(y, m * N));
    if (input_gradient && wanted(name, "dX")) {
        const auto product = [&] { launch<cpu::gemm<store_body>>({d, transposed, dx}, {N, K, N}, m); };
        compete(name, "dX", {false, true, m, K, N, d, w, result}, true, {{"sinter", product}}, copied(dx, m * K));
        const auto turning = [&] {   // as programs do
            if (transposes_weights(m, K * N)) launch<cpu::gemm<store_body>>({d, packed, dx}, {N, K, N, 1}, m);
            else transpose(), product();
        };
        compete(name, "dX, transposing", {false, true, m, K, N, d, w, result}, false, {{"sinter", turning}},
                copied(dx, m * K));
    }
    if (wanted(name, "dW"))
        compete(name, "dW", {true, false, K, N, m, x, d, result}, false,
                {{"sinter", [&] { launch<cpu::gemm_tn<store_body>>({x, d, dw}, {K, N}, m); }}},
                [&](float* to) { unpack_panels(dw, to, K, N, width, lanes); });
}

/// Plain matrices, as attention multiplies them.
template <bool TA, bool TB>
void matrices(const std::string& name, int64_t M, int64_t N, int64_t K) {
    const std::string kind = std::string("A") + (TA ? "^T" : "") + " B" + (TB ? "^T" : "");
    if (!wanted(name, kind)) return;
    buffer a(M * K), b(K * N), c(M * N), result(M * N);
    a.random(1), b.random(2);
    const auto product = [&] {
        launch<cpu::matmul<TA, TB, store_body>>({a, b, c}, {M, N, K, 0, 0, TA ? M : K, TB ? K : N, 1}, 1);
    };
    compete(name, kind, {TA, TB, M, N, K, a, b, result}, false, {{"sinter", product}},
            [&](float* to) { std::copy(c + 0, c + M * N, to); });
}
void all_four(const std::string& name, int64_t M, int64_t N, int64_t K) {
    matrices<false, false>(name, M, N, K);
    matrices<false, true>(name, M, N, K);
    matrices<true, false>(name, M, N, K);
    matrices<true, true>(name, M, N, K);
}

int all_layers() {
    layer("mlp 784-128", 64, 784, 128, false);
    layer("mlp 128-10", 64, 128, 10);
    layer("cnn 3136-128", 64, 3136, 128);
    layer("gpt qkv", 512, 128, 384);
    layer("gpt projection", 512, 128, 128);
    layer("gpt fc", 512, 128, 512);
    layer("gpt fc projection", 512, 512, 128);
    layer("gpt head", 512, 128, 65);
    layer("lstm input", 1024, 256, 1024);
    layer("lstm step", 32, 256, 1024);
    layer("resnet-18 fc", 8, 512, 1000);
    layer("resnet-50 fc", 8, 2048, 1000);
    layer("alexnet fc6", 16, 9216, 4096);
    layer("vgg fc7", 8, 4096, 4096);
    layer("vgg fc8", 8, 4096, 1000);
    all_four("attention 64x64x32", 64, 64, 32);
    all_four("attention 64x32x64", 64, 32, 64);
    all_four("square 512", 512, 512, 512);
    return 0;
}

constexpr const char* help =
    "gemm_peers [--layer TEXT] [--kind TEXT] [--rounds N] [--seconds S]\n\n"
    "Times Sinter's matrix products beside OpenBLAS and oneDNN on one thread, in turns, and prints a JSON line for\n"
    "each layer and kind of product: microseconds (median of N rounds of S seconds, default 15 of 0.0005), the\n"
    "fraction of the multiply-add peak that was measured between them, and the best peer's time over Sinter's.\n"
    "Results are compared first. onednn_packed: its weights lie as it asks for, packed outside of the time; so do\n"
    "Sinter's, but for \"dX, transposing\".";

} // namespace

int main(int argc, char** argv) { return bench::contest_main(argc, argv, help, settings, all_layers); }
