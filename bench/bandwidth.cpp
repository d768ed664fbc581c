// SPDX-License-Identifier: BSL-1.0
// Elementwise chains, rows' reductions and optimizers' sweeps as the compiler makes kernels of
// them, beside a plain copy at each level of memory, measured in turns. --help says more.
#include <unistd.h>

#include <fstream>

#include <sinter/device/cpu.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>

#include "lone_launch.hpp"
#include "options.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::runtime;

namespace {

constexpr int columns = 512;
std::string only, only_level;
double seconds = 0.0005;
int rounds = 11;

struct level {
    const char* name;
    std::int64_t bytes;   ///< of all arrays together
};
std::int64_t cache(int name, std::int64_t otherwise) {
    const long n = sysconf(name);
    return n > 0 ? n : otherwise;
}
/// Of the third-level cache that this core has a share in: sysconf may tell of all such caches of
/// the machine together.
std::int64_t third_level() {
    std::int64_t kilobytes = 0;
    std::ifstream("/sys/devices/system/cpu/cpu0/cache/index3/size") >> kilobytes;
    return kilobytes > 0 ? kilobytes << 10 : cache(_SC_LEVEL3_CACHE_SIZE, 16 << 20);
}
/// Half of the first two caches, an eighth of the third (others may use it, too), and what fits
/// into none.
std::vector<level> levels() {
    const std::int64_t third = third_level();
    return {{"L1", cache(_SC_LEVEL1_DCACHE_SIZE, 32 << 10) / 2}, {"L2", cache(_SC_LEVEL2_CACHE_SIZE, 512 << 10) / 2},
            {"L3", third / 8}, {"memory", std::min<std::int64_t>(4 * third, 256 << 20)}};
}

__attribute__((noinline)) void copy(const float* from, float* to, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += cpu::lanes) cpu::store(to + i, cpu::load(from + i));
    asm volatile("" ::: "memory");
}

/// A program's kernels, one after the other: each has arrays of its own.
template <class P, class>
struct all_of;
template <class P, int... L>
struct all_of<P, std::integer_sequence<int, L...>> : bench::lone_launch<P, L>... {
    static constexpr int arrays = std::max({bench::lone_launch<P, L>::arrays...});
    explicit all_of(std::int64_t n) : bench::lone_launch<P, L>(n)... {}
    void run() { (bench::lone_launch<P, L>::run(), ...); }
};

/// Times kernels and a copy in turns; prints a line for each level. `moved`: arrays read and
/// written, each once.
template <class Kernel>
void measure(const std::string& name, int moved) {
    if (name.find(only) == std::string::npos) return;
    for (const level& at : levels()) {
        if (std::string(at.name).find(only_level) == std::string::npos) continue;
        const auto floats = [&](int arrays) {
            return std::max<std::int64_t>(at.bytes / 4 / arrays / columns, 1) * columns;
        };
        const std::int64_t n = floats(Kernel::arrays), copied = floats(2);
        const double bytes = 4. * moved * static_cast<double>(n);
        Kernel k(n);
        bench::buffer both(2 * copied + 640);   // places in a page as lone_launch has them
        float *const from = both, *const to = both + copied + 640;
        both.random(1);
        std::vector<double> ours, theirs;
        for (int r = 0; r < rounds; ++r) {
            ours.push_back(bytes / bench::time_of([&] { k.run(); }, seconds, 1).median / 1e9);
            const double t = bench::time_of([&] { copy(from, to, copied); }, seconds, 1).median;
            theirs.push_back(8. * static_cast<double>(copied) / t / 1e9);
        }
        const auto middle = [](std::vector<double>& v) { return std::sort(v.begin(), v.end()), v[v.size() / 2]; };
        const double gbs = middle(ours), of = middle(theirs);
        std::printf("{\"case\":\"%s\",\"level\":\"%s\",\"bytes\":%lld,\"gbs\":%.1f,\"gbs_best\":%.1f,\"copy_gbs\":%.1f,"
                    "\"of_copy\":%.3f,\"ns_per_vector\":%.2f}\n",
                    name.c_str(), at.name, static_cast<long long>(at.bytes), gbs, ours.back(), of, gbs / of,
                    4. * cpu::lanes * moved / gbs);
        std::fflush(stdout);
    }
}

/// A net's prediction: all its kernels.
template <class Net>
void net(const std::string& name, Net, int moved) {
    using P = compiled<request<Net, no_loss, sgd, program_mode::prediction, 1, cpu_device::target, program_options{}>>;
    measure<all_of<P, std::make_integer_sequence<int, P::v.n_launches>>>(name, moved);
}
template <class F>
void one(const char* name, F f) { net(name, array<columns> >> f, 2); }
template <class F>
void two(const char* name, F f) { net(name, inputs(array<columns>, array<columns>) >> f, 3); }
/// An optimizer's sweep over parameters and stored gradients.
template <class Optimizer>
void sweep(const char* name, Optimizer) {
    constexpr auto net = array<columns> >> [](tensor x) { return x * parameter(x, "w", extents(columns), ones); };
    using P = compiled<request<std::remove_const_t<decltype(net)>, mse_loss, Optimizer, program_mode::training, 1,
                               cpu_device::target, program_options{.store_gradients = true}>>;
    using kernel = bench::lone_launch<P, P::v.n_launches - 1>;   // the optimizer's comes last
    measure<kernel>(name, kernel::moved);
}

int all_cases() {
    two("add", [](tensor a, tensor b) { return a + b; });
    one("relu", [](tensor x) { return ops::relu(x); });
    two("chain of eight",
        [](tensor a, tensor b) { return ops::relu((a * b + a) * 0.5f - b) * a + ops::maximum(a, b) * 0.1f; });
    one("exp", [](tensor x) { return ops::exp(x); });
    one("expm1", [](tensor x) { return ops::expm1(x); });
    one("log", [](tensor x) { return ops::log(x); });
    one("log1p", [](tensor x) { return ops::log1p(x); });
    one("tanh", [](tensor x) { return ops::tanh(x); });
    one("sigmoid", [](tensor x) { return ops::sigmoid(x); });
    one("softplus", [](tensor x) { return ops::softplus(x); });
    one("erf", [](tensor x) { return ops::erf(x); });
    one("erfc", [](tensor x) { return ops::erfc(x); });
    one("gelu", [](tensor x) { return ops::gelu(x); });
    one("gelu_tanh", [](tensor x) { return ops::gelu_tanh(x); });
    one("silu", [](tensor x) { return ops::silu(x); });
    one("sin", [](tensor x) { return ops::sin(x); });
    two("pow", [](tensor a, tensor b) { return ops::pow(a, b); });
    one("lgamma", [](tensor x) { return ops::lgamma(x); });
    one("softmax", [](tensor x) { return ops::softmax(x); });
    two("softmax backward", [](tensor y, tensor d) { return y * (d - sum(y * d, {-1}, keep::yes)); });
    one("layer_norm", [](tensor x) { return layer_norm(x); });
    two("layer_norm backward", [](tensor x, tensor d) { return ops::gradient(layer_norm(x) * d, x); });
    sweep("sgd", sgd{});
    sweep("momentum", momentum{});
    sweep("adam", adam{});
    return 0;
}

constexpr const char* help =
    "bandwidth [--case TEXT] [--level TEXT] [--rounds N] [--seconds S]\n\n"
    "Runs kernels that do little more than read and write, one each of a compiled program, on one thread, on arrays\n"
    "that take half of L1, half of L2, an eighth of L3 and more than any cache, in turns with a copy by vectors of\n"
    "the same size. A JSON line for each: GB/s (arrays read and written, each once) as the median of N rounds\n"
    "(default 11) of S seconds (default 0.0005), the best round's, the copy's median, and the fraction of it.\n\n"
    "  --case TEXT    only cases whose name contains TEXT\n  --level TEXT   only L1, L2, L3 or memory";

} // namespace

int main(int argc, char** argv) {
    const flush_denormals here;
    auto take = [](const std::string& name, const std::string& value) {
        if (name == "--case") only = value;
        else if (name == "--level") only_level = value;
        else if (name == "--rounds") rounds = bench::number(name, value, 1, 1000);
        else if (name == "--seconds") seconds = bench::number(name, value, 1e-6, 10.);
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, all_cases);
}
