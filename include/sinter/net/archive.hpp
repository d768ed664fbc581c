// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/net/frame.hpp>
#include <bit>
#include <concepts>
#include <cstring>
#include <string>
#include <vector>

/// Archives for control messages. A message has `serialize(archive, version)` as
/// Boost.Serialization wants it, so that its archives take it, too; those here need no library, are
/// the same on every machine, and never allocate more than the bytes that are there can hold. They
/// write numbers, texts and lists of them: nothing that names a type or could be run.
namespace sinter::inline SINTER_ORDINARY::wire {

namespace detail {
/// Whether a list of these is in memory as it is in a message.
template <class T>
inline constexpr bool are_their_bytes =
    std::endian::native == std::endian::little && std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
} // namespace detail

/// Appends values to a text of bytes: `archive & x & y`.
class archive_writer {
public:
    template <class T>
    archive_writer& operator&(const T& value) {
        write(value);
        return *this;
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;

    template <std::integral T>
    void write(T n) {
        std::byte b[sizeof(T)];
        detail::put(b, n);
        bytes_.append(reinterpret_cast<const char*>(b), sizeof b);
    }
    void write(double x) { write(std::bit_cast<std::uint64_t>(x)); }
    void write(float x) { write(std::bit_cast<std::uint32_t>(x)); }
    void write(const std::string& s) {
        write(static_cast<std::uint32_t>(s.size()));
        bytes_ += s;
    }
    template <class T>
    void write(const std::vector<T>& list) {
        write(static_cast<std::uint32_t>(list.size()));
        if constexpr (detail::are_their_bytes<T>)
            bytes_.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T));
        else
            for (const T& x : list) write(x);
    }
};

class archive_reader {
public:
    explicit archive_reader(span<const std::byte> bytes) : left_(bytes) {}

    template <class T>
    archive_reader& operator&(T& value) {
        read(value);
        return *this;
    }
    bool at_end() const { return left_.empty(); }
    /// Throws format_error if bytes are left over.
    void expect_end() const {
        if (!left_.empty()) fault("more bytes than the message has");
    }

private:
    span<const std::byte> left_;

    [[noreturn]] SINTER_COLD static void fault(const char* what) { throw format_error(what, "a control message"); }
    span<const std::byte> take(std::size_t n) {
        if (n > left_.size()) fault("fewer bytes than the message says");
        const auto taken = left_.first(n);
        left_ = left_.subspan(n);
        return taken;
    }
    template <std::integral T>
    void read(T& n) {
        n = detail::get<T>(take(sizeof(T)).data());
    }
    void read(double& x) {
        std::uint64_t bits;
        read(bits);
        x = std::bit_cast<double>(bits);
    }
    void read(float& x) {
        std::uint32_t bits;
        read(bits);
        x = std::bit_cast<float>(bits);
    }
    void read(std::string& s) {
        std::uint32_t n;
        read(n);
        const auto bytes = take(n);
        s.assign(reinterpret_cast<const char*>(bytes.data()), n);
    }
    template <class T>
    void read(std::vector<T>& list) {
        std::uint32_t n;
        read(n);
        if (n > left_.size()) fault("a list longer than the message");   // each element has a byte at least
        if constexpr (detail::are_their_bytes<T>) {
            const auto bytes = take(n * sizeof(T));
            list.resize(n);
            if (n > 0) std::memcpy(list.data(), bytes.data(), bytes.size());
        } else {
            list.resize(n);
            for (T& x : list) read(x);
        }
    }
};

/// A message as bytes, and back. The latter throws format_error for bytes that are none.
template <class Message>
std::string archived(Message m) {
    archive_writer w;
    m.serialize(w, 0u);
    return w.bytes();
}
template <class Message>
Message restored(span<const std::byte> bytes) {
    Message m;
    archive_reader r(bytes);
    m.serialize(r, 0u);
    r.expect_end();
    return m;
}

} // namespace sinter::wire
