// SPDX-License-Identifier: BSL-1.0
// shows network: any bytes for TF_CONFIG, lists of hosts, cluster texts and what members report to sinter-launch
// libFuzzer target: any list of hosts is expanded within its bound, or refused with option_error; addresses likewise.
#include "message.hpp"
#include <sinter/net/roster/hostlist.hpp>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto hosts = sinter::wire::roster::expand_hostlist(text, "SLURM_JOB_NODELIST", 5000);
        if (hosts.empty() || hosts.size() > 5000) std::abort();
        for (const std::string& host : hosts)
            if (!sinter::wire::is_host_name(host)) std::abort();
    } catch (const sinter::option_error& e) {
        must_be_fit(e);
    }
    try {
        const auto address = sinter::wire::parse_address(text, "address");
        if (!address.known() || !(sinter::wire::parse_address(sinter::text_of(address), "again") == address))
            std::abort();
    } catch (const sinter::option_error& e) {
        must_be_fit(e);
    }
    return 0;
}
