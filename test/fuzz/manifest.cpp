// SPDX-License-Identifier: BSL-1.0
// shows servers: any bytes from workers, copies, manifests and changes of tables change nothing
// needs: distributed
// libFuzzer target: any file is refused with format_error, or is a manifest of servers' files, whose text reads as the
// same one.
#include "message.hpp"
#include <sinter/parameter_server/checkpoint/manifest.hpp>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

static std::string file_of(const void* bytes, std::size_t n, int& fd) {
    fd = ::memfd_create("manifest", MFD_CLOEXEC);
    if (fd < 0 || ::write(fd, bytes, n) != static_cast<ssize_t>(n)) std::abort();
    return "/proc/self/fd/" + std::to_string(fd);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter::parameter_servers;
    int fd = -1, again = -1;
    shard_manifest m;
    try {
        m = read_manifest(file_of(data, size, fd));
    } catch (const sinter::format_error& e) {
        must_be_fit(e);
    }
    if (!m.shards.empty()) {
        const std::string text = m.text();
        if (read_manifest(file_of(text.data(), text.size(), again)).text() != text) std::abort();
    }
    for (const shard_record& r : m.shards)
        if (r.file.find('/') != std::string::npos || r.server < 0 || r.servers < 1) std::abort();
    ::close(fd);
    if (again >= 0) ::close(again);
    return 0;
}
