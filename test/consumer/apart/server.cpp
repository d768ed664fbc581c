// SPDX-License-Identifier: BSL-1.0
#include "job.hpp"
#include "layout.hpp"
#include <sinter/parameter_server/server.hpp>
#include <algorithm>
#ifdef BOOST_ASIO_VERSION
#error "a file that compiles no server has read Asio"
#endif

using namespace sinter;

namespace {

/// p -= g.
struct plain_sgd : parameter_servers::updater {
    int scalars() const override { return 1; }
    int slots(int) const override { return 0; }
    void first_slot(int, int, float*, const float*, std::int64_t) const override {}
    parameter_servers::norm_need needs() const override { return parameter_servers::norm_need::none; }
    void update(int, float* p, const float* g, float*, std::int64_t, std::int64_t n, const float*,
                float) const override {
        for (std::int64_t i = 0; i < n; ++i) p[i] -= g[i];
    }
    void update_rows(int, float*, float*, std::int64_t, const row_list&, const float*, float) const override {}
};

} // namespace

void serve(const std::vector<std::string>& addresses) {
    parameter_servers::server(members(addresses, cluster_role::ps), {.model = 1}, layouts()[0],
                              std::make_unique<plain_sgd>(), [](std::int64_t, float, float* to) { *to = 1; })
        .run();
}
