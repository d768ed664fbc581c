// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#if SINTER_BODIES
#include <sinter/base/to_text.hpp>
#endif

/// TFRecord files, and the messages that most of them hold (tf.train.Example). A record is its length (8 bytes, lowest
/// first), the length's CRC (4), its bytes, their CRC (4); the CRCs are CRC-32C, masked. All of a file may be one
/// stream of gzip or zlib. Source: tensorflow/core/lib/io/record_writer.cc.
namespace sinter::inline SINTER_ORDINARY::tfrecord {

/// Where a record lies. Cheap to make for each; the text is made when an error is.
struct place {
    std::string_view file;          ///< what errors call it; must live as long as this
    std::uint64_t byte = 0;         ///< at which the record's length begins
    std::uint64_t record = 0;       ///< its number, from 0
    bool unpacked = false;          ///< the byte is one of the stream that was compressed

    /// "train-3.tfrecord, byte 81920, record 1024"
    SINTER_APART SINTER_COLD std::string text() const;
};

/// What stands before and behind a record's bytes.
inline constexpr std::size_t head_bytes = 12, foot_bytes = 4, frame_bytes = head_bytes + foot_bytes;

#if SINTER_BODIES
SINTER_APART std::string place::text() const {
    return to_text({file, unpacked ? ", unpacked byte " : ", byte ", byte, ", record ", record});
}
#endif

} // namespace sinter::tfrecord
