// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <sys/mman.h>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Zeros, of which only what is written takes memory: address space for the largest size that an
/// array may ever have.
template <class T>
class lazy_array {
public:
    lazy_array() = default;
    /// Throws std::bad_alloc where the system gives no address space. `dense`: what is written lies
    /// together, so that large pages waste little, and spare whoever reads here and there a walk
    /// for each address.
    explicit lazy_array(std::size_t n, bool dense = false) : n_(n) {
        if (n == 0) return;
        void* const p = ::mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        if (dense && n * sizeof(T) >= large) ::madvise(p, n * sizeof(T), MADV_HUGEPAGE);   // a wish only
        p_ = static_cast<T*>(p);
    }
    lazy_array(lazy_array&& o) noexcept : p_(std::exchange(o.p_, nullptr)), n_(std::exchange(o.n_, 0)) {}
    lazy_array& operator=(lazy_array&& o) noexcept {
        std::swap(p_, o.p_);
        std::swap(n_, o.n_);
        return *this;
    }
    ~lazy_array() {
        if (p_) ::munmap(p_, n_ * sizeof(T));
    }
    T& operator[](std::int64_t i) const { return p_[i]; }
    T* data() const { return p_; }
    std::size_t size() const { return n_; }

private:
    static constexpr std::size_t large = std::size_t{1} << 22;   // two pages of 2 MiB
    T* p_ = nullptr;
    std::size_t n_ = 0;
};

} // namespace sinter::parameter_servers
