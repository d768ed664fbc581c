// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Floats from the beginning of a cache line on, zeros at first, with a line of zeros after them.
/// Pages that nobody has written to take no memory.
class aligned_floats {
public:
    aligned_floats() = default;
    explicit aligned_floats(std::int64_t n) { reserve(n); }

    float* data() const { return at_; }
    std::int64_t capacity() const { return n_; }
    explicit operator bool() const { return at_ != nullptr; }

    /// Room for n floats; the first `kept` stay what they are.
    void reserve(std::int64_t n, std::int64_t kept = 0) {
        if (n <= n_ && at_) return;
        const std::int64_t larger = std::max(n, n_ + n_ / 2);
        std::unique_ptr<void, release> memory(std::calloc(static_cast<std::size_t>(larger + 2 * line), sizeof(float)));
        if (!memory) throw std::bad_alloc();
        const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
        float* const at = reinterpret_cast<float*>((address + 63) / 64 * 64);
        if (kept > 0) std::copy_n(at_, kept, at);
        memory_ = std::move(memory);
        at_ = at;
        n_ = larger;
    }

private:
    static constexpr std::int64_t line = 16;
    struct release {
        void operator()(void* p) const { std::free(p); }
    };
    std::unique_ptr<void, release> memory_;
    float* at_ = nullptr;
    std::int64_t n_ = 0;
};

} // namespace sinter::parameter_servers
