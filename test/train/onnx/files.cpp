// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE onnx_files
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include "support/onnx_file.hpp"
#include <sinter/expr/input.hpp>
#include <sinter/expr/layers/activation.hpp>
#include <sinter/expr/layers/elementwise.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/ops/random_uniform.hpp>
#include <sinter/train/export_onnx.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>

// What is in an ONNX file, and what is refused.
using namespace sinter;
using test::onnx_file;

namespace {
constexpr auto net = features<3> >> named<"hidden">(dense<4>) >> relu >> dense<2>;

struct noisy_layer : layer<noisy_layer> {
    static constexpr const char* name = "noisy";
    static constexpr tensor trace(tensor x) { return x + ops::random_uniform(x); }
};
constexpr auto noisy = features<3> >> named<"block">([](tensor x) { return noisy_layer{}(dense<3>(x)); });
} // namespace

BOOST_AUTO_TEST_CASE(the_messages_of_protobuf) {   // protobuf.dev/programming-guides/encoding has the first and the third
    BOOST_TEST(onnx::message().integer(1, 150).bytes() == "\x08\x96\x01");
    BOOST_TEST(onnx::message().integer(1, -1).bytes() == "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    BOOST_TEST(onnx::message().text(2, "testing").bytes() == "\x12\x07testing");
    BOOST_TEST(onnx::message().nested(3, onnx::message().integer(1, 150)).bytes() == "\x1a\x03\x08\x96\x01");
    BOOST_TEST(onnx::message().integer(20, 7).bytes() == "\xa0\x01\x07");
    BOOST_TEST(onnx::message().real(2, 1.f).bytes() == std::string("\x15\0\0\x80\x3f", 5));
}

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
    const std::string path = folder / "noisy.onnx";
    check_error<option_error>([&] { export_onnx(noisy, path); }, "cannot be written as ONNX", path + ", layer block/noisy",
                              "random_uniform");
    BOOST_TEST(folder.entries() == 0u);
    // With an emitter of one's own it can.
    const onnx::emitter zeros{op::random_uniform, [](onnx::exporter& e, int id) {
                                  e.set(id, e.add(id, "Sub", {e.value(e.g.inputs[0]), e.value(e.g.inputs[0])}));
                              }};
    export_onnx(noisy, path, {.own = {zeros}});
    BOOST_TEST(onnx_file(read_bytes(path)).count("Sub") == 1);
    check_error<io_error>([&] { export_onnx(net, folder / "none/x.onnx"); }, "cannot open the folder", "none/x.onnx");
}
