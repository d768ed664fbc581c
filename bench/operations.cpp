// SPDX-License-Identifier: BSL-1.0
// Ops by themselves, for bench/peers/pytorch_operations.py to be compared with: a batch through
// each, and through it and its gradient.
#include <cmath>
#include <cstdio>

#include <sinter/data/transform/batch.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/ops.hpp>
#include <sinter/train/predictor.hpp>

#include "measure.hpp"
#include "options.hpp"

using namespace sinter;

namespace {

constexpr const char* help =
    "operations [--op NAME] [--rounds N] [--threads 1]\n"
    "Times ops on one thread, forward and with their gradient; JSON lines: microseconds of a batch, the median of N\n"
    "rounds of a millisecond (default 101), and the sum of the numbers' sizes, which the peers must come to as well.";

/// An op on a batch of some examples x, which makes y of each.
namespace measured {
#define SINTER_LIST(...) __VA_ARGS__
#define SINTER_OP(NAME, BATCH, X, Y, ...)                                                                     \
    struct NAME {                                                                                             \
        static constexpr const char* name = #NAME;                                                            \
        static constexpr int batch = BATCH;                                                                   \
        static constexpr shape x = extents X, y = extents Y;                                                  \
        static constexpr auto input = array<SINTER_LIST X>;                                                   \
        static constexpr auto direction = array<SINTER_LIST Y>;                                               \
        static constexpr tensor apply(tensor x) { return __VA_ARGS__; }                                       \
    };
SINTER_OP(transpose, 32, (64, 256), (256, 64), ops::permute(x, {1, 0}))
SINTER_OP(planes_to_pixels, 32, (3, 64, 64), (64, 64, 3), ops::permute(x, {1, 2, 0}))
SINTER_OP(pixels_to_planes, 32, (64, 64, 3), (3, 64, 64), ops::permute(x, {2, 0, 1}))
SINTER_OP(channel_shuffle, 16, (1024, 4, 16), (1024, 16, 4), ops::permute(x, {0, 2, 1}))
SINTER_OP(concat_channels, 32, (1024, 16), (1024, 32), ops::concat(x, x, -1))
SINTER_OP(stack_last, 32, (64, 256, 1), (64, 256, 2), ops::concat(x, x, -1))
SINTER_OP(slice_channels, 32, (1024, 16), (1024, 8), ops::slice(x, -1, 4, 8))
SINTER_OP(split_three, 32, (64, 384), (64, 128),
          ops::slice(x, -1, 0, 128) * ops::slice(x, -1, 128, 128) + ops::slice(x, -1, 256, 128))
SINTER_OP(reverse, 32, (64, 256), (64, 256), ops::reverse(x, {1}))
SINTER_OP(pad_reflect, 32, (32, 32, 16), (34, 34, 16), ops::pad(x, {{1, 1}, {1, 1}, {0, 0}}, pad_mode::reflect))
SINTER_OP(depth_to_space, 16, (32, 32, 64), (64, 64, 16), ops::depth_to_space(x, 2))
SINTER_OP(upsample_nearest, 16, (32, 32, 16), (64, 64, 16), ops::upsample_nearest(x, 2))
SINTER_OP(upsample_bilinear, 16, (32, 32, 16), (64, 64, 16), ops::upsample_bilinear(x, 64, 64))
SINTER_OP(extract_patches, 16, (32, 32, 16), (32, 32, 144), ops::extract_patches(x, 3))
SINTER_OP(max_pool, 32, (32, 32, 16), (16, 16, 16), ops::max_pool(x, 2, {.stride = 2}))
SINTER_OP(avg_pool, 32, (32, 32, 16), (16, 16, 16), ops::avg_pool(x, 2, {.stride = 2}))
SINTER_OP(group_norm, 32, (32, 32, 16), (32, 32, 16), ops::group_norm(x, 4))
SINTER_OP(local_response_norm, 32, (32, 32, 16), (32, 32, 16), ops::local_response_norm(x, {5, 1.f, 0.75f, 1.f}))
SINTER_OP(cumsum, 32, (64, 256), (64, 256), ops::cumsum(x))
SINTER_OP(cumprod, 32, (64, 256), (64, 256), ops::cumprod(x + 1.f))
SINTER_OP(sort, 32, (64, 256), (64, 256), ops::sort(x))
SINTER_OP(top_5, 32, (64, 256), (64, 5), ops::top_k(x, 5).values)
SINTER_OP(softmax, 32, (64, 256), (64, 256), ops::softmax(x))
SINTER_OP(logsumexp, 32, (64, 256), (64), ops::logsumexp(x, {1}))
SINTER_OP(max, 32, (64, 256), (64), ops::max(x, {1}))
SINTER_OP(var, 32, (64, 256), (64), ops::var(x, {1}))
SINTER_OP(prod, 32, (64, 256), (64), ops::prod(x + 1.f, {1}))
SINTER_OP(weighted_rows, 32, (1024, 12), (1024, 12), x * ops::slice(x, 1, 0, 1))
SINTER_OP(matmul, 64, (64, 64), (64, 64), ops::matmul(x, x))
SINTER_OP(small_matmul, 2048, (8, 8), (8, 8), ops::matmul(x, x))
#undef SINTER_OP
#undef SINTER_LIST
} // namespace measured

/// A net without weights has nothing to take.
struct no_weights {
    struct {
        std::uint64_t seed = 1;
    } values;
    const auto& options() const { return values; }
    std::int64_t steps() const { return 0; }
    static int parameters() { return 0; }
    static int states() { return 0; }
    static const variable_info& parameter(int) { std::abort(); }
    static const variable_info& state(int) { std::abort(); }
    static std::string path(const variable_info&) { return {}; }
    std::vector<float> plain(const variable_info&) const { return {}; }
};

/// Numbers in [-0.5, 0.5), as the peers make them.
std::vector<float> numbers(const shape& s, int batch, std::int64_t factor) {
    std::vector<float> v(static_cast<std::size_t>(batch * s.size()));
    for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = static_cast<float>((static_cast<std::int64_t>(i) * factor + 13) % 10007) / 10007.f - 0.5f;
    return v;
}
double size_of(span<const float> v) {
    double sum = 0;
    for (const float x : v) sum += static_cast<double>(std::fabs(x));
    return sum;
}

template <class Op, class Net>
void time_net(const char* kind, Net net, const data::dataset& set, int outputs, int rounds) {
    predictor<Net, Op::batch> p(net, no_weights{});
    auto batches = set | data::batch(Op::batch);
    const data::batch_view& b = *batches.begin();
    double size = 0;
    for (int i = 0; i < outputs; ++i) size += size_of(p.predict(b, i));
    const bench::timing t = bench::time_of([&] { p.predict(b); }, 0.001, rounds);
    std::printf(
        "{\"op\": \"%s\", \"kind\": \"%s\", \"system\": \"sinter\", \"batch\": %d, \"us\": %.3f, \"size\": %.6g}\n",
        Op::name, kind, Op::batch, 1e6 * t.median, size);
    std::fflush(stdout);
}
template <class Op>
void run(const std::string& only, int rounds) {
    if (!only.empty() && only != Op::name) return;
    constexpr auto forward = Op::input >> [](tensor x) { return Op::apply(x); };
    constexpr auto with_gradient = inputs(Op::input, Op::direction) >> [](tensor x, tensor d) {
        const tensor y = Op::apply(x);
        return bundle(y, ops::gradient(y * d, x));
    };
    const std::vector<float> given = numbers(Op::x, Op::batch, 7919);
    time_net<Op>("forward", forward, data::dataset(Op::x, given), 1, rounds);
    time_net<Op>("with gradient", with_gradient,
                 data::dataset().input(Op::x, given).input(Op::y, numbers(Op::y, Op::batch, 6007)), 2, rounds);
}
template <class... Op>
int run_all(const std::string& only, int rounds) {
    (run<Op>(only, rounds), ...);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    std::string only;
    int rounds = 101;
    auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--op") only = value;
        else if (name == "--rounds") rounds = bench::number(name, value, 1, 10000);
        else if (name == "--threads") bench::number(name, value, 1, 1);
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] {
        return run_all<measured::transpose, measured::planes_to_pixels, measured::pixels_to_planes,
                       measured::channel_shuffle, measured::concat_channels, measured::stack_last,
                       measured::slice_channels, measured::split_three, measured::reverse, measured::pad_reflect,
                       measured::depth_to_space, measured::upsample_nearest, measured::upsample_bilinear,
                       measured::extract_patches, measured::max_pool, measured::avg_pool, measured::group_norm,
                       measured::local_response_norm, measured::cumsum, measured::cumprod, measured::sort,
                       measured::top_5, measured::softmax, measured::logsumexp, measured::max, measured::var,
                       measured::prod, measured::weighted_rows, measured::matmul, measured::small_matmul>(only, rounds);
    });
}
