// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/span.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::io {

/// Owns bytes that begin on a cache line and start out undefined, to be filled from a file. (vector
/// would write zeros over every gigabyte first; unique_ptr's header alone takes longer to compile
/// than all of safetensors' reader.)
class byte_buffer {
public:
    static constexpr std::align_val_t alignment{64};

    byte_buffer() noexcept = default;
    /// Throws io_error, naming `file`, where there is no memory for `size` bytes.
    SINTER_APART byte_buffer(std::uint64_t size, const std::string& file);
    byte_buffer(byte_buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    SINTER_APART byte_buffer& operator=(byte_buffer&& other) noexcept;
    ~byte_buffer() { ::operator delete(data_, alignment); }

    sinter::span<std::byte> span() noexcept { return {data_, size_}; }
    sinter::span<const std::byte> span() const noexcept { return {data_, size_}; }

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

#if SINTER_BODIES
SINTER_APART byte_buffer::byte_buffer(std::uint64_t size, const std::string& file)
    : size_(static_cast<std::size_t>(size)) {
    if (size_ == 0) return;
    const bool fits = size <= PTRDIFF_MAX;
    data_ = fits ? static_cast<std::byte*>(::operator new(size_, alignment, std::nothrow)) : nullptr;
    if (data_ == nullptr) throw io_error("not enough memory", file, {}, std::to_string(size) + " bytes");
}

SINTER_APART byte_buffer& byte_buffer::operator=(byte_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}
#endif

} // namespace sinter::io
