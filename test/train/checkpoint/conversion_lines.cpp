// SPDX-License-Identifier: BSL-1.0
// shows files: loading is all or nothing; files of another optimizer, seed or program say what to do
// needs: python
// once: what Python is told does not depend on the compiler
#define BOOST_TEST_MODULE conversion_lines
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/run_command.hpp"
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/checkpoint/load_weights.hpp>

// The lines of Python that errors print for files of other frameworks are run as they stand, and
// what they write is loaded.
using namespace sinter;

namespace {

/// Python's exit status; what it said is shown where that is not expected.
int python(const std::string& line, const std::string& folder) {
    const char* const name = std::getenv("SINTER_PYTHON");
    const command_result said =
        run_command("cd '" + folder + "' && '" + std::string(name ? name : "python3") + "' " + line + " 2>&1");
    BOOST_TEST_MESSAGE(said.output);
    return said.status;
}
/// Behind `python3 `: -c "...".
std::string line_of(const std::string& needed) {
    const std::size_t from = needed.find("-c \""), to = needed.find('"', from + 4);
    BOOST_REQUIRE(from != std::string::npos);
    BOOST_REQUIRE(to != std::string::npos);
    return needed.substr(from, to + 1 - from);
}
/// Makes `file` by a script, has load() refuse it, runs the line of the error, and checks the weights of
/// y = x w + b: w = [[1, 2, 3], [4, 5, 6]] and b = [7, 8, 9].
void check(const std::string& script, const char* file, const char* converted, const name_map& names,
           const char* modules) {
    const temporary_folder folder;
    if (python("-c 'import " + std::string(modules) + "'", folder / "") != 0)
        return skip(("no python3 with " + std::string(modules) + " (SINTER_PYTHON may name one)").c_str());
    write_bytes(folder / "make.py", script);
    BOOST_REQUIRE(python("make.py", folder / "") == 0);
    estimator m{features<2> >> dense<3>, mse, sgd{}, trainer_options{.threads = 1}};
    std::string line;
    try {
        m.load(folder / file);
    } catch (const format_error& e) {
        line = line_of(e.needed());
    }
    BOOST_REQUIRE(!line.empty());
    BOOST_REQUIRE_MESSAGE(python(line, folder / "") == 0, line);
    m.load_weights(folder / converted, names);
    const float x[] = {1, 0, 0, 1, 0, 0};
    const span<const float> y = m.predict({.x = x, .size = 3});
    const float want[] = {8, 10, 12, 11, 13, 15, 7, 8, 9};
    for (std::size_t i = 0; i < 9; ++i) BOOST_TEST(y[i] == want[i]);
}

} // namespace

/// A state_dict whose kernel is no contiguous tensor, and shares its memory with another.
BOOST_AUTO_TEST_CASE(of_pytorch) {
    check("import torch\n"
          "w = torch.tensor([[1., 2, 3], [4, 5, 6]])\n"
          "torch.save({'fc.weight': w.t(), 'fc.bias': torch.tensor([7., 8, 9]), 'tied': w}, 'net.pt')\n",
          "net.pt", "converted.safetensors",
          {.from = framework::pytorch, .rules = {{"fc.*", "dense/*"}}, .ignore = {"tied"}},
          "torch, safetensors");
}
BOOST_AUTO_TEST_CASE(of_onnx) {
    check("import numpy, onnx\n"
          "from onnx import helper, numpy_helper, TensorProto as t\n"
          "w = numpy_helper.from_array(numpy.array([[1, 2, 3], [4, 5, 6]], numpy.float32), 'dense/kernel')\n"
          "b = numpy_helper.from_array(numpy.array([7, 8, 9], numpy.float32), 'dense/bias')\n"
          "g = helper.make_graph([helper.make_node('Gemm', ['x', 'dense/kernel', 'dense/bias'], ['y'])], 'g',\n"
          "    [helper.make_tensor_value_info('x', t.FLOAT, ['n', 2])],\n"
          "    [helper.make_tensor_value_info('y', t.FLOAT, ['n', 3])], [w, b])\n"
          "onnx.save(helper.make_model(g), 'net.onnx')\n",
          "net.onnx", "converted.npz", {}, "onnx, numpy");
}
BOOST_AUTO_TEST_CASE(of_keras) {
    check("import keras, numpy\n"
          "m = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name='dense')])\n"
          "m.set_weights([numpy.array([[1, 2, 3], [4, 5, 6]]), numpy.array([7, 8, 9])])\n"
          "m.save('net.keras')\n",
          "net.keras", "converted.npz", {.from = framework::keras}, "keras, numpy");
}
