// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/throw_io_error.hpp>
#include <cstddef>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/uio.h>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::wire {

/// What a read or write that does not block came to.
struct transfer {
    enum result : std::uint8_t { some, must_wait, ended, failed };
    result how;
    std::size_t bytes = 0;   // `some`
    int error = 0;           // `failed`: errno
    short wants = 0;         // `must_wait`: for which events of poll()
};

/// What a channel does to its bytes: TLS, in tls.hpp.
class cipher {
public:
    virtual ~cipher() = default;
    virtual transfer read(const iovec* parts, int n) = 0;
    virtual transfer write(const iovec* parts, int n) = 0;
    virtual bool has_more() const = 0;
    virtual void shut_down() noexcept = 0;
    virtual std::vector<std::byte> binding() = 0;
    virtual std::string fault() const = 0;
};

/// Bytes to and from a connected socket that does not block, plain or through a cipher.
class channel {
public:
    channel() = default;
    /// Takes the socket, and makes it not block.
    explicit channel(io::descriptor socket, std::unique_ptr<cipher> through = nullptr)
        : socket_(std::move(socket)), cipher_(std::move(through)) {
        const int flags = ::fcntl(socket_.get(), F_GETFL);
        if (flags < 0 || ::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK) < 0)
            io::throw_io_error(errno, "cannot make a socket not block", "channel");
    }

    int descriptor() const { return socket_.get(); }
    explicit operator bool() const { return static_cast<bool>(socket_); }
    /// Whether bytes have arrived that poll() does not show.
    bool has_more() const { return cipher_ && cipher_->has_more(); }
    /// Bytes that only the two ends share; none of a plain channel. Once something has been read.
    std::vector<std::byte> binding() const { return cipher_ ? cipher_->binding() : std::vector<std::byte>(); }
    /// Whether the cipher can say why a read or write failed, rather than the system alone.
    bool has_reason() const { return cipher_ && !cipher_->fault().empty(); }
    /// Why a read or write failed.
    std::string fault(const transfer& t) const {
        const std::string own = cipher_ ? cipher_->fault() : std::string();
        return own.empty() ? std::generic_category().message(t.error) : own;
    }

    transfer read(const iovec* parts, int n) {
        if (cipher_) return cipher_->read(parts, n);
        msghdr m{};
        m.msg_iov = const_cast<iovec*>(parts);
        m.msg_iovlen = static_cast<decltype(m.msg_iovlen)>(n);
        const auto got = io::uninterrupted([&] { return ::recvmsg(socket_.get(), &m, 0); });
        return result_of(got, POLLIN);
    }
    transfer write(const iovec* parts, int n) {
        if (cipher_) return cipher_->write(parts, n);
        msghdr m{};
        m.msg_iov = const_cast<iovec*>(parts);
        m.msg_iovlen = static_cast<decltype(m.msg_iovlen)>(n);
        const auto sent = io::uninterrupted([&] { return ::sendmsg(socket_.get(), &m, MSG_NOSIGNAL); });
        return result_of(sent, POLLOUT);
    }
    /// The peer will read to the end of what was written; what it sends can still be read.
    void shut_down() noexcept {
        if (cipher_) cipher_->shut_down();
        if (socket_) ::shutdown(socket_.get(), SHUT_WR);
    }
    void close() noexcept { socket_.close(); }

private:
    io::descriptor socket_;
    std::unique_ptr<cipher> cipher_;

    static transfer result_of(ssize_t n, short event) {
        if (n > 0) return {transfer::some, static_cast<std::size_t>(n)};
        if (n == 0) return {transfer::ended};
        if (errno == EAGAIN || errno == EWOULDBLOCK) return {transfer::must_wait, 0, 0, event};
        return {transfer::failed, 0, errno};
    }
};

} // namespace sinter::wire
