// SPDX-License-Identifier: BSL-1.0
#include "job.hpp"
#include "layout.hpp"
#include <sinter/parameter_server/client.hpp>
#ifdef BOOST_ASIO_VERSION
#error "a file that compiles no client has read Asio"
#endif

using namespace sinter;

float work(const std::vector<std::string>& addresses) {
    parameter_servers::client c(members(addresses, cluster_role::worker), {.model = 1}, layouts());
    alignas(64) float values[16], gradient[16];
    for (float& x : values) x = 1;
    for (float& x : gradient) x = 0.25f;
    c.write(0, parameter_servers::client::parameters, 0, {values, 16});
    c.open(0);
    const parameter_servers::pull_target to{values, nullptr};
    c.wait(c.start_pull({&to, 1}));
    c.use_pulled();
    c.may_step();
    c.begin_push();
    c.push(0, 0, {gradient, 16});
    c.wait(c.commit({}, {&to, 1}));
    c.leave();
    return values[15];
}
