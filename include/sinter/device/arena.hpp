// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/pages.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// A stretch of zeroed memory of fixed size, aligned to 64 bytes. Where it is large, in huge pages
/// if the system has some left: a product that walks through megabytes of weights would otherwise
/// look up a page every few lines. Pages of a large one take memory once they are first written.
class arena {
public:
    arena() = default;
    explicit arena(std::int64_t floats) : n_(floats) {
        if (n_ <= 0) return;
        const std::size_t bytes = (static_cast<std::size_t>(n_) * 4 + 63) / 64 * 64;
        p_ = static_cast<float*>(::operator new(bytes, alignment()));
        if (alignment() == std::align_val_t{huge_page}) os::prefer_huge_pages(p_, bytes);
        clear();
    }
    arena(arena&& o) noexcept
        : p_(std::exchange(o.p_, nullptr)), n_(std::exchange(o.n_, 0)), owns_(std::exchange(o.owns_, true)) {}
    arena& operator=(arena&& o) noexcept {
        std::swap(p_, o.p_);
        std::swap(n_, o.n_);
        std::swap(owns_, o.owns_);
        return *this;
    }
    ~arena() {
        if (p_ && owns_) ::operator delete(p_, alignment());
    }
    /// The same memory once more, for as long as `owner` has it.
    static arena shared_with(const arena& owner) {
        arena a;
        a.p_ = owner.p_;
        a.n_ = owner.n_;
        a.owns_ = false;
        return a;
    }
    /// All zeros again. A large one gives its pages back to the system.
    void clear() {
        if (n_ <= 0) return;
        std::size_t given_back = 0;
        const std::size_t whole_pages = static_cast<std::size_t>(n_) * 4 / huge_page * huge_page;
        if (alignment() == std::align_val_t{huge_page} && os::give_back_pages(p_, whole_pages))
            given_back = whole_pages;
        std::memset(reinterpret_cast<char*>(p_) + given_back, 0, static_cast<std::size_t>(n_) * 4 - given_back);
    }
    /// The same of some floats. Of a large arena whole pages of them are given back.
    void clear(std::int64_t first, std::int64_t n) {
        char *begin = reinterpret_cast<char*>(p_ + first), *const end = begin + n * 4;
        constexpr std::uintptr_t page = 1 << 16;   // no system's pages are larger
        char* const from = begin + (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
        char* const to = end - reinterpret_cast<std::uintptr_t>(end) % page;
        if (alignment() == std::align_val_t{huge_page} && from < to &&
            os::give_back_pages(from, static_cast<std::size_t>(to - from))) {
            std::memset(begin, 0, static_cast<std::size_t>(from - begin));
            begin = to;
        }
        std::memset(begin, 0, static_cast<std::size_t>(end - begin));
    }
    float* data() const { return p_; }
    std::int64_t size() const { return n_; }   ///< floats

private:
    static constexpr std::size_t huge_page = std::size_t{1} << 21;
    std::align_val_t alignment() const {
        return std::align_val_t{static_cast<std::size_t>(n_) * 4 < 2 * huge_page ? 64 : huge_page};
    }

    float* p_ = nullptr;
    std::int64_t n_ = 0;
    bool owns_ = true;
};

} // namespace sinter::session_parts
