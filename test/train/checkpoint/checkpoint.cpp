// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE checkpoint
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include "support/hindrances.hpp"
#include <sinter/sinter.hpp>

// Files that do not fit are refused as a whole: each complaint names what differs, and the trainer stays as it was.
using namespace sinter;

constexpr auto net = features<3> >> named<"hidden">(dense<4>) >> batch_norm >> relu >> named<"logits">(dense<2>);
constexpr auto wider = features<3> >> named<"hidden">(dense<5>) >> batch_norm >> relu >> named<"logits">(dense<2>);
constexpr auto renamed = features<3> >> named<"hidden">(dense<4>) >> batch_norm >> relu >> named<"out">(dense<2>);
template <const auto& Net, class Optimizer>
using trainer_of = trainer<std::remove_cvref_t<decltype(Net)>, softmax_cross_entropy_loss, Optimizer, 4>;
using small_net = trainer_of<net, adam>;

struct one_batch {
    float x[12] = {1, 2, 3, -1, 0, 1, 4, 4, 2, 0, 0, -3};
    std::int32_t labels[4] = {0, 1, 1, 0};
    data::batch_view view() const { return {.x = x, .labels = labels, .size = 4}; }
};
template <class Trainer>
static Trainer& trained(Trainer& t, int steps) {
    const one_batch b;
    for (int i = 0; i < steps; ++i) t.step(b.view());
    return t;
}
template <class Trainer>
static std::vector<float> everything(const Trainer& t) {
    std::vector<float> all{static_cast<float>(t.steps())};
    auto add = [&](const std::vector<float>& x) { all.insert(all.end(), x.begin(), x.end()); };
    for (int i = 0; i < t.parameters(); ++i) add(t.plain(t.parameter(i)));
    for (int i = 0; i < t.states(); ++i) add(t.plain(t.state(i)));
    for (int s = 0; s < Trainer::training::v.slots; ++s)
        for (int i = 0; i < t.parameters(); ++i) add(t.plain_slot(t.parameter(i), s));
    return all;
}

/// Loading `path` must throw Error with these parts, and leave a trainer that has done 3 steps as it is.
template <class Error>
static void refused(const std::string& path, std::string_view fault, std::string_view where, std::string_view got = {},
                    std::string_view needed = {}) {
    small_net t(adam{}, {.threads = 1, .seed = 9});
    const auto before = everything(trained(t, 3));
    check_error<Error>([&] { load(t, path); }, fault, where, got, needed);
    BOOST_TEST(everything(t) == before);
}
/// The same for files whose tensors do not fit: the complaint has these lines, and names the file.
static void mismatched(const std::string& path, std::initializer_list<const char*> lines) {
    for (const char* line : lines) refused<mismatch_error>(path, line, path);
}
/// What save() writes, changed by `change` before it goes into a file.
template <class Change>
static std::string changed_file(const temporary_folder& folder, Change change) {
    small_net t(adam{}, {.threads = 1});
    const std::string path = folder / "changed.safetensors";
    save(trained(t, 2), path);
    const safetensors::file f = safetensors::read(path);
    std::vector<safetensors::entry> entries;
    for (const auto& [name, tensor] : f.tensors)
        entries.push_back({name, tensor.type, tensor.shape, tensor.data.data()});
    change(entries);
    safetensors::write(path, std::move(entries), {});
    return path;
}
static safetensors::entry& entry_named(std::vector<safetensors::entry>& entries, std::string_view name) {
    for (safetensors::entry& e : entries)
        if (e.name == name) return e;
    throw std::runtime_error("the test speaks of a tensor that is not there");
}

BOOST_AUTO_TEST_CASE(what_is_saved_comes_back) {
    const temporary_folder folder;
    const std::string path = folder / "model.safetensors";
    small_net a(adam{}, {.threads = 1, .seed = 1}), b(adam{}, {.threads = 1, .seed = 2});
    save(trained(a, 5), path);
    load(b, path);
    BOOST_TEST(everything(b) == everything(a));
    BOOST_TEST(folder.entries() == 1u);   // no temporary file is left

    const safetensors::file f = safetensors::read(path);
    for (const char* name : {"hidden/kernel", "hidden/bias", "batch_norm/gamma", "batch_norm/running_mean",
                             "batch_norm/running_variance", "logits/kernel", "optimizer/0/hidden/kernel",
                             "optimizer/1/logits/bias", "step"})
        BOOST_TEST(f.tensors.contains(name), name);
}
BOOST_AUTO_TEST_CASE(a_file_of_weights_leaves_the_optimizer_alone) {
    const temporary_folder folder;
    const std::string path = folder / "weights.safetensors";
    small_net a(adam{}, {.threads = 1, .seed = 1}), b(adam{}, {.threads = 1, .seed = 2});
    save(trained(a, 5), path, saved::weights);
    BOOST_TEST(!safetensors::read(path).tensors.contains("step"));
    trained(b, 3);
    const std::vector<float> moment = b.plain_slot(b.parameter(0), 0);
    load(b, path);
    BOOST_TEST(b.steps() == 3);
    BOOST_TEST(b.plain_slot(b.parameter(0), 0) == moment);
    for (int i = 0; i < a.parameters(); ++i) BOOST_TEST(b.plain(b.parameter(i)) == a.plain(a.parameter(i)));
    for (int i = 0; i < a.states(); ++i) BOOST_TEST(b.plain(b.state(i)) == a.plain(a.state(i)));
    // The order of the tensors in a file, and who wrote it, do not matter; nor does the optimizer for weights.
    trainer_of<net, sgd> c(sgd{}, {.threads = 1, .seed = 3});
    load(c, path);
    BOOST_TEST(c.plain(c.parameter(0)) == a.plain(a.parameter(0)));
}
BOOST_AUTO_TEST_CASE(other_names) {
    const temporary_folder folder;
    const std::string path = folder / "renamed.safetensors";
    trainer_of<renamed, adam> other(adam{}, {.threads = 1});
    save(trained(other, 2), path);
    mismatched(path, {"12 differences", "\n  'logits/kernel': missing, needed F32 [4, 2]",
                      "\n  'out/kernel': unexpected, got F32 [4, 2]",
                      "\n  'optimizer/1/logits/bias': missing, needed F32 [2]"});
    save(other, path, saved::weights);
    mismatched(path, {"4 differences", "\n  'logits/bias': missing, needed F32 [2]",
                      "\n  'out/bias': unexpected, got F32 [2]"});
}
BOOST_AUTO_TEST_CASE(other_extents) {
    const temporary_folder folder;
    const std::string path = folder / "wider.safetensors";
    trainer_of<wider, adam> other(adam{}, {.threads = 1});
    save(trained(other, 2), path);
    mismatched(path, {"\n  'hidden/kernel': shape: got [3, 5], needed [3, 4]",
                      "\n  'batch_norm/running_mean': shape: got [5], needed [4]",
                      "\n  'optimizer/0/logits/kernel': shape: got [5, 2], needed [4, 2]"});
}
BOOST_AUTO_TEST_CASE(other_types) {
    const temporary_folder folder;
    mismatched(changed_file(folder, [](auto& e) { entry_named(e, "hidden/bias").type = safetensors::dtype::i32; }),
               {"1 difference:", "\n  'hidden/bias': type: got I32, needed F32"});
}
BOOST_AUTO_TEST_CASE(no_optimizer_state) {
    const temporary_folder folder;
    const auto without = [&](std::string_view beginning) {
        return changed_file(folder,
                            [&](auto& e) { std::erase_if(e, [&](auto& t) { return t.name.starts_with(beginning); }); });
    };
    mismatched(without("optimizer/1/"),
               {"6 differences", "\n  'optimizer/1/hidden/kernel': missing, needed F32 [3, 4]"});
    mismatched(without("step"), {"12 differences", "\n  'optimizer/0/hidden/kernel': unexpected, got F32 [3, 4]"});
    const std::string path = folder / "sgd.safetensors";   // another optimizer's file says how many steps, but not more
    trainer_of<net, sgd> other(sgd{}, {.threads = 1});
    save(trained(other, 2), path);
    mismatched(path, {"12 differences", "\n  'optimizer/0/hidden/kernel': missing, needed F32 [3, 4]",
                      "\nIts weights fit."});
    mismatched(without("hidden/kernel"), {"'hidden/kernel': missing", "are loaded by load_weights(...)"});
}
BOOST_AUTO_TEST_CASE(a_negative_number_of_steps) {
    const temporary_folder folder;
    static const std::int64_t steps = -1;
    refused<format_error>(changed_file(folder, [](auto& e) { entry_named(e, "step").data = &steps; }),
                          "number of steps", "tensor step", "-1", "0 or more");
}
BOOST_AUTO_TEST_CASE(truncated_files) {
    const temporary_folder folder;
    small_net t(adam{}, {.threads = 1});
    const std::string whole = read_bytes((save(trained(t, 2), folder / "whole"), folder / "whole"));
    for (std::size_t keep :
         {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{40}, whole.size() / 2, whole.size() - 1}) {
        BOOST_TEST_CONTEXT(keep << " of " << whole.size() << " bytes")
        refused<format_error>(write_bytes(folder / "part", whole.substr(0, keep)), "", "part");
    }
}
BOOST_AUTO_TEST_CASE(files_that_cannot_be_read_or_written) {
    const temporary_folder folder;
    refused<io_error>(folder / "missing", "", "missing");
    const std::string path = folder / "model";
    small_net t(adam{}, {.threads = 1});
    save(trained(t, 2), path);
    const std::string before = read_bytes(path);
    // The target cannot be replaced (it is a folder), nor a file made where there is no folder; what exists stays.
    std::filesystem::create_directory(folder / "taken");
    write_bytes(folder / "taken/inside", "x");
    check_error<io_error>([&] { save(t, folder / "taken"); }, "", "taken");
    check_error<io_error>([&] { save(t, path + "/model"); }, "", "model");
    BOOST_TEST(read_bytes(path) == before);
    BOOST_TEST(folder.entries() == 2u);   // the file and the folder: nothing half-written beside them
}
BOOST_AUTO_TEST_CASE(a_folder_without_write_permission) {
    const temporary_folder folder;
    const std::string path = folder / "model";
    small_net t(adam{}, {.threads = 1});
    save(trained(t, 2), path);
    const std::string before = read_bytes(path);
    trained(t, 1);
    {
        const read_only_folder closed(folder / "");
        if (!closed.binds()) return skip("root cannot lay down its rights here");
        check_error<io_error>([&] { save(t, path); }, "temporary file", path, "Permission denied");
        check_error<io_error>([&] { save(t, folder / "new"); }, "temporary file", folder / "new", "Permission denied");
    }
    BOOST_TEST(read_bytes(path) == before);
    BOOST_TEST(folder.entries() == 1u);
    save(t, path);   // and nothing is broken: with the right it works
    BOOST_TEST(read_bytes(path) != before);
}
BOOST_AUTO_TEST_CASE(a_full_disk) {
    const temporary_folder folder;
    const std::string path = folder / "model";
    small_net t(adam{}, {.threads = 1});
    save(trained(t, 2), path);
    const std::string before = read_bytes(path);
    trained(t, 1);
    // full in the header, and in the last tensor
    for (const std::size_t room : {std::size_t{0}, std::size_t{100}, before.size() - 1}) {
        const file_size_limit limit(room);
        check_error<io_error>([&] { save(t, path); }, "cannot write", path, "File too large");
    }
    BOOST_TEST(read_bytes(path) == before);
    BOOST_TEST(folder.entries() == 1u);
    small_net again(adam{}, {.threads = 1, .seed = 9});
    load(again, path);
    BOOST_TEST(again.steps() == 2);
    save(t, path);
    BOOST_TEST(read_bytes(path) != before);
}

/// A parameter and a state of given names, at the root or inside a scope.
template <compiler::text Parameter, compiler::text State>
struct own_names : layer_tag {
    constexpr tensor operator()(tensor x) const {
        const tensor s = state(x, State.c, extents(3), zeros);
        assign(s, s + 1.f);
        return x * parameter(x, Parameter.c, extents(3), ones) + stop_gradient(s);
    }
};
template <compiler::text P, compiler::text S>
inline constexpr own_names<P, S> own{};
template <class Layer>
constexpr bool can_be_saved(Layer) {
    using net = decltype(features<3> >> Layer{} >> dense<2>);
    return names_are_free<trainer<net, softmax_cross_entropy_loss, adam, 4>>();
}
// A file's own keys are `step` and `optimizer/SLOT/...`: with such names one tensor would stand for two.
BOOST_AUTO_TEST_CASE(names_that_files_keep_for_themselves) {
    static_assert(can_be_saved(own<"scale", "count">));
    static_assert(!can_be_saved(own<"step", "count">));
    static_assert(!can_be_saved(own<"scale", "step">));
    static_assert(!can_be_saved(own<"optimizer/0/x", "count">));
    static_assert(!can_be_saved(named<"optimizer/0">(dense<3>)));
    static_assert(!can_be_saved(named<"optimizer">(own<"scale", "count">)));
    static_assert(!can_be_saved(named<"optimizer">(named<"inside">(dense<3>))));
    static_assert(can_be_saved(own<"steps", "optimizer">));
    static_assert(can_be_saved(named<"optimizers">(dense<3>)));
    static_assert(can_be_saved(named<"step">(dense<3>)));   // step/kernel
    static_assert(can_be_saved(named<"hidden">(own<"step", "count">)));
    static_assert(can_be_saved(named<"hidden">(named<"optimizer">(dense<3>))));

    const temporary_folder folder;   // names as close as they may come do save and load
    using close_net = decltype(features<3> >> named<"hidden">(own<"step", "optimizer">) >> named<"step">(dense<2>));
    trainer<close_net, softmax_cross_entropy_loss, adam, 4> a(adam{}, {.threads = 1, .seed = 1}),
        b(adam{}, {.threads = 1, .seed = 2});
    save(trained(a, 3), folder / "model");
    load(b, folder / "model");
    BOOST_TEST(everything(b) == everything(a));
}
