// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace sinter {

/// A stretch of zeroed memory of fixed size, aligned to 64 bytes.
class arena {
public:
    arena() = default;
    explicit arena(std::int64_t floats) : n_(floats) {
        if (n_ <= 0) return;
        const std::size_t bytes = (static_cast<std::size_t>(n_) * 4 + 63) / 64 * 64;
        p_ = static_cast<float*>(::operator new(bytes, std::align_val_t{64}));
        std::memset(p_, 0, bytes);
    }
    arena(arena&& o) noexcept : p_(std::exchange(o.p_, nullptr)), n_(std::exchange(o.n_, 0)) {}
    arena& operator=(arena&& o) noexcept {
        std::swap(p_, o.p_);
        std::swap(n_, o.n_);
        return *this;
    }
    ~arena() {
        if (p_) ::operator delete(p_, std::align_val_t{64});
    }
    /// All zeros again.
    void clear() {
        if (n_ > 0) std::memset(p_, 0, static_cast<std::size_t>(n_) * 4);
    }
    float* data() const { return p_; }
    std::int64_t size() const { return n_; }   ///< floats

private:
    float* p_ = nullptr;
    std::int64_t n_ = 0;
};

} // namespace sinter
