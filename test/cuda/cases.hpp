// SPDX-License-Identifier: BSL-1.0
// Small nets that need each kind of CUDA kernel, and what a device makes of them in some steps. The
// processor's results are the truth that a GPU's are compared with: bench/gpu/reference.cpp records
// them, bench/gpu/cases.cu compares.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sinter/layers/channel_norm.hpp>
#include <sinter/layers/convolution.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <string>
#include <vector>
#include <zoo/gpt.hpp>

#include "cuda/strategy_cases.hpp"

namespace sinter::test {

/// A device's results of a case, in an order that is the same on every device.
struct record {
    struct array {
        std::string name;
        std::vector<float> values;
        bool operator==(const array&) const = default;
    };
    std::vector<array> arrays;   ///< "losses" first

    void add(std::string name, std::vector<float> values) { arrays.push_back({std::move(name), std::move(values)}); }
    bool operator==(const record&) const = default;
};

/// What is fed: floats and integers below `below` an example, labels below `classes`, or targets.
struct case_data {
    int floats = 0, whole = 0, below = 1, labels = 1, classes = 10, targets = 0;
};

/// `steps` steps, the second on half a batch, one evaluation between them, then evaluation and
/// prediction on a batch that is one short.
template <int MaxBatch, class Strategy, class Net, class Loss, class Optimizer>
record run_case(Strategy strategy, Net net, Loss loss, Optimizer optimizer, const case_data& d, int steps) {
    trainer t{net, loss, optimizer, max_batch<MaxBatch>, strategy};
    random_stream random(11);
    std::vector<float> x(static_cast<std::size_t>(MaxBatch * d.floats)),
        y(static_cast<std::size_t>(MaxBatch * d.targets));
    std::vector<std::int32_t> whole(static_cast<std::size_t>(MaxBatch * d.whole)),
        labels(static_cast<std::size_t>(MaxBatch * d.labels));
    for (float& v : x) v = random.normal();
    for (float& v : y) v = random.normal();
    for (auto& v : whole) v = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(d.below)));
    for (auto& v : labels) v = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(d.classes)));
    const data::input_view words{nullptr, whole.data(), d.whole};
    data::batch_view b{.x = x.empty() ? nullptr : x.data(), .labels = labels.data(),
                       .y = y.empty() ? nullptr : y.data()};
    if (d.whole) b.inputs = {&words, 1};

    record r;
    std::vector<float> losses;
    for (int s = 0; s < steps; ++s) {
        b.size = s == 1 ? (MaxBatch + 1) / 2 : MaxBatch;
        losses.push_back(t.step(b));
        if (s == 4) losses.push_back(t.evaluate(b));   // training goes on in the memory that this has used
    }
    b.size = MaxBatch - 1;
    losses.push_back(t.evaluate(b));
    r.add("losses", losses);
    const auto out = t.predict(b);
    r.add("prediction", {out.begin(), out.end()});
    for (int i = 0; i < t.parameters(); ++i) r.add(t.path(t.parameter(i)), t.plain(t.parameter(i)));
    for (int i = 0; i < t.states(); ++i) r.add(t.path(t.state(i)), t.plain(t.state(i)));
    return r;
}

namespace cases {

inline constexpr tensor flat(tensor x) { return ops::reshape(x, extents(-1)); }
inline constexpr tensor scaled(tensor x) { return x * parameter(x, "scale", extents(4, 6, 2), ones); }

inline constexpr auto dense = array<45> >> sinter::dense<33> >> sigmoid >> sinter::dense<10>;
inline constexpr auto recurrent = array<5, 4>
    >> lstm<6> >> dropout<0.3f> >> gru<7, recurrent_options{.sequences = false, .reverse = true, .recompute = true}>
    >> sinter::dense<10>;
inline constexpr auto even_padding = image<12, 10, 3> >> conv2d<8, 3> >> activation::tanh
    >> conv2d<6, 5, window{.stride = 2, .padding = padding::valid}> >> gelu >> flatten >> sinter::dense<10>;
inline constexpr auto uneven_padding = image<11, 10, 2> >> conv2d<5, 4> >> gelu >> conv2d<6, 3, window{.stride = 2}>
    >> conv2d<7, 2, window{.stride = 3, .padding = padding::valid}> >> activation::tanh >> flatten >> sinter::dense<10>;
inline constexpr window uneven{.stride = {2, 1}, .padding = {1, 0, 2, 1}, .dilation = {1, 2}, .groups = 2};
inline constexpr auto groups = image<9, 8, 2> >> conv2d<6, per_axis(3, 2), uneven> >> activation::tanh
    >> depthwise_conv2d<3>
    >> avg_pool<per_axis(2, 3),
                window{.stride = {1, 2}, .padding = 1, .rounding = rounding::ceil, .count_padding = true}>
    >> conv2d_transpose<3, 3, window{.stride = 2, .groups = 3}> >> flatten >> sinter::dense<10>;
inline constexpr auto pools = image<9, 9, 4> >> conv2d<5, 3>
    >> max_pool<3, window{.stride = 2, .padding = padding::same}>
    >> local_response_norm<4, 2., 0.6> >> avg_pool<2> >> flatten >> sinter::dense<10>;
inline constexpr auto batch_normed = image<9, 7, 3> >> conv2d<8, 3, window{.stride = 2}> >> batch_norm >> gelu
    >> avg_pool<2> >> global_avg_pool >> sinter::dense<10>;
inline constexpr auto layer_normed = array<12, 40> >> layer_norm >> sinter::dense<70> >> gelu >> layer_norm
    >> flatten >> sinter::dense<10>;
inline constexpr auto table = indices<6> >> embedding<13, 9> >> flatten >> sinter::dense<10>;
inline constexpr auto attentive = array<70, 6> >> [](tensor in) {
    const tensor x = sinter::dense<12>(in), keys = ops::slice(x, 0, 0, 67);
    const tensor by_place = parameter(x, "by_place", extents(1, 70, 67), normal_of(0.5f));
    const tensor by_key = parameter(x, "by_key", extents(70), zeros);
    const tensor some = cast(ops::reshape(ops::slice(ops::slice(in, 0, 0, 1), 1, 0, 1), extents(1)) * 40.f, 71);
    const tensor a = attention(x, ops::slice(keys, 1, 0, 6), ops::slice(keys, 1, 2, 10),
                               {.heads = 4, .causal = causal::from_end, .bias = by_place, .dropout = 0.25f});
    const tensor b = attention(x, x, x, {.heads = 1, .lengths = some, .bias = by_key});
    return ops::mean(sinter::dense<7>(a) + sinter::dense<7>(b), {0});
};
/// Rows of several segments: two behind padding, of which a block of threads sees one alone; and numbers in any order.
inline constexpr auto packed = array<70, 6> >> [](tensor in) {
    const tensor x = sinter::dense<12>(in), of_any = ops::reshape(ops::slice(in, 1, 0, 1), extents(70));
    const tensor behind = cast(of_any * 0.f + ops::range(in, 70) * (1 / 32.f), dtype::i32);
    const tensor by_key = parameter(x, "by_key", extents(70), zeros);
    const tensor a = attention(x, x, x, {.heads = 4, .segments = behind, .bias = by_key}),
                 b = attention(x, ops::slice(x, 1, 0, 6), ops::slice(x, 1, 2, 6),
                               {.heads = 4, .causal = causal::yes, .segments = cast(of_any * 2.f, dtype::i32),
                                .dropout = 0.25f});
    return ops::mean(sinter::dense<7>(a) + sinter::dense<7>(b), {0});
};
inline constexpr auto gpt = zoo::gpt<zoo::gpt_size{.symbols = 65, .context = 33, .width = 32, .heads = 4, .blocks = 2}>;
inline constexpr auto sliced = array<5, 6, 4> >> [](tensor in) {
    const tensor x = sinter::dense<4>(in), a = ops::slice(x, 1, 1, 3), b = ops::slice(x, 1, 0, 2);
    return ops::concat({a * a - max(a, {batch_axis}), b}, 1) + max(x, {1}, keep::yes);
} >> flatten >> sinter::dense<7>;
inline constexpr auto moved = array<4, 6, 2> >> [](tensor in) {
    const tensor x = scaled(in);
    return ops::concat({flat(pad(x, {{1, 1}, {2, 1}}, pad_mode::reflect)),
                        flat(pad(x, {{1, 0}, {}, {2, 1}}, pad_mode::edge)),
                        flat(pad(x, {{0, 1}, {}, {1, 0}}, 0.5f)), flat(ops::slice(x, {{.step = -1}, {1, 5, 2}})),
                        flat(roll(x, 2, 1)), flat(extract_patches(x, {2, 3}, {.stride = 2}))});
} >> sinter::dense<7>;
inline constexpr auto computed = array<4, 6, 2> >> [](tensor in) {
    const tensor x = scaled(in);
    const tensor where = cast(ops::reshape(ops::slice(in, 2, 0, 1), extents(12, 2)) * 3.f, 4);
    return ops::concat({flat(sort(x, 1)), flat(top_k(x, 2, 0).values), flat(take_along_axis(x, argsort(x, 0), 0)),
                        flat(gather(x, cast(ops::slice(in, {{0, 1}, {0, 1}}) * 4.f, 6), 1)), flat(gather_nd(x, where)),
                        flat(scatter_add(x, argmin(x, 1, keep::yes), ops::slice(x, 1, 0, 1), 1)),
                        flat(cast(cast(in * 3.f, dtype::i32), dtype::f32))});
} >> sinter::dense<7>;
inline constexpr auto scanned = array<4, 6, 2> >> [](tensor in) {
    const tensor x = scaled(in);
    return ops::concat({flat(cumsum(x, 1, {.reverse = true})), flat(cumprod(x, 0)),
                        flat(cumprod(x, 1, {.exclusive = true})), flat(prod(x, {0})),
                        flat(x + prod(x, {batch_axis, 1}, keep::yes)), flat(prod(x, {1, 2})),
                        flat(linear_scan(x, x * 0.5f, 1))});
} >> sinter::dense<7>;
inline constexpr auto between = array<4, 6, 2> >> [](tensor in) {
    const tensor x = scaled(in);
    return ops::concat({flat(interpolate(x, 0, 7)), flat(interpolate(x, 1, 4, ops::corners::aligned)),
                        flat(ops::group_norm(x, 1)), flat(ops::upsample_bilinear(x, 6, 9)),
                        flat(ops::instance_norm(x))});
} >> sinter::dense<7>;

} // namespace cases

/// Calls `see(name, run)` for each case, where `run()` gives a device's record of so many steps of it.
template <class Device, class See>
void each_case(See&& see, int steps = 20) {
    auto with = [&]<int MaxBatch>(std::integral_constant<int, MaxBatch>, const char* name, auto strategy, auto net,
                                  auto loss, auto optimizer, case_data d) {
        see(name, [&] { return run_case<MaxBatch>(strategy, net, loss, optimizer, d, steps); });
    };
    auto make = [&](auto batch, const char* name, auto net, auto loss, auto optimizer, case_data d) {
        with(batch, name, single<Device>{}, net, loss, optimizer, d);
    };
    constexpr std::integral_constant<int, 5> few;
    constexpr std::integral_constant<int, 7> more;
    const case_data array48{.floats = 48, .labels = 0, .targets = 7};
    make(more, "dense_sgd", cases::dense, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, {.floats = 45});
    make(more, "dense_adam", cases::dense, softmax_cross_entropy, adam{}, {.floats = 45});
    make(few, "recurrent", cases::recurrent, softmax_cross_entropy, adam{}, {.floats = 20});
    make(few, "even_padding", cases::even_padding, softmax_cross_entropy, momentum{.learning_rate = 0.02f},
         {.floats = 360});
    make(few, "uneven_padding", cases::uneven_padding, softmax_cross_entropy, adamw{}, {.floats = 220});
    make(few, "groups", cases::groups, softmax_cross_entropy, momentum{.learning_rate = 0.02f}, {.floats = 144});
    make(few, "pools", cases::pools, softmax_cross_entropy, momentum{.learning_rate = 0.02f}, {.floats = 324});
    make(few, "batch_norm", cases::batch_normed, softmax_cross_entropy, momentum{.learning_rate = 0.02f},
         {.floats = 189});
    make(more, "layer_norm", cases::layer_normed, softmax_cross_entropy, momentum{.learning_rate = 0.001f},
         {.floats = 480});
    make(more, "lazy_table", cases::table, softmax_cross_entropy, adam{}, {.whole = 6, .below = 13});
    make(few, "attention", cases::attentive, mse, sgd{.learning_rate = 0.1f},
         {.floats = 420, .labels = 0, .targets = 7});
    make(few, "packed", cases::packed, mse, sgd{.learning_rate = 0.1f}, {.floats = 420, .labels = 0, .targets = 7});
    make(few, "gpt", cases::gpt, softmax_cross_entropy, momentum{.learning_rate = 0.02f},
         {.whole = 33, .below = 65, .labels = 33, .classes = 65});
    make(few, "clipped", cases::sliced, mse, clip_by_global_norm{0.5f, sgd{.learning_rate = 0.02f}},
         {.floats = 120, .labels = 0, .targets = 7});
    make(more, "lamb", cases::dense, softmax_cross_entropy, lamb{.learning_rate = 0.05f}, {.floats = 45});
    make(more, "accumulated", cases::dense, softmax_cross_entropy, accumulate<2>(adam{}), {.floats = 45});
    make(few, "moves", cases::moved, mse, sgd{.learning_rate = 0.01f}, array48);
    make(few, "computed_places", cases::computed, mse, sgd{.learning_rate = 0.01f}, array48);
    make(few, "scans", cases::scanned, mse, sgd{.learning_rate = 0.002f}, array48);
    make(few, "interpolation", cases::between, mse, sgd{.learning_rate = 0.01f}, array48);
    // several replicas, which add each other's gradients while they work; gradients of tables are lists of rows
    const case_data words{.whole = 6, .below = 13};
    with(more, "replicas", all_here<mirrored<2, Device>>{}, cases::dense, softmax_cross_entropy, adam{},
         {.floats = 45});
    with(more, "replicas_of_tables", all_here<mirrored<3, Device>>{}, cases::table, softmax_cross_entropy,
         adam{}, words);
    with(more, "central_storage", all_here<central_storage<2, Device>>{}, cases::table, softmax_cross_entropy,
         clip_by_global_norm{0.5f, momentum{.learning_rate = 0.05f}}, words);
    with(more, "canonical", canonical<4>(all_here<mirrored<2, Device>>{}), cases::table, softmax_cross_entropy,
         adam{}, words);
    with(more, "replicas_accumulate", all_here<mirrored<2, Device>>{}, cases::table, softmax_cross_entropy,
         accumulate<2>(adam{}), words);
    see("members", [&] {
        return as_two_members<Device>([&](auto strategy) {
            return run_case<7>(strategy, cases::table, softmax_cross_entropy, adam{}, words, steps);
        });
    });
}

} // namespace sinter::test
