// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/span.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

/// Where a reader takes its bytes from: a file, memory (tests, fuzzers), or another source that it
/// decompresses. A reader written against `byte_source` serves all of them and never needs the
/// whole input in memory.
namespace sinter::inline SINTER_ORDINARY::io {

class byte_source {
public:
    virtual ~byte_source() = default;

    /// Fills the front of `to` and returns how many bytes that were; 0 only at the end or when `to`
    /// is empty.
    virtual std::size_t read_some(span<std::byte> to) = 0;

    /// An upper bound on the bytes still to come. What a header promises is held against it before
    /// anything is allocated, so that a short hostile file cannot ask for a large buffer.
    virtual std::uint64_t at_most_left() const = 0;

    /// What errors call this input: a path, or the name that a test gave.
    virtual const std::string& name() const = 0;

    /// Reads until `to` is full or the input ends; returns the number of bytes read.
    SINTER_APART std::size_t read_up_to(span<std::byte> to);
};

/// Bytes that lie in memory; the caller keeps them alive.
class memory_source final : public byte_source {
public:
    memory_source(span<const std::byte> bytes, std::string name) : left_(bytes), name_(std::move(name)) {}
    /// It has these bytes from now on.
    void go_on_with(span<const std::byte> bytes) { left_ = bytes; }

    SINTER_APART std::size_t read_some(span<std::byte> to) override;
    std::uint64_t at_most_left() const override { return left_.size(); }
    const std::string& name() const override { return name_; }

private:
    span<const std::byte> left_;
    std::string name_;
};

#if SINTER_BODIES
SINTER_APART std::size_t byte_source::read_up_to(span<std::byte> to) {
    std::size_t done = 0;
    while (done < to.size()) {
        const std::size_t n = read_some(to.subspan(done));
        if (n == 0) break;
        done += n;
    }
    return done;
}

SINTER_APART std::size_t memory_source::read_some(span<std::byte> to) {
    const std::size_t n = std::min(to.size(), left_.size());
    if (n != 0) std::memcpy(to.data(), left_.data(), n);
    left_ = left_.subspan(n);
    return n;
}
#endif

} // namespace sinter::io
