// SPDX-License-Identifier: BSL-1.0
// shows network: any bytes for TF_CONFIG, lists of hosts, cluster texts and what members report to sinter-launch
// libFuzzer target: any text is refused with format_error or option_error, in printable words, or
// is a cluster that a plan can be made for.
#include "message.hpp"
#include <sinter/profile/distribution/cluster_text.hpp>
#include <sinter/profile/distribution/plan.hpp>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    try {
        cluster_model m = cluster_model::parse({reinterpret_cast<const char*>(data), size});
        m.samples = m.samples < 4 ? m.samples : 4;
        const training_profile p =
            training_profile::of_layers({{1e6, 1e4, 100}, {2e6, 3e5, 10}}, {.batch = 8, .slots = 1});
        const distribution_plan d = plan_distribution(p, m);
        if (!(d.step >= 0) || !(d.worker_bytes > 0)) std::abort();
    } catch (const error& e) {
        must_be_fit(e);
    }
    return 0;
}
