// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstddef>
#include <utility>

namespace sinter {

/// Owns an object, or an array of them: what is needed of std::unique_ptr, whose header takes every program 11 MB to compile.
template <class T>
class owner {
public:
    owner() = default;
    explicit owner(T* object) : object_(object) {}   ///< takes it over
    owner(owner&& other) noexcept : object_(other.release()) {}
    owner& operator=(owner&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~owner() { delete object_; }

    T* get() const { return object_; }
    T* operator->() const { return object_; }
    T& operator*() const { return *object_; }
    explicit operator bool() const { return object_ != nullptr; }
    T* release() { return std::exchange(object_, nullptr); }

private:
    T* object_ = nullptr;
};

template <class T>
class owner<T[]> {
public:
    owner() = default;
    explicit owner(std::size_t n) : first_(new T[n]()) {}   ///< values start out as zeros
    owner(owner&& other) noexcept : first_(std::exchange(other.first_, nullptr)) {}
    owner& operator=(owner&& other) noexcept {
        std::swap(first_, other.first_);
        return *this;
    }
    ~owner() { delete[] first_; }

    T* get() const { return first_; }
    T& operator[](std::size_t i) const { return first_[i]; }
    explicit operator bool() const { return first_ != nullptr; }

private:
    T* first_ = nullptr;
};

} // namespace sinter
