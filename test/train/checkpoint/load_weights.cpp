// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE load_weights
#include <boost/test/unit_test.hpp>
#include "fixtures/weights_elsewhere.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/train/checkpoint/import/find_variable.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/io/npz.hpp>
#include <sinter/io/npy.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/checkpoint/load_weights.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>
#include <cmath>
#include <span>

// Weights that PyTorch and Keras saved give their outputs here, and train on with their losses.
// What does not fit is told with both names, and the model stays as it was.
using namespace sinter;
namespace st = safetensors;

constexpr auto net = image<4, 6, 2> >> conv2d<3, 3> >> batch_norm >> relu >> flatten >> dense<4>;
using small = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, sgd, 8>;

static const name_map from_torch{.from = framework::pytorch,
                                 .rules = {{"conv.*", "conv2d/*"},
                                           {"norm.*", "batch_norm/*"},
                                           {"fc.*", "dense/*", {}, {3, 4, 6}}}};
template <std::size_t N>
static std::string written(const temporary_folder& folder, const char (&file)[N]) {
    return write_bytes(folder / "original", {file, N - 1});
}
struct batch {
    std::vector<float> x{std::begin(weights_elsewhere::x), std::end(weights_elsewhere::x)};
    std::vector<std::int32_t> labels{std::begin(weights_elsewhere::labels), std::end(weights_elsewhere::labels)};
    data::batch_view view() const { return {.x = x.data(), .labels = labels.data(), .size = 6}; }
};
template <class Trainer>
static std::vector<float> everything(const Trainer& t) {
    std::vector<float> all;
    auto add = [&](const std::vector<float>& x) { all.insert(all.end(), x.begin(), x.end()); };
    for (int i = 0; i < t.parameters(); ++i) add(t.plain(t.parameter(i)));
    for (int i = 0; i < t.states(); ++i) add(t.plain(t.state(i)));
    return all;
}
/// The same outputs, then the same losses in training.
template <std::size_t Outputs, std::size_t Steps>
static void trains_on(const std::string& file, const name_map& map, const double (&y)[Outputs],
                      const double (&losses)[Steps]) {
    small m({static_cast<float>(weights_elsewhere::rate)}, {.threads = 1});
    load_weights(m, file, map);
    const batch b;
    const std::span<const float> got = m.predict(b.view());
    BOOST_TEST(got.size() == Outputs);
    for (std::size_t i = 0; i < Outputs; ++i) BOOST_TEST(std::abs(static_cast<double>(got[i]) - y[i]) < 2e-6);
    for (std::size_t i = 0; i < Steps; ++i)
        BOOST_TEST(std::abs(static_cast<double>(m.step(b.view())) - losses[i]) < 1e-5);
}

BOOST_AUTO_TEST_CASE(pytorch_weights_train_on) {
    using namespace weights_elsewhere;
    const temporary_folder folder;
    trains_on(written(folder, pytorch_file), from_torch, pytorch_y, pytorch_losses);
}
BOOST_AUTO_TEST_CASE(keras_weights_train_on) {   // its names are ours, but for the model's in front
    using namespace weights_elsewhere;
    const temporary_folder folder;
    trains_on(written(folder, keras_file), {.from = framework::keras}, keras_y, keras_losses);
}

namespace {
/// PyTorch's file, with its tensors changed, written again.
template <class Change>
std::string changed(const temporary_folder& folder, Change change) {
    const st::file f = st::read(written(folder, weights_elsewhere::pytorch_file));
    std::vector<st::entry> entries;
    for (const auto& [name, t] : f.tensors) entries.push_back({name, t.type, t.shape, t.data.data()});
    change(entries);
    st::write(folder / "changed", entries);
    return folder / "changed";
}
st::entry& named(std::vector<st::entry>& entries, std::string_view name) {
    for (st::entry& e : entries)
        if (e.name == name) return e;
    throw std::runtime_error("no such tensor in the fixture");
}
/// Loading must be refused with these lines, and leave the trainer as it is.
void refused(const std::string& path, const name_map& map, std::initializer_list<const char*> lines) {
    small t({}, {.threads = 1, .seed = 5});
    const auto before = everything(t);
    for (const char* line : lines) check_error<mismatch_error>([&] { load_weights(t, path, map); }, line, path);
    BOOST_TEST(everything(t) == before);
}
} // namespace

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_told_with_both_names) {
    const temporary_folder folder;
    refused(changed(folder, [](auto& e) { named(e, "fc.weight").shape = {16, 18}; }), from_torch,
            {"1 difference:",
             "'fc.weight' -> 'dense/kernel': shape: got F32 [16, 18], which is [18, 16] here, needed [72, 4]"});
    refused(changed(folder, [](auto& e) { named(e, "conv.bias").name = "conv.offset"; }), from_torch,
            {"2 differences:", "'conv.offset' -> 'conv2d/offset': unexpected, got F32 [3]",
             "(nothing) -> 'conv2d/bias': missing, needed F32 [3]"});
    refused(changed(folder, [](auto& e) { named(e, "norm.bias").type = st::dtype::i32; }), from_torch,
            {"'norm.bias' -> 'batch_norm/beta': type: got I32 [3], needed F32, F64, F16 or BF16"});
    const auto twice = [](auto& e) { e.push_back({"conv2d/bias", st::dtype::f32, {3}, named(e, "conv.bias").data}); };
    refused(changed(folder, twice), from_torch,
            {"'conv2d/bias' -> 'conv2d/bias': given twice, also by 'conv.bias'"});
    const std::string path = changed(folder, [](auto&) {});
    name_map other = from_torch;
    other.rules[2].flattened = {3, 2, 6};
    refused(path, other,
            {"'fc.weight' -> 'dense/kernel': shape: got F32 [4, 72], which is [72, 4] here, needed rows flattened "
             "from [3, 2, 6]"});
    other = from_torch;
    other.rules.insert(other.rules.begin(), {"conv.weight", "conv2d/kernel", {0, 1, 2}});
    refused(path, other, {"a rule whose axes are not an order of its 4"});
    refused(path, {.from = framework::pytorch},
            {"'fc.weight' -> 'fc/kernel': unexpected, got F32 [4, 72]",
             "(nothing) -> 'dense/kernel': missing, needed F32 [72, 4]"});
    refused(path, {}, {"'norm.num_batches_tracked' -> 'norm.num_batches_tracked': unexpected, got I64 []"});

    small t({}, {.threads = 1});
    check_error<option_error>([&] { load_weights(t, path, {.rules = {{"conv.*", "*/*"}}}); }, "more *s",
                              "conv.*", "*/*");
    check_error<io_error>([&] { load_weights(t, folder / "none", {}); }, "cannot open", folder / "none");
}

BOOST_AUTO_TEST_CASE(ignored_and_kept) {
    const temporary_folder folder;
    const std::string path = changed(folder, [](auto& e) {
        named(e, "fc.weight").name = "head.weight";
        named(e, "fc.bias").name = "head.bias";
    });
    small t({}, {.threads = 1, .seed = 5}), whole({}, {.threads = 1, .seed = 6});
    const auto kernel = [](const small& m) { return m.plain(m.parameter(m.parameters() - 2)); };
    BOOST_TEST(small::path(t.parameter(t.parameters() - 2)) == "dense/kernel");
    const auto own = kernel(t);
    name_map map = from_torch;
    map.ignore = {"head.*"};
    map.keep = {"dense/*"};
    load_weights(t, path, map);
    load_weights(whole, changed(folder, [](auto&) {}), from_torch);
    BOOST_TEST(kernel(t) == own);
    BOOST_TEST(t.plain(t.parameter(0)) == whole.plain(whole.parameter(0)));
    BOOST_TEST(kernel(whole) != own);
}
// What save() wrote needs no list of what is not a weight in it.
BOOST_AUTO_TEST_CASE(whole_files_of_ours) {
    const temporary_folder folder;
    small t({}, {.threads = 1, .seed = 5}), other({}, {.threads = 1, .seed = 6});
    save(t, folder / "whole");
    load_weights(other, folder / "whole", {});
    for (int i = 0; i < t.parameters(); ++i)
        BOOST_TEST(other.plain(other.parameter(i)) == t.plain(t.parameter(i)));
    check_error<mismatch_error>([&] { load_weights(other, folder / "whole", {.from = framework::keras}); },
                                "'step' -> 'step': unexpected", folder / "whole");
}

/// dense/kernel, [3, 2].
static constexpr facts::scope_entry scopes[] = {{}, {"dense", 0, 0}};
static constexpr variable_info kernel{"kernel", 1, extents(3, 2), {}, {}, 6, {}};
static constexpr trainer_facts one_kernel{.parameters = {&kernel, 1}, .states = {}, .scopes = {scopes, 2}};

BOOST_AUTO_TEST_CASE(kinds_of_files_and_of_numbers) {
    const temporary_folder folder;
    const std::vector<float> wanted{1, -2, 0.5f, 0.25f, 65504, 0x1p-24f};
    const double f64[] = {1, -2, 0.5, 0.25, 65504, 0x1p-24};
    const std::uint16_t f16[] = {0x3c00, 0xc000, 0x3800, 0x3400, 0x7bff, 0x0001};   // 1 largest and 1 smallest number
    const std::uint16_t bf16[] = {0x3f80, 0xc000, 0x3f00, 0x3e80, 0x4780, 0x3380};
    const auto loads = [&](const std::string& path, const name_map& map, const std::vector<float>& x) {
        const auto all = training_parts::read_weights(one_kernel, path, map);
        BOOST_REQUIRE(all.size() == 1u);
        BOOST_TEST(all[0].v == &kernel);
        BOOST_TEST(all[0].x == x, boost::test_tools::per_element());
    };
    st::write(folder / "a", {{"dense/kernel", st::dtype::f64, {3, 2}, f64}});
    loads(folder / "a", {}, wanted);
    st::write(folder / "a", {{"w", st::dtype::f16, {3, 2}, f16}});
    loads(folder / "a", {.rules = {{"w", "dense/kernel"}}}, wanted);
    npz::write(folder / "a", {{"dense/kernel", st::dtype::f16, {3, 2}, f16}}, npz::compression::deflate);
    loads(folder / "a", {}, wanted);
    npy::write(folder / "kernel.npy", st::dtype::f64, {3, 2}, f64);
    loads(folder / "kernel.npy", {.rules = {{"*", "dense/*"}}}, wanted);
    st::write(folder / "a", {{"dense/kernel", st::dtype::bf16, {3, 2}, bf16}});
    std::vector<float> coarse = wanted;
    coarse[4] = 65536;
    loads(folder / "a", {}, coarse);
    st::write(folder / "a", {{"dense/kernel", st::dtype::f64, {2, 3}, f64}});   // by its own order of axes
    loads(folder / "a", {.rules = {{"*", "*", {1, 0}}}}, {1, 0.25f, -2, 65504, 0.5f, 0x1p-24f});
}

BOOST_AUTO_TEST_CASE(patterns) {
    std::vector<std::string_view> stars;
    BOOST_TEST(training_parts::matches("a.*.b.*", "a.1.b.b.2", stars));
    BOOST_TEST((stars == std::vector<std::string_view>{"1", "b.2"}));
    stars.clear();
    BOOST_TEST(training_parts::matches("*x", "axbx", stars));
    BOOST_TEST((stars == std::vector<std::string_view>{"axb"}));
    BOOST_TEST(!training_parts::matches("a*c", "ab", stars));
    BOOST_TEST(!training_parts::matches("a", "ab", stars));
    BOOST_TEST(training_parts::matches("*", "", stars));
    const auto has = [](const std::string& p) {
        return p == "batch_norm_2/gamma" || p == "embedding/table" || p == "lstm.1/kernel";
    };
    const auto path = [&](const char* name, framework f) {
        return training_parts::find_variable(name, {.from = f}, has).path;
    };
    BOOST_TEST(path("batch_normalization_2/gamma:0", framework::keras) == "batch_norm_2/gamma");
    BOOST_TEST(path("net/batch_normalization_2/gamma", framework::keras) == "batch_norm_2/gamma");
    BOOST_TEST(path("batch_normalizations/gamma", framework::keras) == "batch_normalizations/gamma");
    BOOST_TEST(path("batch_norm_2.weight", framework::pytorch) == "batch_norm_2/gamma");
    BOOST_TEST(path("embedding.weight", framework::pytorch) == "embedding/table");
    // a name that is there is taken as it is
    BOOST_TEST(path("lstm.1/kernel", framework::pytorch) == "lstm.1/kernel");
}
/// Beyond float32 it would be infinite without a word.
BOOST_AUTO_TEST_CASE(float64_that_does_not_fit) {
    const temporary_folder folder;
    constexpr auto net = features<2> >> dense<1>;
    trainer t(net, mse, sgd{}, trainer_options{.threads = 1});
    const std::vector<float> before = everything(t);
    const double kernel[2] = {1, -1e39}, bias = 1e-60;
    const auto file = [&](const double* k) {
        npz::write(folder / "w.npz", {{"dense/kernel", safetensors::dtype::f64, {2, 1}, k},
                                      {"dense/bias", safetensors::dtype::f64, {1}, &bias}});
        load_weights(t, folder / "w.npz", {});
    };
    check_error<data_error>([&] { file(kernel); }, "a number does not fit", "'dense/kernel', element 1", "-1e+39");
    BOOST_TEST((everything(t) == before));
    const double fits[2] = {3.4028234e38, -HUGE_VAL};   // what is infinite already stays so
    file(fits);
    BOOST_TEST((everything(t) == std::vector<float>{3.4028234e38f, -HUGE_VALF, 0}));
}
