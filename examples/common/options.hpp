// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "command_line.hpp"
#include <cstdint>
#include <cstdlib>

namespace example {

/// What every example can be told.
///
///     int main(int argc, char** argv) {
///         example::options options{.epochs = 3};
///         example::command_line line("Trains a small net.");
///         options.declare(line);
///         return example::run(argc, argv, line, [&] { train(options); });
///     }
struct options {
    std::string data = from_environment("SINTER_DATA");
    int epochs = 5;
    int batch = 64;
    int threads = 0;   ///< 0: all cores
    std::uint64_t seed = 1;
    std::string save{}, report{}, onnx{};   ///< empty: not written
    int largest_batch = 4096;       ///< what the example's program was compiled for

    void declare(command_line& line) {
        line.add("data", data, "DIR", "folder with data sets; else the environment variable SINTER_DATA")
            .add("epochs", epochs, 1, 1'000'000, "passes over the training data")
            .add("batch", batch, 1, largest_batch, "examples in a training step")
            .add("threads", threads, 1, 1024, "threads to work with", "all cores")
            .add("seed", seed, 0, ~std::uint64_t{0}, "of all random numbers")
            .output("save", save, "write the trained weights here (safetensors)")
            .output("report", report, "write settings and results here (JSON)");
    }

    static std::string from_environment(const char* name) {
        const char* const value = std::getenv(name);
        return value ? value : "";
    }
};

} // namespace example
