// SPDX-License-Identifier: BSL-1.0
// shows files: loading is all or nothing; files of another optimizer, seed or program say what to do
// alone: its operator new
#define BOOST_TEST_MODULE load_whole_or_not
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/features.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/io/npz.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/full_batch.hpp>
#include <sinter/train/checkpoint/load_weights.hpp>
#include <sinter/train/hooks/keep_best.hpp>
#include <sinter/train/optimizers/clip_by_value.hpp>
#include <sinter/train/optimizers/nesterov.hpp>
#include <sinter/train/optimizers/rmsprop.hpp>
#include <sinter/train/predictor.hpp>
#include <cstdlib>
#include <new>

// Each allocation within a load is made to fail, one after the other: the model must then be as it
// was. And what else loading promises: seeds, weights alone, bytes in memory, files of other
// programs.
using namespace sinter;
using namespace sinter::compiler;

static long fail_at = -1;   ///< counts down to the allocation that fails; below 0: none does
[[gnu::noinline]] static void* get(std::size_t n, std::size_t align) {
    if (fail_at >= 0 && fail_at-- == 0) return nullptr;
    return std::aligned_alloc(align, (n + align) / align * align);
}
[[gnu::noinline]] void* operator new(std::size_t n) {
    if (void* p = get(n, 16)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return get(n, 16); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
    if (void* p = get(n, static_cast<std::size_t>(a))) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
    return get(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

constexpr auto net = features<3> >> named<"hidden">(dense<4>) >> batch_norm >> relu >> named<"logits">(dense<2>);
constexpr auto noisy = features<3> >> dense<4> >> dropout<0.5f> >> dense<2>;
constexpr auto carried = array<2, 4> >> lstm<5, recurrent_options{.carried = true}> >> dense<1>;
template <const auto& Net, class Optimizer, int MaxBatch = 4, class Loss = softmax_cross_entropy_loss>
using trainer_of = trainer<std::remove_cvref_t<decltype(Net)>, Loss, Optimizer, MaxBatch>;

static const float x[12] = {1, 2, 3, -1, 0, 1, 4, 4, 2, 0, 0, -3};
static const std::int32_t labels[4] = {0, 1, 1, 0};
static const data::batch_view batch{.x = x, .labels = labels, .size = 4};

template <class Trainer>
static std::vector<float> everything(const Trainer& t) {
    std::vector<float> all{static_cast<float>(t.steps())};
    auto add = [&](const std::vector<float>& v) { all.insert(all.end(), v.begin(), v.end()); };
    for (int i = 0; i < t.parameters(); ++i) add(t.plain(t.parameter(i)));
    for (int i = 0; i < t.states(); ++i) add(t.plain(t.state(i)));
    for (int s = 0; s < Trainer::training::v.slots; ++s)
        for (int i = 0; i < t.parameters(); ++i) add(t.plain_slot(t.parameter(i), s));
    return all;
}
/// Lets the first, second, ... allocation of load() fail, until none does.
template <class Load, class Look>
static void whole_or_not(Load load, Look look, long least = 10) {
    const std::vector<float> before = look();
    long n = 0;
    bool done = false;
    for (; !done && n < 5000; ++n) {
        fail_at = n;
        try {
            load();
            done = fail_at >= 0;   // it came to its end without the failure
        } catch (const std::exception&) {
        }
        fail_at = -1;
        if (!done) BOOST_TEST_REQUIRE((look() == before), "half loaded when allocation " << n << " failed");
    }
    BOOST_TEST(n > least);
    BOOST_TEST(n < 5000);
    BOOST_TEST(look() != before);   // at last it was loaded
}

BOOST_AUTO_TEST_CASE(checkpoints_and_weights) {
    const temporary_folder folder;
    trainer_of<net, adam> from({}, {.threads = 1, .seed = 2});
    for (int i = 0; i < 3; ++i) from.step(batch);
    save(from, folder / "whole");
    save(from, folder / "weights", saved::weights);
    const std::vector<std::byte> bytes = save_to_memory(from);
    for (const char* name : {"whole", "weights", "memory"}) {
        trainer_of<net, adam> t({}, {.threads = 1});
        t.step(batch);
        const auto from_there = [&] { name[0] == 'm' ? load(t, bytes) : load(t, folder / name); };
        whole_or_not(from_there, [&] { return everything(t); });
    }
    predictor p{net, trainer_of<net, adam>({}, {.threads = 1})};
    const auto answer = [&] {
        const span<const float> y = p(span<const float>(x, 3));
        return std::vector<float>(y.begin(), y.end());
    };
    whole_or_not([&] { p.take(weights_file(folder / "weights")); }, answer);
    trainer_of<net, adam> third({}, {.threads = 1, .seed = 3});
    whole_or_not([&] { p.take(third); }, answer);
}
BOOST_AUTO_TEST_CASE(weights_from_elsewhere) {
    const temporary_folder folder;
    trainer_of<net, sgd> from({}, {.threads = 1, .seed = 2});
    std::vector<std::vector<float>> values;
    std::vector<npz::entry> entries;
    const auto add = [&](const variable_info& v) {
        values.push_back(from.plain(v));
        entries.push_back({from.path(v), npy::dtype::f32, extents_of(v.s), values.back().data()});
    };
    values.reserve(16);
    for (int i = 0; i < from.parameters(); ++i) add(from.parameter(i));
    for (int i = 0; i < from.states(); ++i) add(from.state(i));
    npz::write(folder / "w.npz", entries, npz::compression::deflate);
    safetensors::write(folder / "w.safetensors", {entries.begin(), entries.end()});
    for (const char* name : {"w.npz", "w.safetensors"}) {
        trainer_of<net, sgd> t({}, {.threads = 1});
        whole_or_not([&] { load_weights(t, folder / name, {.from = framework::keras}); },
                     [&] { return everything(t); });
        BOOST_TEST((everything(t) == everything(from)));
    }
}
BOOST_AUTO_TEST_CASE(lbfgs_has_its_history_or_not) {
    const temporary_folder folder;
    auto points = [] {
        return data::dataset(extents(3), std::vector<float>(x, x + 12))
            .labels(std::vector<std::int32_t>(labels, labels + 4)) | data::batch(4);
    };
    full_batch from{features<3> >> dense<2>, softmax_cross_entropy, {.threads = 1, .seed = 2}};
    full_batch to{features<3> >> dense<2>, softmax_cross_entropy, {.threads = 1}};
    auto data = points();
    from.train(data, {.max_iterations = 3});
    from.save(folder / "run");
    whole_or_not([&] { to.load(folder / "run"); }, [&] {
        std::vector<float> all = everything(to.inner());
        for (const auto* h : {&to.history().steps, &to.history().changes})
            for (const auto& v : *h) all.insert(all.end(), v.begin(), v.end());
        return all;
    });
    BOOST_TEST((to.history().steps == from.history().steps));
}

/// Its steps and changes belong together, and the weights are an iteration's.
BOOST_AUTO_TEST_CASE(lbfgs_goes_on_after_it_lacked_memory) {
    auto data = data::dataset(extents(3), std::vector<float>(x, x + 12))
        .labels(std::vector<std::int32_t>(labels, labels + 4)) | data::batch(4);
    const auto weights = [](const auto& m) { return everything(m.inner()); };
    full_batch once{features<3> >> dense<2>, softmax_cross_entropy, {.threads = 1}};
    const lbfgs few{.history = 2, .max_iterations = 5, .loss_tolerance = 0};
    once.train(data, few);
    bool done = false;
    for (long n = 0; !done; n += 3) {
        full_batch m{features<3> >> dense<2>, softmax_cross_entropy, {.threads = 1}};
        fail_at = n;
        try {
            m.train(data, few);
            done = fail_at >= 0;
        } catch (const std::bad_alloc&) {
        }
        fail_at = -1;
        BOOST_TEST_REQUIRE(m.history().steps.size() == m.history().changes.size());
        if (done) BOOST_TEST((weights(m) == weights(once)));
        data.rewind();
        m.train(data, few);
    }
}
BOOST_AUTO_TEST_CASE(the_best_weights_are_whole) {
    auto data = data::dataset(extents(3), std::vector<float>(x, x + 12))
        .labels(std::vector<std::int32_t>(labels, labels + 4)) | data::batch(4);
    trainer_of<net, adam> t({}, {.threads = 1, .seed = 2}), other({}, {.threads = 1});
    model_run<trainer_of<net, adam>> run(t, data);
    keep_best best({.what = watched::loss});
    run.result.loss = 2;
    best.epoch_end(run);
    whole_or_not([&] { best.restore(other); }, [&] { return everything(other); });
    t.step(batch);
    run.result.loss = 1;
    whole_or_not([&] { best.epoch_end(run); }, [&] {
        best.restore(other);
        std::vector<float> all = everything(other);
        all.push_back(static_cast<float>(best.best()));
        return all;
    });
}
BOOST_AUTO_TEST_CASE(a_set_and_features_are_as_they_were) {
    data::dataset set;
    whole_or_not([&] { set.input(extents(3), std::vector<float>(x, x + 12)); },
                 [&] { return std::vector<float>{static_cast<float>(set.size())}; }, 2);
    data::features f;
    f.number("a").fit(data::csv::parse("a\n1\n2\n", "t"));
    whole_or_not([&] { f.number("b"); }, [&] {   // which has another column to learn from
        try {
            f.need_fitted("");
            return std::vector<float>{1};
        } catch (const option_error&) {
            return std::vector<float>{0};
        }
    }, 1);
}

BOOST_AUTO_TEST_CASE(bytes_in_memory_are_the_files) {
    const temporary_folder folder;
    trainer_of<net, adam> from({}, {.threads = 1, .seed = 2}), t({}, {.threads = 1});
    from.step(batch);
    save(from, folder / "f");
    const std::vector<std::byte> bytes = save_to_memory(from);
    const std::string file = read_bytes(folder / "f");
    BOOST_TEST((file == std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
    const std::string shifted = "x" + file;   // at an odd address, as an array in a program's data may lie
    load(t, as_bytes(shifted).subspan(1));
    BOOST_TEST((everything(t) == everything(from)));
    predictor p{net, weights_file(as_bytes(shifted).subspan(1))};
    const span<const float> y = p(span<const float>(x, 3));
    const span<const float> want = from.predict({.x = x, .size = 1});
    BOOST_TEST((std::vector<float>(y.begin(), y.end()) == std::vector<float>(want.begin(), want.end())));
    check_error<format_error>([&] { load(t, as_bytes(shifted)); }, "", "memory");
    BOOST_TEST((everything(t) == everything(from)));
}

/// A whole file is refused, and changes nothing; its weights are taken.
template <class Trainer>
static void takes_weights_alone(Trainer& t, const std::string& file, const char* fault, const char* got = "",
                                const char* needed = "") {
    const auto before = everything(t);
    check_error<mismatch_error>([&] { load(t, file); }, fault, file, got, needed);
    BOOST_TEST((everything(t) == before));
    load(t, file, saved::weights);
}
BOOST_AUTO_TEST_CASE(another_optimizers_file_names_the_way) {
    const temporary_folder folder;
    trainer_of<net, adam> from({}, {.threads = 1, .seed = 2});
    from.step(batch);
    save(from, folder / "f");
    trainer_of<net, momentum> t({}, {.threads = 1});
    takes_weights_alone(t, folder / "f", "load(..., saved::weights)");
    BOOST_TEST((t.steps() == 0));
    for (int i = 0; i < t.parameters(); ++i) BOOST_TEST((t.plain(t.parameter(i)) == from.plain(from.parameter(i))));
    for (int i = 0; i < t.states(); ++i) BOOST_TEST((t.plain(t.state(i)) == from.plain(from.state(i))));
    // Where the weights would not fit either, it is not proposed.
    trainer<std::remove_const_t<decltype(noisy)>, softmax_cross_entropy_loss, momentum, 4> other({}, {.threads = 1});
    try {
        load(other, folder / "f");
        BOOST_ERROR("loaded");
    } catch (const mismatch_error& e) {
        BOOST_TEST((std::string_view(e.what()).find("saved::weights") == std::string_view::npos));
    }
}
BOOST_AUTO_TEST_CASE(memory_of_the_same_extents_may_be_another_optimizers) {
    const temporary_folder folder;
    trainer_of<net, momentum> from({}, {.threads = 1, .seed = 2});
    from.step(batch);
    save(from, folder / "f");
    trainer_of<net, rmsprop> t({}, {.threads = 1});
    takes_weights_alone(t, folder / "f", "memory is another's", "that of 'momentum'",
                        "that of rmsprop: to load the weights alone, write load(..., saved::weights)");
    // One that keeps the same, and one around another, take it.
    trainer_of<net, clip_by_value<nesterov>> like({}, {.threads = 1});
    load(like, folder / "f");
    BOOST_TEST((everything(like) == everything(from)));
    // A file of an older program does not say.
    const safetensors::file f = safetensors::read(folder / "f");
    std::vector<safetensors::entry> entries;
    for (const auto& [name, v] : f.tensors) entries.push_back({name, v.type, v.shape, v.data.data()});
    safetensors::write(folder / "old", entries, {{"format", "sinter"}});
    load(t, folder / "old");
    BOOST_TEST((t.steps() == 1));
}
BOOST_AUTO_TEST_CASE(the_seed_is_compared_where_it_matters) {
    const temporary_folder folder;
    trainer_of<noisy, adam> from({}, {.threads = 1, .seed = 7}), same({}, {.threads = 1, .seed = 7}),
        t({}, {.threads = 1, .seed = 8});
    from.step(batch);
    save(from, folder / "f");
    save(from, folder / "weights", saved::weights);
    BOOST_TEST((safetensors::read(folder / "f").metadata.at("seed") == "7"));
    const auto before = everything(t);
    check_error<mismatch_error>([&] { load(t, folder / "f"); }, "another seed", folder / "f", "7", "8");
    BOOST_TEST((everything(t) == before));
    load(same, folder / "f");
    BOOST_TEST((same.step(batch) == from.step(batch)));
    load(t, folder / "f", saved::weights);
    load(t, folder / "weights");
    // A file of an older program, without a seed.
    const safetensors::file f = safetensors::read(folder / "f");
    std::vector<safetensors::entry> entries;
    for (const auto& [name, v] : f.tensors) entries.push_back({name, v.type, v.shape, v.data.data()});
    safetensors::write(folder / "old", entries, {{"format", "sinter"}});
    load(t, folder / "old");
    BOOST_TEST((t.steps() == 1));
    // Without dropout no step depends on the seed.
    trainer_of<net, adam> a({}, {.threads = 1, .seed = 7}), b({}, {.threads = 1, .seed = 8});
    a.step(batch);
    save(a, folder / "net");
    load(b, folder / "net");
    BOOST_TEST((a.step(batch) == b.step(batch)));
}
BOOST_AUTO_TEST_CASE(carried_sequences_are_no_weights) {
    const temporary_folder folder;
    trainer_of<carried, sgd, 3, mse_loss> from({}, {.threads = 1, .seed = 2});
    trainer_of<carried, sgd, 4, mse_loss> t({}, {.threads = 1});
    save(from, folder / "f");
    check_error<mismatch_error>([&] { load(t, folder / "f"); }, "saved::weights", folder / "f");
    load(t, folder / "f", saved::weights);
    BOOST_TEST((t.plain(t.parameter(0)) == from.plain(from.parameter(0))));
    // A predictor needs none of them, whatever its batch.
    std::vector<float> in(8, 0.5f);
    const span<const float> want = from.predict({.x = in.data(), .size = 1});
    predictor p{carried, from}, q{carried, weights_file(folder / "f")};
    BOOST_TEST((p(in)[0] == want[0]));
    BOOST_TEST((q(in)[0] == want[0]));
}

BOOST_AUTO_TEST_CASE(files_of_other_programs_are_told_how_to_convert) {
    const temporary_folder folder;
    trainer_of<net, sgd> t({}, {.threads = 1});
    const auto zip = [](std::string_view member) {
        return std::string("PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x08\0\0\0", 30) +
            std::string(member) + "rest of it";
    };
    const struct { const char* name; std::string bytes, what, line; } files[] = {
        {"net.pt", zip("archive/data.pkl"), "PyTorch", "torch.load('"},
        {"old.pth", std::string("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", 16), "PyTorch", "save_file"},
        {"net.keras", zip("metadata.json"), "Keras", "keras.models.load_model('"},
        {"net.h5", "\x89HDF\r\n\x1a\n and more", "HDF5", "w.path"},
        {"net.onnx", "\x08\x07\x12\x07pytorch", "ONNX", "onnx.load('"},
        {"net.gguf", std::string("GGUF\x03\0\0\0\0\0", 10), "GGUF", "GGUFReader('"},
        {"net.tflite", std::string("\x1c\0\0\0TFL3\0\0\0\0", 12), "TensorFlow Lite", "Keras model"},
        {"saved_model.pb", "\x08\x01\x12\xa0\x1f\n\x83\x01", "saved_model.pb", "tensorflow.saved_model.load"},
        {"pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS", "git lfs pull"},
        {"notes.txt", "weights {of run 7}\non Sunday\n", "a text that begins with 'weights {of run 7}'", "save()"},
        {"table.csv", "\xef\xbb\xbfgr\xc3\xb6\xc3\x9f\x65,1\n", "a text that begins with", "save()"},
        {"cut.txt", "weights" + std::string(600, 'w').substr(0, 504) + "\xc3\xb6", "a text that begins with", "save()"},
        {"wide.txt", std::string("\xff\xfew\0e\0i\0g\0h\0t\0s\0", 16), "a text that begins with", "save()"},
        {"model.safetensors.index.json", "{\"metadata\": {}, \"weight_map\": {}}", "the index", "that it names"},
        {"page", "<!DOCTYPE html><html><body>404</body></html>", "a web page", "downloaded"},
    };
    for (const auto& f : files) {
        const std::string path = write_bytes(folder / f.name, f.bytes);
        check_error<format_error>([&] { load(t, path); }, "not a safetensors file", path, f.what, f.line);
        check_error<format_error>([&] { load_weights(t, path, {}); }, "not a safetensors file", path, f.what, f.line);
        check_error<format_error>([&] { weights_file w(path); }, "not a safetensors file", path, f.what, f.line);
        check_error<format_error>([&] { load(t, as_bytes(f.bytes)); }, "not a safetensors file", "memory", f.what);
    }
    const float one = 1;
    npz::write(folder / "a.npz", {{"x", npy::dtype::f32, {1}, &one}});
    check_error<format_error>([&] { load(t, folder / "a.npz"); }, "not a safetensors file", "a.npz", "npz",
                              "load_weights");
}
BOOST_AUTO_TEST_CASE(elements_of_every_type) {
    using safetensors::dtype;
    const auto of = [](dtype type, const auto& v) {
        return safetensors::tensor_view{"t", type, {static_cast<std::int64_t>(std::size(v))}, as_bytes(v)};
    };
    const std::vector<std::uint16_t> half{0x3c00, 0xc000, 0x0001, 0x7c00}, brain{0x3f80, 0xc040};
    BOOST_TEST((of(dtype::f16, half).as<double>() == (std::vector<double>{1, -2, 0x1p-24, HUGE_VAL})));
    BOOST_TEST((of(dtype::bf16, brain).as<float>() == (std::vector<float>{1, -3})));
    const std::vector<double> d{0.1, 1e300};
    BOOST_TEST((of(dtype::f64, d).as<float>() == (std::vector<float>{0.1f, HUGE_VALF})));
    BOOST_TEST((of(dtype::f64, d).as<double>() == d));
    const std::vector<std::int64_t> i{-1, 127, (std::int64_t{1} << 53) + 2};
    BOOST_TEST((of(dtype::i64, i).as<double>() == (std::vector<double>{-1, 127, 9007199254740994.})));
    BOOST_TEST((of(dtype::i64, i).as<std::int64_t>() == i));
    check_error<data_error>([&] { of(dtype::i64, i).as<std::int32_t>(); }, "does not fit", "'t', element 2",
                            "9007199254740994", "2147483647");
    check_error<data_error>([&] { of(dtype::i64, i).as<std::uint64_t>(); }, "does not fit", "element 0", "-1",
                            "0 to 18446744073709551615");
    const std::vector<std::uint64_t> u{UINT64_MAX};
    check_error<data_error>([&] { of(dtype::u64, u).as<std::int64_t>(); }, "does not fit", "element 0");
    const std::vector<std::int8_t> b{-128, 0, 1};
    BOOST_TEST((of(dtype::i8, b).as<int>() == (std::vector<int>{-128, 0, 1})));
    BOOST_TEST((of(dtype::boolean, b).as<int>() == (std::vector<int>{1, 0, 1})));
    check_error<mismatch_error>([&] { of(dtype::f64, d).as<int>(); }, "no whole numbers", "'t'", "F64 [2]");
    check_error<mismatch_error>([&] { of(dtype::c64, d).as<float>(); }, "no C++ type", "'t'", "C64");
    const temporary_folder folder;
    const std::vector<std::int32_t> whole{3, -4};
    npz::write(folder / "a.npz", {{"n", npy::dtype::i32, {2}, whole.data()}});
    BOOST_TEST((npz::read(folder / "a.npz").at("n").as<float>() == (std::vector<float>{3, -4})));
}
