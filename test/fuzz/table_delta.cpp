// SPDX-License-Identifier: BSL-1.0
// shows servers: any bytes from workers, copies, manifests and changes of tables change nothing
// needs: distributed
// libFuzzer target: whatever stands in a file of a table's changes is refused before any row is handed on, or each row
// and each key is handed on once, as another reader of safetensors has it. The first byte says how wide rows are.
#include "message.hpp"
#include <sinter/io/safetensors.hpp>
#include <sinter/parameter_server/checkpoint/table_delta.hpp>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace {
void need(bool b) {
    if (!b) std::abort();
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    if (size < 1) return 0;
    const int width = 1 + data[0] % 5;
    const span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    const int fd = ::memfd_create("delta", MFD_CLOEXEC);
    need(fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    std::vector<std::int64_t> keys, removed;
    std::vector<float> values;
    bool whole = false;
    try {
        const parameter_servers::delta_counts n = parameter_servers::read_delta(
            "/proc/self/fd/" + std::to_string(fd), "t", width,
            [&](std::int64_t key, const float* row) {
                need(removed.empty());
                keys.push_back(key);
                values.insert(values.end(), row, row + width);
            },
            [&](std::int64_t key) { removed.push_back(key); });
        need(n.rows == std::ssize(keys) && n.removed == std::ssize(removed));
        whole = true;
    } catch (const format_error& e) {
        must_be_fit(e);
    } catch (const mismatch_error& e) {
        must_be_fit(e);
    }
    ::close(fd);
    if (!whole) {
        need(keys.empty() && removed.empty());
        return 0;
    }
    const safetensors::contents f = safetensors::parse(bytes, "memory");
    need(f.metadata.at("table") == "t");
    const auto same = [&](const char* name, const void* x, std::size_t n) {
        const span<const std::byte> there = f.at(name).data;
        need(there.size() == n && (n == 0 || std::memcmp(there.data(), x, n) == 0));
    };
    same("keys", keys.data(), 8 * keys.size());
    same("values", values.data(), 4 * values.size());
    same("removed", removed.data(), 8 * removed.size());
    for (std::vector<std::int64_t>* list : {&keys, &removed}) {
        std::sort(list->begin(), list->end());
        need(std::adjacent_find(list->begin(), list->end()) == list->end());
    }
    for (const std::int64_t key : removed) need(!std::binary_search(keys.begin(), keys.end(), key));
    return 0;
}
