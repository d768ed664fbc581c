// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "io/run_command.hpp"
#include "io/skip.hpp"
#include "support/source_folder.hpp"
#include <cstdlib>
#include <filesystem>
#include <string>

namespace sinter::test {

/// Runs tools/check_onnx.py, which compares a model with the values that Sinter gave; says so where
/// there is no onnxruntime.
inline void check_in_onnxruntime(const std::string& model, const std::string& values,
                                 const std::string& tolerance = "1e-5") {
    const auto script = source_folder() / "test/tools/check_onnx.py";
    const char* const python = std::getenv("SINTER_PYTHON");
    const command_result said =
        run_command("'" + std::string(python ? python : "python3") + "' '" + script.string() + "' '" +
                    model + "' '" + values + "' " + tolerance + " 2>&1");
    if (said.status == 77 || said.status == 127)
        return skip("no python3 with onnxruntime (SINTER_PYTHON may name one)");
    BOOST_TEST(said.status == 0, said.output);
    BOOST_TEST_MESSAGE(said.output);
}

} // namespace sinter::test
