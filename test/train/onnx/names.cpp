// SPDX-License-Identifier: BSL-1.0
// needs: python
#define BOOST_TEST_MODULE onnx_names
#include "support/onnx_run.hpp"
#include <sinter/sinter.hpp>

// Inputs and outputs have the names in an ONNX file that the net gives them: onnxruntime is handed a batch under these,
// and compares what comes out under these.
using namespace sinter;
using test::agrees;

namespace {
constexpr auto net = inputs(input<"dense/kernel">(features<3>), input<"job">(indices<2>))
    >> [](tensor age, tensor job) {
    const tensor h = relu(dense<4>(age) + dense<4>(flatten(embedding<5, 2>(job))));
    return outputs(output<"score">(dense<2>(h)), dense<1>(h), output<"output">(sigmoid(dense<3>(h))));
};
/// An output that is called as an input would be.
constexpr auto one = features<3> >> dense<2> >> output<"input">;
} // namespace

BOOST_AUTO_TEST_CASE(a_net_with_names) {
    const test::onnx_file f = agrees<net>();
    BOOST_TEST((f.inputs == std::vector<std::string>{"dense/kernel", "job"}));   // before the weights of that path
    BOOST_TEST((f.outputs == std::vector<std::string>{"score", "output_1", "output"}));
    BOOST_TEST(f.constants.contains("dense/kernel_1"));
    BOOST_TEST(f.constants.contains("dense_1/kernel"));
}
BOOST_AUTO_TEST_CASE(names_that_are_said_come_first) {
    const temporary_folder folder;
    export_onnx(one, folder / "one.onnx");
    const test::onnx_file f(read_bytes(folder / "one.onnx"));
    BOOST_TEST((f.outputs == std::vector<std::string>{"input"}));
    BOOST_TEST((f.inputs == std::vector<std::string>{"input_1"}));
}
