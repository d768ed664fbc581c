// SPDX-License-Identifier: BSL-1.0
// needs: python
// NumPy reads the archives that we write. Needs python3 (or the interpreter that SINTER_PYTHON names) with numpy, which
// scripts/test.sh installs where it can; without them the test says so and passes.
#define BOOST_TEST_MODULE io_npz_python
#include <boost/test/unit_test.hpp>
#include "run_command.hpp"
#include "skip.hpp"
#include "temporary_folder.hpp"
#include "support/source_folder.hpp"

#include <sinter/io/npz.hpp>

#include <numeric>

using namespace sinter;

BOOST_AUTO_TEST_CASE(numpy_reads_ours) {
    const auto script = source_folder() / "test/tools/check_npz.py";
    const char* const python = std::getenv("SINTER_PYTHON");
    std::vector<float> counted(120'000);
    std::iota(counted.begin(), counted.end(), -3.f);
    const std::int64_t five = -5;
    const std::uint8_t bytes[] = {1, 2, 255};
    const std::uint16_t halves[] = {0x3c00, 0xc000};   // 1, -2
    const temporary_folder folder;
    for (const auto how : {npz::compression::none, npz::compression::deflate}) {
        npz::write(folder / "x.npz",
                   {{"dense/kernel", npy::dtype::f32, {300, 400}, counted.data()},
                    {"step", npy::dtype::i64, {}, &five},
                    {"bytes", npy::dtype::u8, {3}, bytes},
                    {"\xc3\xa9", npy::dtype::f16, {2}, halves},
                    {"none", npy::dtype::f64, {0, 3}, nullptr}},
                   how);
        const command_result read =
            run_command("PYTHONIOENCODING=utf-8 '" + std::string(python ? python : "python3") + "' '" +
                        script.string() + "' '" + (folder / "x.npz") + "' 2>&1");
        if (read.status == 77 || read.status == 127) return skip("no python3 with numpy (SINTER_PYTHON may name one)");
        BOOST_TEST(read.status == 0);
        BOOST_TEST(read.output == "bytes uint8 [3] sum 258.000000 last 255.000000\n"
                                  "dense/kernel float32 [300,400] sum 7199580000.000000 last 119996.000000\n"
                                  "none float64 [0,3] sum 0.000000 last 0.000000\n"
                                  "step int64 [] sum -5.000000 last -5.000000\n"
                                  "\xc3\xa9 float16 [2] sum -1.000000 last -2.000000\n");
    }
}
