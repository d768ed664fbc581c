// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/descriptors.hpp>
#include <sinter/net/endpoint.hpp>
#include <sinter/net/event_loop.hpp>
#include <fcntl.h>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Listens at one address, and at no other. An accept() that fails is tried again a little later.
/// Where no descriptors are left one in reserve takes one connection after the other, so that each
/// can be sent the reason why it is refused.
class listener {
public:
    /// Opens the socket. Throws io_error with the system's words.
    listener(event_loop& loop, const endpoint& at) : retry_(loop), socket_(stream_socket(at.storage.ss_family)) {
        const int one = 1;   // a port that was used a minute ago is free; one that is used now is not
        if (!socket_ || ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
            ::bind(socket_.get(), at.address(), at.size) != 0 || ::listen(socket_.get(), 1024) != 0)
            io::throw_io_error(errno, "cannot listen", text_of(at.digits()));
        watch_ = std::make_unique<watch>(loop, socket_.get());
    }
    /// Empty, or what those who come now are sent: that no descriptor is left for them.
    std::string crowded() {
        keep_reserve();
        return reserve_ ? std::string() : to_text({too_few_descriptors, ": ", count_descriptors().text()});
    }
    endpoint where() const { return endpoint::local(socket_.get()); }

    /// On the loop's thread, from now on: each new connection and whom it is from.
    void begin(std::function<void(io::descriptor, const endpoint&)> on_connection,
               std::function<void(const std::string&)> on_fault) {
        on_connection_ = std::move(on_connection);
        on_fault_ = std::move(on_fault);
        wait();
    }

private:
    alarm retry_;
    io::descriptor socket_, reserve_{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    std::unique_ptr<watch> watch_;
    std::function<void(io::descriptor, const endpoint&)> on_connection_;
    std::function<void(const std::string&)> on_fault_;

    void wait() {
        watch_->readable([this] { accept_some(); });
    }
    void keep_reserve() {
        if (!reserve_) reserve_ = io::descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    void accept_some() {
        keep_reserve();
        for (int i = 0; i < 64; ++i) {   // then others have their say
            endpoint from;
            io::descriptor s(::accept4(socket_.get(), from.address(), &from.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (!s) {
                const int fault = errno;
                if (fault == EAGAIN || fault == EWOULDBLOCK) break;
                if (fault == EINTR || fault == ECONNABORTED) continue;
                on_fault_("cannot accept a connection: " + error_text(fault));
                if ((fault == EMFILE || fault == ENFILE) && reserve_) {
                    reserve_.close();
                    continue;
                }
                return retry_.in(0.05, [this] { accept_some(); });
            }
            const int one = 1;
            ::setsockopt(s.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            on_connection_(std::move(s), from);
        }
        wait();
    }
};

} // namespace sinter::wire
