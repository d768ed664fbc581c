// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstddef>
#include <string_view>   // std::data, std::size
#include <type_traits>
#include <utility>

namespace sinter {

/// Elements in a row that somebody else owns: std::span, into which it converts and out of which it
/// is made, with what Sinter needs of it. (std::span asks the concepts of ranges and iterators
/// about each type of elements, and about each container that it is made of. g++ wants up to 4 MB
/// for every answer, and this header is in every program.)
template <class T>
class span {
public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;

    constexpr span() = default;
    constexpr span(T* first, std::size_t n) : first_(first), n_(n) {}
    /// Of an array, or of a container: whatever has data() and size().
    template <class C>
        requires std::is_convertible_v<std::remove_pointer_t<decltype(std::data(std::declval<C&>()))> (*)[], T (*)[]>
    constexpr span(C&& c) : first_(std::data(c)), n_(std::size(c)) {}

    constexpr T* data() const { return first_; }
    constexpr std::size_t size() const { return n_; }
    constexpr bool empty() const { return n_ == 0; }
    constexpr T* begin() const { return first_; }
    constexpr T* end() const { return first_ + n_; }
    constexpr T& operator[](std::size_t i) const { return first_[i]; }

    constexpr span first(std::size_t n) const { return {first_, n}; }
    constexpr span last(std::size_t n) const { return {end() - n, n}; }
    constexpr span subspan(std::size_t from) const { return {first_ + from, n_ - from}; }
    constexpr span subspan(std::size_t from, std::size_t n) const { return {first_ + from, n}; }

private:
    T* first_ = nullptr;
    std::size_t n_ = 0;
};

/// The bytes of a container's elements.
template <class C>
span<const std::byte> as_bytes(const C& c) {
    return {reinterpret_cast<const std::byte*>(std::data(c)), std::size(c) * sizeof(*std::data(c))};
}
/// The same to write to.
template <class C>
span<std::byte> as_writable_bytes(C& c) {
    return {reinterpret_cast<std::byte*>(std::data(c)), std::size(c) * sizeof(*std::data(c))};
}

} // namespace sinter
