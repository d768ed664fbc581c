// SPDX-License-Identifier: BSL-1.0
// needs: python
// The reference package reads what we write. Needs python3 (or the interpreter that SINTER_PYTHON names) with
// safetensors and numpy, which scripts/test.sh installs where it can; without them the test says so and passes.
#define BOOST_TEST_MODULE io_safetensors_python
#include "run_command.hpp"
#include "skip.hpp"
#include "temporary_folder.hpp"
#include "support/source_folder.hpp"

#include <sinter/device/cpu.hpp>
#include <sinter/io/safetensors.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/adam.hpp>

#include <boost/test/unit_test.hpp>
#include <algorithm>
#include <numeric>

namespace st = sinter::safetensors;

namespace {
/// What tools/check_safetensors.py says about a file; nothing, and the test says why, where it cannot run.
std::string what_the_reference_reads(const std::string& file) {
    const auto script = source_folder() / "test/tools/check_safetensors.py";
    if (!std::filesystem::exists(script)) return skip("no tools/check_safetensors.py beside the tests"), "";
    const char* const python = std::getenv("SINTER_PYTHON");
    const command_result read = run_command("PYTHONIOENCODING=utf-8 '" + std::string(python ? python : "python3") +
                                            "' '" + script.string() + "' '" + file + "'");
    if (read.status == 77 || read.status == 127)
        return skip("no python3 with safetensors and numpy (SINTER_PYTHON may name one)"), "";
    BOOST_TEST(read.status == 0);
    BOOST_TEST(!read.output.empty());
    return read.output;
}

/// The script's line about a tensor of floats.
std::string line_about(const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<float>& x) {
    std::string extents;
    for (const std::int64_t e : shape) extents += (extents.empty() ? "" : ",") + std::to_string(e);
    double sum = 0, moment = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sum += static_cast<double>(x[i]);
        moment += static_cast<double>(i + 1) * static_cast<double>(x[i]);
    }
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, "] sum %.6f moment %.6f\n", sum, moment);
    return "tensor " + name + " float32 [" + extents + numbers;
}
} // namespace

BOOST_AUTO_TEST_CASE(the_reference_reads_ours) {
    std::vector<float> kernel(12);
    std::iota(kernel.begin(), kernel.end(), 0.5f);
    const std::vector<double> mean{-1.25, 2.5};
    const std::int64_t step = 1000;
    const std::uint8_t mask[3] = {1, 0, 1};
    const std::uint16_t halves[2] = {0x3c00, 0xc000}; // 1 and -2
    temporary_folder folder;
    st::write(folder / "net.safetensors",
              {{"conv/kernel", st::dtype::f32, {2, 2, 1, 3}, kernel.data()},
               {"bn/mean", st::dtype::f64, {2}, mean.data()},
               {"optimizer/step", st::dtype::i64, {}, &step},
               {"mask", st::dtype::boolean, {3}, mask},
               {"empty", st::dtype::f32, {0, 4}, nullptr},
               {"half", st::dtype::f16, {2}, halves}},
              {{"sinter", "1"}, {"note", "\"quoted\" \xe2\x82\xac"}});
    const std::string read = what_the_reference_reads(folder / "net.safetensors");
    if (read.empty()) return;
    BOOST_TEST(read == "metadata note = \"quoted\" \xe2\x82\xac\n"
                       "metadata sinter = 1\n"
                       "tensor bn/mean float64 [2] sum 1.250000 moment 3.750000\n"
                       "tensor conv/kernel float32 [2,2,1,3] sum 72.000000 moment 611.000000\n"
                       "tensor empty float32 [0,4] sum 0.000000 moment 0.000000\n"
                       "tensor half float16 [2] sum -1.000000 moment -3.000000\n"
                       "tensor mask bool [3] sum 2.000000 moment 4.000000\n"
                       "tensor optimizer/step int64 [] sum 1000.000000 moment 1000.000000\n");
}

BOOST_AUTO_TEST_CASE(the_reference_reads_a_trainer) {
    using namespace sinter;
    using namespace sinter::compiler;
    // Weights that lie in panels, a layer with states, an optimizer with two slots: each is saved in its own way.
    static constexpr auto net = features<3> >> dense<20> >> batch_norm >> dense<2>;
    using trainer_type = trainer<std::remove_const_t<decltype(net)>, mse_loss, adam, 4>;
    trainer_type model({.learning_rate = 0.1f}, {.threads = 1, .seed = 3});
    const float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, 3}, wanted[8] = {1, 0, 0, 1, 2, 2, -1, 0};
    for (int i = 0; i < 3; ++i) model.step({.x = x, .y = wanted, .size = 4});
    temporary_folder folder;
    save(model, folder / "run.safetensors");
    const std::string read = what_the_reference_reads(folder / "run.safetensors");
    if (read.empty()) return;

    std::vector<std::string> lines{"tensor step int64 [] sum 3.000000 moment 3.000000\n"};
    const auto add = [&](const variable_info& v) {
        lines.push_back(line_about(trainer_type::path(v), extents_of(v.s), model.plain(v)));
    };
    for (int i = 0; i < model.parameters(); ++i) {
        const variable_info& v = model.parameter(i);
        add(v);
        for (int slot = 0; slot < 2; ++slot)
            lines.push_back(line_about("optimizer/" + std::to_string(slot) + '/' + trainer_type::path(v),
                                       extents_of(v.s), model.plain_slot(v, slot)));
    }
    for (int i = 0; i < model.states(); ++i) add(model.state(i));
    BOOST_TEST(lines.size() == 6 * 3 + 2 + 1u);   // kernel, bias, scale, offset, kernel, bias; mean, variance; step
    std::sort(lines.begin(), lines.end());
    const std::string metadata = "metadata format = sinter\nmetadata optimizer = adam\nmetadata seed = 3\n";
    BOOST_TEST(read == std::accumulate(lines.begin(), lines.end(), metadata));
}
