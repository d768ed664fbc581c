// SPDX-License-Identifier: BSL-1.0
// One case of test/cuda/cases.hpp on this machine's GPU, twice: beside the processor's record and
// for equal bits. Each is a process of its own, since a fault on a GPU ends all work of its
// process.
//   cases                    prints the cases' names
//   cases NAME REFERENCE     prints a JSON line; REFERENCE is what reference.cpp wrote
//   cases NAME               runs some steps of it once and compares nothing (for compute-sanitizer)
// Exit status: 0 all is well, 1 it differs or failed, 2 there is no GPU or no such case.
#include "cuda/case_files.hpp"
#include "cuda/device_part.hpp"
#include <cstring>

using namespace sinter;

static int compare(const char* name, const test::record& once, const test::record& again, const char* reference) {
    const test::record_difference d = test::difference(once, test::read_record(reference, name));
    const bool repeats = once == again;
    const bool ok = repeats && d.loss <= test::most_loss_difference && d.array <= test::most_array_difference;
    std::printf(
        "{\"check\": \"%s\", \"ok\": %s, \"loss_difference\": %.2e, \"array_difference\": %.2e, \"where\": \"%s\", "
        "\"repeats\": %s}\n",
        name, ok ? "true" : "false", d.loss, d.array, d.where.c_str(), repeats ? "true" : "false");
    return !ok;
}

int main(int argc, char** argv) {
    const char* const wanted = argc > 1 ? argv[1] : nullptr;
    if (const std::string why = wanted ? test::missing_gpu() : ""; !why.empty())
        return std::fprintf(stderr, "no GPU: %s\n", why.c_str()), 2;
    int status = wanted ? 2 : 0;
    try {
        test::each_case<cuda_device>([&](const char* name, auto run) {
            if (!wanted) std::puts(name);
            else if (!std::strcmp(name, wanted)) {
                const test::record once = run();
                status = argc > 2 ? compare(name, once, run(), argv[2]) : 0;
            }
        }, argc > 2 ? 20 : 6);
    } catch (const error& e) {
        std::printf("{\"check\": \"%s\", \"ok\": false, \"error\": \"%s\"}\n", wanted, e.what());
        status = 1;
    }
    return status;
}
