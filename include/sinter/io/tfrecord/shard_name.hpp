// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/to_text.hpp>
#include <string>

namespace sinter::inline SINTER_ORDINARY::tfrecord {

/// "train-00003-of-00010.tfrecord": what TensorFlow's tools and TensorFlow Datasets call one of several files.
SINTER_SELDOM SINTER_COLD std::string shard_name(std::string_view name, int shard, int shards,
                                                 std::string_view suffix = ".tfrecord");

#if SINTER_BODIES
SINTER_SELDOM_BODY std::string shard_name(std::string_view name, int shard, int shards, std::string_view suffix) {
    const auto five = [](int n) {
        const std::string digits = to_text({n});
        return digits.size() < 5 ? std::string(5 - digits.size(), '0') + digits : digits;
    };
    return to_text({name, "-", five(shard), "-of-", five(shards), suffix});
}
#endif

} // namespace sinter::tfrecord
