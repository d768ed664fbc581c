// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE onnx_files
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include "support/hindrances.hpp"
#include "support/onnx_file.hpp"
#include "support/source_folder.hpp"
#include <sinter/device/cpu.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/elementwise.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/layers/bidirectional.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/io/onnx/emitters.hpp>
#include <sinter/io/onnx/refusals.hpp>
#include <sinter/ops/ctc_loss.hpp>
#include <sinter/train/export_onnx.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

// What is in an ONNX file, and what is refused.
using namespace sinter;
using test::onnx_file;

namespace {
constexpr auto net = features<3> >> named<"hidden">(dense<4>) >> relu >> dense<2>;

/// The loss as an output, within a layer.
struct scored_layer : layer<scored_layer> {
    static constexpr const char* name = "scored";
    static constexpr tensor trace(tensor x, tensor labels) { return ops::ctc_loss(x, labels); }
};
constexpr auto scored = inputs(array<4, 3>, indices<2>)
    >> named<"block">([](tensor x, tensor y) { return scored_layer{}(dense<3>(x), y); });
/// Sequences of different lengths, both ways.
constexpr auto tagger = inputs(array<5, 3>, indices<>) >> [](tensor x, tensor lengths) {
    return bundle(bidirectional(lstm<4>)(bundle(x, lengths)), dense<2>(x));
};
/// Parameters that are called as others' values are.
constexpr auto namesakes = features<3> >> [](tensor x) {
    const auto p = [x](const char* name) { return parameter(x, name, extents(3), zeros); };
    return bundle((x + 1.f) * p("output_1") + p("number"), x * p("output") + p("input"));
};
const std::filesystem::path top = source_folder();
} // namespace

BOOST_AUTO_TEST_CASE(a_net_as_it_begins) {
    const temporary_folder folder;
    export_onnx(net, folder / "a.onnx");
    export_onnx(net, folder / "b.onnx");
    export_onnx(net, folder / "c.onnx", {.seed = 2});
    const std::string bytes = read_bytes(folder / "a.onnx");
    BOOST_TEST(bytes == read_bytes(folder / "b.onnx"));
    BOOST_TEST(bytes != read_bytes(folder / "c.onnx"));
    const onnx_file f(bytes);
    BOOST_TEST((f.operators == std::map<std::string, int>{{"Add", 2}, {"MatMul", 2}, {"Relu", 1}}));
    BOOST_TEST((f.constants.at("hidden/kernel") == std::vector<std::uint64_t>{3, 4}));
    BOOST_TEST((f.constants.at("dense/bias") == std::vector<std::uint64_t>{2}));
    BOOST_TEST(f.constants.size() == 4u);
    BOOST_TEST(folder.entries() == 3u);
}

BOOST_AUTO_TEST_CASE(a_trainer_as_it_is) {
    const temporary_folder folder;
    trainer<std::remove_const_t<decltype(net)>, mse_loss, sgd, 4> t({}, {.threads = 1});
    const float x[] = {1, 2, 3}, y[] = {4, 5};
    t.step({.x = x, .y = y, .size = 1});
    export_onnx(t, folder / "t.onnx");
    const std::string bytes = read_bytes(folder / "t.onnx");
    for (int i = 0; i < t.parameters(); ++i) {   // as it lies in memory, so it lies in the file
        const std::vector<float> p = t.plain(t.parameter(i));
        const std::string wanted(reinterpret_cast<const char*>(p.data()), p.size() * sizeof(float));
        BOOST_TEST((bytes.find(wanted) != std::string::npos), t.path(t.parameter(i)));
    }
}

BOOST_AUTO_TEST_CASE(what_onnx_has_no_operator_for) {
    const temporary_folder folder;
    const std::string path = folder / "scored.onnx";
    check_error<option_error>([&] { export_onnx(scored, path); }, "cannot be written as ONNX",
                              path + ", layer block/scored", "ctc_loss, a loss");
    BOOST_TEST(folder.entries() == 0u);
    // With an emitter of one's own it can.
    const onnx::emitter zeros{op::ctc_loss, [](onnx::exporter& e, int id) { e.set(id, e.filled(id, e.s(id), 0.f)); }};
    export_onnx(scored, path, {.own = {zeros}});
    BOOST_TEST(onnx_file(read_bytes(path)).count("Expand") == 1);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_written) {
    const temporary_folder folder;
    const std::string path = folder / "x.onnx";
    write_bytes(folder / "file", "x");
    check_error<io_error>([&] { export_onnx(net, folder / "file/x.onnx"); }, "cannot open the folder", "file/x.onnx");
    check_error<io_error>([&] { export_onnx(net, folder / ""); }, "cannot write", "", "ends in a folder");
    export_onnx(net, path);
    const std::string before = read_bytes(path);
    {
        const file_size_limit disk(64);
        check_error<io_error>([&] { export_onnx(net, path, {.seed = 2}); }, "cannot write", path);
    }
    BOOST_TEST(read_bytes(path) == before);   // the old one is whole
    BOOST_TEST(folder.entries() == 2u);
    const read_only_folder closed(folder / "");
    if (closed.binds()) check_error<io_error>([&] { export_onnx(net, folder / "y.onnx"); }, "cannot create", "y.onnx");
}

BOOST_AUTO_TEST_CASE(more_than_protobuf_allows) {
    onnx::model m;
    m.most_bytes = 1000;
    const std::vector<float> x(100);
    for (int i = 0; i < 2; ++i) m.floats("x", {100}, x);
    BOOST_TEST(m.encode("net", "f.onnx").size() < 1000u);
    m.floats("x", {100}, x);
    check_error<format_error>([&] { m.encode("net", "f.onnx"); }, "too large", "f.onnx", "1200 bytes", "at most 1000");
}

BOOST_AUTO_TEST_CASE(lists_of_a_few_numbers_are_as_vectors) {
    onnx::few_numbers x{1, 2, 3};
    std::vector<std::int64_t> y{1, 2, 3};
    const auto same = [&] { return std::equal(x.begin(), x.end(), y.begin(), y.end()); };
    x.insert(x.begin() + 1, x.back()), y.insert(y.begin() + 1, y.back());
    x.erase(x.begin()), y.erase(y.begin());
    const std::vector<std::int64_t> more{7, 8, 9};
    x.insert(x.begin() + 2, more.data(), more.data() + 3), y.insert(y.begin() + 2, more.begin(), more.end());
    BOOST_TEST(same());
    x.pop_back(), y.pop_back();
    x.insert(x.end(), 0), y.insert(y.end(), 0);
    BOOST_TEST(same());
    while (x.size() < onnx::few_numbers::most) x.push_back(5), y.push_back(5);
    BOOST_TEST(same());
    check_error<option_error>([&] { x.push_back(5); }, "too many numbers", "few_numbers", "17", "at most 16");
    check_error<option_error>([&] { onnx::ints("axes", std::vector<std::int64_t>(20)); }, "too many numbers",
                              "few_numbers", "20");
    BOOST_TEST(same());
}

BOOST_AUTO_TEST_CASE(a_value_is_called_by_its_name_in_the_end) {
    onnx::model m;
    const onnx::value_name a = m.unique("a"), b = m.unique("a"), none;
    BOOST_TEST(b.text() == "a_1");
    m.rename(a, m.unique("y"));
    BOOST_TEST(a.text() == "y");
    BOOST_TEST(m.unique("a").text() == "a_2");   // what was given stays given
    BOOST_TEST(none.empty());
    BOOST_TEST(none.text() == "");
}

BOOST_AUTO_TEST_CASE(names_of_inputs_and_outputs) {
    const temporary_folder folder;
    export_onnx(tagger, folder / "t.onnx");
    const onnx_file f(read_bytes(folder / "t.onnx"));
    BOOST_TEST((f.inputs == std::vector<std::string>{"input", "input_1"}));
    BOOST_TEST((f.outputs == std::vector<std::string>{"output", "output_1"}));
    for (const char* name : {"bidirectional/forward/kernel_i", "bidirectional/backward/kernel_i",
                             "bidirectional/backward/bias_o", "dense/kernel"})
        BOOST_TEST(f.constants.contains(name), name);
}

BOOST_AUTO_TEST_CASE(inputs_and_outputs_keep_their_names_before_weights_and_weights_before_numbers) {
    const temporary_folder folder;
    export_onnx(namesakes, folder / "n.onnx");
    const onnx_file f(read_bytes(folder / "n.onnx"));
    BOOST_TEST((f.inputs == std::vector<std::string>{"input"}));
    BOOST_TEST((f.outputs == std::vector<std::string>{"output", "output_1"}));
    BOOST_TEST((f.constants.at("number") == std::vector<std::uint64_t>{3}));
    for (const char* name : {"input_1", "output_2", "output_1_1", "number_1"})
        BOOST_TEST(f.constants.contains(name), name);
}

BOOST_AUTO_TEST_CASE(every_op_has_an_emitter_or_a_reason) {
    const std::vector<onnx::emitter> emitters = onnx::all_emitters();
    // what the exporter itself does, and loops' bodies
    const std::set<std::string> own{"constant", "input", "parameter", "state", "table", "loop_value"};
    const std::string page = read_bytes((top / "doc/interchange.md").string());
    std::set<std::string> ops;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top / "include/sinter")) {
        if (entry.path().extension() != ".hpp") continue;
        const std::string text = read_bytes(entry.path().string());
        for (std::size_t at = 0; (at = text.find("\nstruct rule<op::", at)) != std::string::npos; ++at) {
            const std::string rule = text.substr(at, text.find("\n};", at) - at);
            const std::size_t begin = rule.find("name = \"");
            BOOST_REQUIRE_MESSAGE(begin != std::string::npos, "no name in" << rule);
            const std::string name = rule.substr(begin + 8, rule.find('"', begin + 8) - begin - 8);
            ops.insert(name);
            const bool direct = rule.find("onnx = \"") != std::string::npos;
            const bool emitted = std::any_of(emitters.begin(), emitters.end(),
                                             [&](const onnx::emitter& e) { return e.k == op_name(name.c_str()).id; });
            const bool refused = onnx::why_not(name.c_str()) != name;
            BOOST_TEST(direct + emitted + refused + own.contains(name) == 1, name << " in " << entry.path());
        }
    }
    BOOST_TEST(ops.size() > 120u);
    for (const onnx::refusal& r : onnx::refusals) {
        BOOST_TEST(ops.contains(r.name), r.name << " is no op");
        const bool listed = page.find('`' + std::string(r.name) + '`') != std::string::npos;
        BOOST_TEST(listed, "doc/interchange.md does not list " << r.name);
    }
}
/// A hook that exports must not replace a good file by a bad one.
BOOST_AUTO_TEST_CASE(weights_that_are_not_finite) {
    const temporary_folder folder;
    trainer t(features<2> >> dense<1>, mse, sgd{}, trainer_options{.threads = 1});
    export_onnx(t, folder / "n.onnx");
    const std::string good = read_bytes(folder / "n.onnx");
    const float wrong[2] = {1, NAN};
    t.set_plain(t.parameter(0), wrong);
    check_error<data_error>([&] { export_onnx(t, folder / "n.onnx"); }, "a weight is not finite",
                            "dense/kernel, number 1", "nan");
    BOOST_TEST((read_bytes(folder / "n.onnx") == good));
    export_onnx(t, folder / "n.onnx", {.not_finite = not_finite::saved});
    BOOST_TEST((read_bytes(folder / "n.onnx") != good));
}
