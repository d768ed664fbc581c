// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Arrays for constant evaluation. Compilers count every step of a constant evaluation, and std::vector spends many on
/// checks and construction; these two do only what the passes need.
namespace sinter {

/// A view of `n` elements that somebody else owns; push() writes into room already there.
template <class T>
struct view {
    T* p = nullptr;
    int n = 0;

    constexpr T& operator[](int i) const { return p[i]; }
    constexpr int push(const T& x) {
        p[n] = x;
        return n++;
    }
    constexpr T* begin() const { return p; }
    constexpr T* end() const { return p + n; }
};

/// A growing array that lives inside one constant evaluation.
template <class T>
struct growing {
    T* p = nullptr;
    int n = 0, capacity = 0;

    constexpr growing() = default;
    explicit constexpr growing(int count) : p(new T[count > 0 ? count : 1]()), n(count), capacity(count) {}
    constexpr growing(int count, const T& x) : p(new T[count > 0 ? count : 1]), n(count), capacity(count) {
        for (int i = 0; i < count; ++i) p[i] = x;
    }
    growing(const growing&) = delete;
    growing& operator=(const growing&) = delete;
    constexpr ~growing() { delete[] p; }

    constexpr T& operator[](int i) const { return p[i]; }
    constexpr view<const T> all() const { return {p, n}; }
    constexpr int push(const T& x) {
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            T* q = new T[capacity];
            for (int i = 0; i < n; ++i) q[i] = p[i];
            delete[] p;
            p = q;
        }
        p[n] = x;
        return n++;
    }
};

} // namespace sinter
