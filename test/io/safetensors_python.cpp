// SPDX-License-Identifier: BSL-1.0
// needs: python
// The reference package reads what we write. Needs python3 (or the interpreter that SINTER_PYTHON names) with
// safetensors and numpy; without them the test says so and passes.
#define BOOST_TEST_MODULE io_safetensors_python
#include "skip.hpp"
#include "temporary_folder.hpp"

#include <sinter/io/safetensors.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <numeric>
#include <sys/wait.h>

namespace st = sinter::safetensors;

namespace {
struct outcome {
    std::string output;
    int status;
};

outcome run(const std::string& command) {
    std::FILE* const pipe = popen(command.c_str(), "r");
    std::string output;
    char part[4096];
    for (std::size_t n; pipe != nullptr && (n = std::fread(part, 1, sizeof part, pipe)) > 0;) output.append(part, n);
    const int status = pipe != nullptr ? pclose(pipe) : -1;
    return {std::move(output), WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}
} // namespace

BOOST_AUTO_TEST_CASE(the_reference_reads_ours) {
    const auto script = std::filesystem::path(__FILE__).parent_path().parent_path() / "tools/check_safetensors.py";
    if (!std::filesystem::exists(script)) return skip("no tools/check_safetensors.py beside the tests");
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

    const char* const python = std::getenv("SINTER_PYTHON");
    const outcome read = run("PYTHONIOENCODING=utf-8 '" + std::string(python ? python : "python3") + "' '" +
                             script.string() + "' '" + (folder / "net.safetensors") + "'");
    if (read.status == 77 || read.status == 127)
        return skip("no python3 with safetensors and numpy (SINTER_PYTHON may name one)");
    BOOST_TEST(read.status == 0);
    BOOST_TEST(read.output == "metadata note = \"quoted\" \xe2\x82\xac\n"
                              "metadata sinter = 1\n"
                              "tensor bn/mean float64 [2] sum 1.250000\n"
                              "tensor conv/kernel float32 [2,2,1,3] sum 72.000000\n"
                              "tensor empty float32 [0,4] sum 0.000000\n"
                              "tensor half float16 [2] sum -1.000000\n"
                              "tensor mask bool [3] sum 2.000000\n"
                              "tensor optimizer/step int64 [] sum 1000.000000\n");
}
