// SPDX-License-Identifier: BSL-1.0
// needs: examples python
// after: predict custom_layer custom_loop custom_op custom_optimizer residual from_keras from_pytorch
// after: csv_classification csv_regression vae gpt handwriting lstm logistic_regression gan
//
// The nets of all examples in onnxruntime: their smoke tests wrote each as an ONNX file, trained, with a batch and what
// Sinter made of it. An example takes part by `--onnx NAME.onnx` in its smoke line, and above.
#define BOOST_TEST_MODULE examples_onnx
#include <boost/test/unit_test.hpp>
#include "io/run_command.hpp"
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include "support/check_in_onnxruntime.hpp"
#include "support/source_folder.hpp"

#include <map>

namespace fs = std::filesystem;

namespace {
const fs::path sources = source_folder() / "examples";

/// Examples without a net of their own to export, and why.
const std::map<std::string, std::string> without = {
    {"quickstart", "predict writes its net"},
    {"distributed", "its net is the quickstart's"},
    {"custom_strategy", "it is about how processes agree on a net's weights"},
    {"click_through", "its table is on servers"},
    {"image_folder", "it is about how pictures come to a net"},
    {"own_hook", "it is about the loop around a net"},
    {"packed_text", "it is about how text comes to a net"},
    {"policy_gradient", "it is about weights of a loss, and takes no arguments"},
    {"resume_in_the_middle", "it is about a run that is killed"},
    {"sweep", "it compares nets and keeps none"},
    {"tfrecords_of_examples", "it is about how records come to a net"},
    {"two_halves", "it is about the step of a net"}};

/// The example's NAME.onnx, as its smoke lines say; or "".
std::string exported_by(const fs::path& source) {
    const std::string text = read_bytes(source.string());
    const std::size_t at = text.find("--onnx ", text.find("// smoke:"));
    if (at == std::string::npos || text.find("// smoke:", text.rfind('\n', at)) > at) return {};
    const std::size_t begin = at + 7;
    return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}
} // namespace

BOOST_AUTO_TEST_CASE(every_net_gives_the_same_in_onnxruntime) {
    const char* const folder = std::getenv("SINTER_EXAMPLES");
    BOOST_REQUIRE_MESSAGE(folder, "SINTER_EXAMPLES names the folder of the examples' programs");
    int nets = 0;
    for (const auto& entry : fs::directory_iterator(sources)) {
        if (entry.path().extension() != ".cpp" || without.contains(entry.path().stem().string())) continue;
        BOOST_TEST_CONTEXT(entry.path().filename()) {
            const std::string name = exported_by(entry.path());
            BOOST_TEST(name != "", "no --onnx in its smoke line, and not among those without");
            if (name.empty()) continue;
            const std::string model = std::string(folder) + "/smoke/" + name;
            BOOST_TEST(fs::exists(model), model << " is not there");
            sinter::test::check_in_onnxruntime(model, model.substr(0, model.size() - 5) + ".npz");
            ++nets;
        }
    }
    BOOST_TEST(nets >= 12);
    for (const auto& [name, why] : without)
        BOOST_TEST(fs::exists(sources / (name + ".cpp")), name << " has a reason (" << why << ") and is not there");
}
