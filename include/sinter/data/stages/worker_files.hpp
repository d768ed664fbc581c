// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/interleave.hpp>
#include <sinter/data/stages/shard.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::data {

/// What is dealt out to the workers of a job, as tf.data's AutoShardPolicy.
enum class shard_policy : std::uint8_t {
    automatic,   ///< files where there are at least as many as workers, else data
    file,        ///< each worker reads files of its own; option_error where there are fewer files than workers
    data,        ///< each reads all files, and keeps each count-th element
    off          ///< each has all elements
};
struct worker_files_options {
    int index = 0, count = 1;   ///< worker `index` of `count`
    shard_policy policy = shard_policy::automatic;
    interleave_options interleave{};
};

namespace stage_parts {
struct dealt {
    shard_step files, elements;
};
/// option_error for a worker that is none of `count`, or fewer files than workers under shard_policy::file.
SINTER_SELDOM SINTER_COLD dealt dealt_to_worker(std::int64_t files, const worker_files_options& o);
} // namespace stage_parts

/// The elements of this worker's share of `files`, a pipeline; read(file) makes one of a file's elements. Those
/// of several files come in turns (interleave). With per_worker():
///
///     data::per_worker([](int index, int count) {
///         return data::worker_files(data::list_files("*.tfrecord"), read, {.index = index, .count = count})
///              | data::batch(64);
///     })
template <indexed_stage Files, class F>
auto worker_files(Files files, F read, worker_files_options o = {}) {
    const stage_parts::dealt to = stage_parts::dealt_to_worker(files.size(), o);
    return std::move(files) | to.files | interleave(std::move(read), o.interleave) | to.elements;
}

#if SINTER_BODIES
namespace stage_parts {
SINTER_SELDOM_BODY dealt dealt_to_worker(std::int64_t files, const worker_files_options& o) {
    const shard_step all = shard(1, 0), own = shard(o.count, o.index);
    const bool enough = files < 0 || files >= o.count;
    if (o.policy == shard_policy::file && !enough)
        throw option_error("fewer files than workers", "worker_files", to_text({files, " files"}),
                           to_text({o.count, " or more, one for each worker; or shard_policy::data"}));
    if (o.policy == shard_policy::off) return {all, all};
    if (o.policy == shard_policy::data || !enough) return {all, own};
    return {own, all};
}
} // namespace stage_parts
#endif

} // namespace sinter::data
