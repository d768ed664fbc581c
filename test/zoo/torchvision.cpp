// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE zoo_torchvision
#include <boost/test/unit_test.hpp>
#include <sinter/graph/parameter_path.hpp>
#include <sinter/io/safetensors.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/checkpoint/load_weights.hpp>
#include <zoo/torchvision.hpp>
#include "count.hpp"
#include <cmath>
#include <map>
#include <unistd.h>

// Names, extents and numbers of parameters are those of torchvision's state_dicts, which the functions below write down
// as its modules make them: a key for each, with outputs first.
using namespace sinter;

namespace {

using shapes = std::map<std::string, std::vector<std::int64_t>>;   // of a state_dict
std::string key(const std::string& block, const char* name) { return block.empty() ? name : block + "." + name; }
void conv(shapes& s, const std::string& name, int out, int in, int k, bool bias = false) {
    s[name + ".weight"] = {out, in, k, k};
    if (bias) s[name + ".bias"] = {out};
}
void linear(shapes& s, const std::string& name, int out, int in) {
    s[name + ".weight"] = {out, in};
    s[name + ".bias"] = {out};
}
void norm(shapes& s, const std::string& name, int n) {
    for (const char* part : {"weight", "bias", "running_mean", "running_var"}) s[name + "." + part] = {n};
    s[name + ".num_batches_tracked"] = {};
}
shapes resnet(int width, int classes, const std::vector<int>& blocks, bool bottleneck) {
    shapes s;
    conv(s, "conv1", width, 3, 7);
    norm(s, "bn1", width);
    int in = width;
    for (int stage = 0; stage < 4; ++stage)
        for (int b = 0; b < blocks[static_cast<std::size_t>(stage)]; ++b) {
            const std::string at = "layer" + std::to_string(stage + 1) + "." + std::to_string(b);
            const int mid = width << stage, out = bottleneck ? 4 * mid : mid;
            conv(s, key(at, "conv1"), mid, in, bottleneck ? 1 : 3), norm(s, key(at, "bn1"), mid);
            conv(s, key(at, "conv2"), mid, mid, 3), norm(s, key(at, "bn2"), mid);
            if (bottleneck) conv(s, key(at, "conv3"), out, mid, 1), norm(s, key(at, "bn3"), out);
            if (in != out) conv(s, key(at, "downsample.0"), out, in, 1), norm(s, key(at, "downsample.1"), out);
            in = out;
        }
    linear(s, "fc", classes, in);
    return s;
}
shapes sequential(const std::vector<std::array<int, 4>>& convolutions, const std::vector<std::array<int, 3>>& linears) {
    shapes s;
    for (const auto& [at, out, in, k] : convolutions) conv(s, "features." + std::to_string(at), out, in, k, true);
    for (const auto& [at, out, in] : linears) linear(s, "classifier." + std::to_string(at), out, in);
    return s;
}

/// Ours by path, with the number of elements.
template <class Net>
std::map<std::string, std::int64_t> ours(Net) {
    using namespace compiler;
    graph g;
    trace<Net, no_loss>(g, program_mode::prediction);
    BOOST_REQUIRE(g.err.what == fault_kind::none);
    std::map<std::string, std::int64_t> all;
    for (const auto* list : {&g.parameters, &g.states})
        for (int i = 0; i < list->n; ++i) {
            const sinter::detail::path_text path(g, (*list)[i]);
            all[std::string(path.c, static_cast<std::size_t>(path.n))] = g.n[(*list)[i].id].s.size();
        }
    return all;
}
/// Theirs, called by the convention that doc/interchange.md tells.
std::map<std::string, std::int64_t> by_convention(const shapes& s) {
    std::map<std::string, std::int64_t> all;
    for (const auto& [name, shape] : s) {
        std::string path = name;
        for (char& c : path) c = c == '.' ? '/' : c;
        const std::size_t dot = path.rfind('/') + 1;
        const std::string part = path.substr(dot);
        if (part == "num_batches_tracked") continue;
        const bool of_norm = s.contains(name.substr(0, dot) + "running_mean");
        path.replace(dot, part.npos, part == "running_var" ? "running_variance"
                                     : part == "weight"    ? (of_norm ? "gamma" : "kernel")
                                     : part == "bias"      ? (of_norm ? "beta" : "bias")
                                                           : part);
        std::int64_t n = 1;
        for (const std::int64_t e : shape) n *= e;
        all[path] = n;
    }
    return all;
}
template <class Net>
void check_names(Net net, const shapes& theirs) {
    const auto got = ours(net), needed = by_convention(theirs);
    for (const auto& [path, n] : needed) BOOST_TEST((got.contains(path) && got.at(path) == n), path);
    for (const auto& [path, n] : got) BOOST_TEST(needed.contains(path), path);
}

// As torchvision.models prints them.
static_assert(zoo::count(zoo::torchvision::resnet18<>).parameters == 11'689'512);
static_assert(zoo::count(zoo::torchvision::resnet50<>).parameters == 25'557'032);
static_assert(zoo::count(zoo::torchvision::vgg16<>).parameters == 138'357'544);
static_assert(zoo::count(zoo::torchvision::alexnet<>).parameters == 61'100'840);

} // namespace

BOOST_AUTO_TEST_CASE(parameters_are_called_as_in_a_state_dict) {
    check_names(zoo::torchvision::resnet18<>, resnet(64, 1000, {2, 2, 2, 2}, false));
    check_names(zoo::torchvision::resnet50<>, resnet(64, 1000, {3, 4, 6, 3}, true));
    check_names(zoo::torchvision::alexnet<>,
                sequential({{0, 64, 3, 11}, {3, 192, 64, 5}, {6, 384, 192, 3}, {8, 256, 384, 3}, {10, 256, 256, 3}},
                           {{1, 4096, 9216}, {4, 4096, 4096}, {6, 1000, 4096}}));
    check_names(zoo::torchvision::vgg16<>,
                sequential({{0, 64, 3, 3}, {2, 64, 64, 3}, {5, 128, 64, 3}, {7, 128, 128, 3}, {10, 256, 128, 3},
                            {12, 256, 256, 3}, {14, 256, 256, 3}, {17, 512, 256, 3}, {19, 512, 512, 3},
                            {21, 512, 512, 3}, {24, 512, 512, 3}, {26, 512, 512, 3}, {28, 512, 512, 3}},
                           {{0, 4096, 25088}, {3, 4096, 4096}, {6, 1000, 4096}}));
}

// A convolution and what classifies, loaded without a rule; padding is PyTorch's: a stride of two begins one before
// the image.
BOOST_AUTO_TEST_CASE(a_state_dict_is_loaded_without_rules) {
    namespace tv = zoo::torchvision::detail;
    constexpr auto net = image<4, 4, 1> >> named<"conv1">(tv::conv<1, 3, 2>) >> named<"bn1">(tv::norm)
                      >> tv::flatten_channels_first >> named<"fc">(dense<1>);
    const std::string path = "/tmp/sinter-torchvision-" + std::to_string(::getpid()) + ".safetensors";
    std::vector<float> kernel(9, 0.f), image(16), ones{1}, zeros{0}, four{4}, fc{1, 10, 100, 1000};
    kernel[0] = 1;   // what lies above and to the left of a place's middle
    for (int i = 0; i < 16; ++i) image[static_cast<std::size_t>(i)] = static_cast<float>(i + 1);
    using safetensors::dtype;
    safetensors::write(path, {{"conv1.weight", dtype::f32, {1, 1, 3, 3}, kernel.data()},
                              {"bn1.weight", dtype::f32, {1}, ones.data()},
                              {"bn1.bias", dtype::f32, {1}, zeros.data()},
                              {"bn1.running_mean", dtype::f32, {1}, zeros.data()},
                              {"bn1.running_var", dtype::f32, {1}, four.data()},
                              {"fc.weight", dtype::f32, {1, 4}, fc.data()},
                              {"fc.bias", dtype::f32, {1}, zeros.data()}});
    estimator model{net, mse, sgd{}, max_batch<1>};
    model.load_weights(path, {.from = framework::pytorch});
    ::unlink(path.c_str());
    const std::vector<data::input_view> inputs{{image.data(), nullptr, 16}};
    data::batch_view batch;
    batch.size = 1;
    batch.inputs = inputs;
    const float y = model.predict(batch)[0];
    // Of the four places only the last one's tap is on the image: number 6, at row 1 and column 1.
    BOOST_TEST(y == 1000 * 6 / std::sqrt(4 + 1e-5f), boost::test_tools::tolerance(1e-6f));
}
