// SPDX-License-Identifier: BSL-1.0
// needs: nccl
#define BOOST_TEST_MODULE nccl
#include "support/member_processes.hpp"
#include "support/pairs.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/collective/nccl.hpp>

// That it compiles and links. With a GPU, a member alone; without one, two processes must both be told so, and end.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

static bool has_gpu() {
    processes p;   // CUDA does not survive a fork
    p.start([] {
        int n = 0;
        return std::string(::cudaGetDeviceCount(&n) == cudaSuccess && n > 0 ? "yes" : "no");
    });
    return p.result(0) == "yes";
}

BOOST_AUTO_TEST_CASE(a_member_alone) {
    if (!has_gpu()) {
        BOOST_TEST_MESSAGE("skipped: this machine has no GPU");
        return;
    }
    in_processes<nccl>(1, [](communicator& c) {
        check_operations(c, 100);
        check_messages(c);
        check_groups(c);
    });
}

BOOST_AUTO_TEST_CASE(without_a_gpu_all_members_fail) {
    if (has_gpu()) return;
    for (const auto& text : texts_of_processes<nccl>(2, [](communicator&) { return std::string("a communicator"); }))
        BOOST_TEST((holds(text, "CUDA refuses a device") || holds(text, "left") || holds(text, "ended")), text);
}
