// SPDX-License-Identifier: BSL-1.0
// shows network: any bytes for TF_CONFIG, lists of hosts, cluster texts and what members report to sinter-launch
// libFuzzer target: whatever members of a job report to sinter-launch, what it shows of them has no control characters,
// what it writes is a line of JSON, and who is slow can be told. Each line is a packet of the next of three members.
#include "../../tools/launch/slow_member.hpp"
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/io/json_reader.hpp>
#include <cstdlib>

namespace {
void need(bool b) {
    if (!b) std::abort();
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static std::vector<launch::member> all = [] {
        std::vector<launch::member> made;
        for (int i = 0; i < 3; ++i) made.emplace_back("worker", i);
        return made;
    }();
    for (launch::member& m : all) m.begin_anew(), m.pid = ::getpid();   // nobody signals it
    launch::slow_member slow;
    const double now = sinter::base::monotonic_seconds();
    std::string_view left(reinterpret_cast<const char*>(data), size);
    for (std::size_t i = 0; !left.empty(); ++i) {
        const std::size_t end = std::min(left.find('\n'), left.size());
        launch::member& m = all[i % all.size()];
        m.take_report(left.substr(0, end));
        left.remove_prefix(std::min(end + 1, left.size()));
        for (const char c : m.doing()) need(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
        const std::string line = m.json(1.5);
        need(line.find('\n') == line.size() - 1 && sinter::base::is_utf8(line));
        try {
            sinter::io::json_reader in(line, "memory", 0, "line");
            in.skip();
            in.end();
        } catch (const sinter::error&) {
            std::abort();
        }
        slow.look(all, now + 2. * static_cast<double>(i));
    }
    slow.look(all, now + 1e3);
    slow.look(all, now + 2e3);
    return 0;
}
