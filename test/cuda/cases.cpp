// SPDX-License-Identifier: BSL-1.0
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE cuda_cases
#include <boost/test/unit_test.hpp>
#include "cuda/case_files.hpp"
#include "cuda/rehearsal.hpp"

// The cases that bench/gpu.sh runs on a GPU: their kernels, run by the host, give what the
// processor's give, in the limits that a GPU is held to.
using namespace sinter;

BOOST_AUTO_TEST_CASE(rehearsed_as_on_the_processor) {
    std::vector<test::record> truth;
    test::each_case<cpu_device>([&](const char*, auto run) { truth.push_back(run()); });
    std::size_t i = 0;
    test::each_case<test::rehearsal_device>([&](const char* name, auto run) {
        const test::record_difference d = test::difference(run(), truth[i++]);
        BOOST_TEST(d.loss <= test::most_loss_difference, name << ": losses differ by " << d.loss);
        BOOST_TEST(d.array <= test::most_array_difference, name << ": " << d.where << " differs by " << d.array);
        BOOST_TEST_MESSAGE(name << ": " << d.loss << ", " << d.array << " (" << d.where << ')');
    });
}
