// SPDX-License-Identifier: BSL-1.0
// Records what the processor makes of the cases in test/cuda/cases.hpp, for cases.cu to compare
// with.
//   reference FILE
#include "cuda/cases.hpp"
#include "cuda/case_files.hpp"

using namespace sinter;

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: reference FILE\n"), 2;
    test::record_writer to(argv[1]);
    test::each_case<cpu_device>([&](const char* name, auto run) { to.write(name, run()); });
}
