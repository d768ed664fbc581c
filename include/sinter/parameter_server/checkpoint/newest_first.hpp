// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/checkpoint/folder.hpp>
#include <sinter/parameter_server/checkpoint/manifest.hpp>
#include <tuple>

namespace sinter::inline SINTER_ORDINARY::parameter_servers::detail {

/// A checkpoint of servers whose manifest can be read.
struct known_checkpoint {
    std::int64_t name = 0;   ///< N of step-N
    shard_manifest manifest;

    /// Server 0's: names are chosen before it is known which steps are made meanwhile.
    std::int64_t step() const { return manifest.shards.front().step; }
    /// Whether this one was made later. Where the chief has overwritten the values in between, as by
    /// load() of an older step, the job has gone on from those.
    SINTER_COLD bool is_newer(const known_checkpoint& than) const {
        return std::tuple(manifest.version(), step(), name) >
               std::tuple(than.manifest.version(), than.step(), than.name);
    }
};

/// Those in a folder, the newest first. fault(name, error) is called for each that cannot
/// be read, those of later names first.
template <class Fault>
SINTER_COLD std::vector<known_checkpoint> newest_first(const std::string& folder, Fault fault) {
    std::vector<known_checkpoint> all;
    for (const std::int64_t name : steps_with_manifest(folder)) {
        try {
            all.push_back({name, read_manifest(to_text({folder, "/step-", name, "/manifest.json"}))});
        } catch (const error& e) {
            fault(name, e);
        }
    }
    std::ranges::sort(all, [](const known_checkpoint& a, const known_checkpoint& b) { return a.is_newer(b); });
    return all;
}

} // namespace sinter::parameter_servers::detail
