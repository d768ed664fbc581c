// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>

/// Arrays for constant evaluation. Compilers count every step of a constant evaluation, and
/// std::vector spends many on checks and construction; these do only what the passes need.
namespace sinter::base {

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
    explicit constexpr growing(int count) : p(new T[some(count)]()), n(count), capacity(count) {}
    constexpr growing(int count, const T& x) : p(new T[some(count)]), n(count), capacity(count) {
        for (int i = 0; i < count; ++i) p[i] = x;
    }
    growing(const growing&) = delete;
    growing& operator=(const growing&) = delete;
    constexpr ~growing() { delete[] p; }

    /// Of an empty one: room for `count` elements, which it then has, whatever they are.
    constexpr T* allocate(int count) {
        p = new T[some(count)];
        return n = capacity = count, p;
    }

    constexpr T& operator[](int i) const { return p[i]; }
    constexpr view<const T> all() const { return {p, n}; }
    constexpr int push(const T& x) {
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            T* q = new T[some(capacity)];
            for (int i = 0; i < n; ++i) q[i] = p[i];
            delete[] p;
            p = q;
        }
        p[n] = x;
        return n++;
    }

private:
    static constexpr std::size_t some(int count) { return static_cast<std::size_t>(count > 0 ? count : 1); }
};

/// The same for large elements that are only appended: none is made before its value is there.
template <class T>
struct appended {
    T* p = nullptr;
    int n = 0, capacity = 0;

    constexpr appended() = default;
    appended(const appended&) = delete;
    appended& operator=(const appended&) = delete;
    constexpr ~appended() { release(); }

    constexpr T& operator[](int i) const { return p[i]; }
    constexpr view<const T> all() const { return {p, n}; }
    constexpr int push(const T& x) {
        if (n == capacity) reserve(capacity ? 2 * capacity : 64);
        std::construct_at(p + n, x);
        return n++;
    }
    constexpr void reserve(int wanted) {
        if (wanted <= capacity) return;
        T* const q = std::allocator<T>().allocate(static_cast<std::size_t>(wanted));
        for (int i = 0; i < n; ++i) std::construct_at(q + i, p[i]);
        release();
        p = q;
        capacity = wanted;
    }

private:
    static_assert(std::is_trivially_destructible_v<T>);
    constexpr void release() {
        if (p) std::allocator<T>().deallocate(p, static_cast<std::size_t>(capacity));
    }
};

} // namespace sinter::base
