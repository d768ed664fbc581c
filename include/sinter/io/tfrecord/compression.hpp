// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::tfrecord {

/// How all of a file is packed.
enum class compression : std::uint8_t {
    automatic,   ///< to be read: plain where the first length's CRC holds; else what its first two bytes say
    none,
    gzip,        ///< RFC 1952; TensorFlow's "GZIP"
    zlib,        ///< RFC 1950; TensorFlow's "ZLIB"
};

} // namespace sinter::tfrecord
