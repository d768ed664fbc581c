// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/net/channel.hpp>
#include <sinter/net/cluster_options.hpp>
#include <sinter/net/openssl.hpp>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

/// TLS 1.3 beneath control and data, by OpenSSL. Both ends show a certificate that the authority
/// has signed; which member one is, is proved by the handshake within, whose proofs cover this
/// channel. (OpenSSL allocates some 40 KiB for each connection, also for unknown peers, until it is
/// refused.)
namespace sinter::inline SINTER_ORDINARY::wire {

namespace detail {
SINTER_COLD inline std::string openssl_errors() {
    std::string words;
    while (const unsigned long code = ::ERR_get_error()) {
        char text[256];
        ::ERR_error_string_n(code, text, sizeof text);
        const char* const reason = ::ERR_reason_error_string(code);
        words += (words.empty() ? "" : "; ") + std::string(reason ? reason : text);
    }
    return words;
}

/// OpenSSL's view of a socket. Its own would let a broken connection end the program by SIGPIPE.
struct socket_bio {
    static BIO* make(int socket) {
        static BIO_METHOD* const method = [] {
            BIO_METHOD* const m = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sinter socket");
            if (!m) throw_openssl("a BIO");
            ::BIO_meth_set_write(m, write);
            ::BIO_meth_set_read(m, read);
            ::BIO_meth_set_ctrl(m, [](BIO*, int what, long, void*) -> long { return what == BIO_CTRL_FLUSH; });
            return m;
        }();
        BIO* const b = ::BIO_new(method);
        if (!b) throw_openssl("a BIO");
        ::BIO_set_data(b, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
        ::BIO_set_init(b, 1);
        return b;
    }

private:
    static int socket(BIO* b) { return static_cast<int>(reinterpret_cast<std::intptr_t>(::BIO_get_data(b))); }
    static int write(BIO* b, const char* from, int n) {
        ::BIO_clear_retry_flags(b);
        const auto size = static_cast<std::size_t>(n);
        const auto sent = io::uninterrupted([&] { return ::send(socket(b), from, size, MSG_NOSIGNAL); });
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) ::BIO_set_retry_write(b);
        return static_cast<int>(sent);
    }
    static int read(BIO* b, char* into, int n) {
        ::BIO_clear_retry_flags(b);
        const auto size = static_cast<std::size_t>(n);
        const auto got = io::uninterrupted([&] { return ::recv(socket(b), into, size, 0); });
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) ::BIO_set_retry_read(b);
        return static_cast<int>(got);
    }
};
} // namespace detail

/// One connection's TLS.
class tls_session : public cipher {
public:
    tls_session(SSL_CTX* context, int socket, bool dials) : socket_(socket), ssl_(::SSL_new(context)) {
        if (!ssl_) throw_openssl("a connection of TLS");
        BIO* const b = detail::socket_bio::make(socket);
        ::SSL_set_bio(ssl_.get(), b, b);
        if (dials) ::SSL_set_connect_state(ssl_.get());
        else ::SSL_set_accept_state(ssl_.get());
    }
    transfer read(const iovec* parts, int n) override {
        for (int i = 0; i < n; ++i) {
            if (parts[i].iov_len == 0) continue;
            std::size_t got = 0;
            begin();
            const int done = ::SSL_read_ex(ssl_.get(), parts[i].iov_base, parts[i].iov_len, &got);
            return outcome(done, got);
        }
        return {transfer::must_wait, 0, 0, POLLIN};
    }
    /// One record of what the parts begin with, so that a small frame is one packet.
    transfer write(const iovec* parts, int n) override {
        record_.clear();
        for (int i = 0; i < n && record_.size() < most; ++i) {
            const char* const at = static_cast<const char*>(parts[i].iov_base);
            record_.append(at, std::min(parts[i].iov_len, most - record_.size()));
        }
        std::size_t sent = 0;
        begin();
        const int done = ::SSL_write_ex(ssl_.get(), record_.data(), record_.size(), &sent);
        const transfer t = outcome(done, sent);
        if (t.how == transfer::failed) hear_reason();
        return t;
    }
    bool has_more() const override { return ::SSL_has_pending(ssl_.get()) != 0; }
    void shut_down() noexcept override {
        if (::SSL_is_init_finished(ssl_.get())) ::SSL_shutdown(ssl_.get());
        ::ERR_clear_error();
    }
    std::vector<std::byte> binding() override {
        constexpr std::string_view label = "EXPORTER-sinter-handshake";
        std::vector<std::byte> b(32);
        if (::SSL_export_keying_material(ssl_.get(), octets(b.data()), b.size(), label.data(), label.size(), nullptr, 0,
                                         0) != 1)
            throw_openssl("a channel's binding");
        return b;
    }
    std::string fault() const override { return fault_; }

private:
    struct release {
        void operator()(SSL* s) const { ::SSL_free(s); }
    };
    static constexpr std::size_t most = std::size_t{1} << 14;   // of a record
    int socket_;   // the channel's
    std::unique_ptr<SSL, release> ssl_;
    std::string record_, fault_;

    /// Of a connection that takes no more: an alert that came before it ended may say why. What
    /// else has come stays to be read.
    void hear_reason() {
        if (!fault_.empty() || !::SSL_is_init_finished(ssl_.get())) return;
        char next;
        std::size_t got = 0;
        begin();
        outcome(::SSL_peek_ex(ssl_.get(), &next, 1, &got), got);
    }
    /// What is left unread when a socket is closed resets the connection, and the alert that says
    /// why may be lost.
    void discard_what_has_come() {
        char rest[4096];
        for (int i = 0; i < 64; ++i)   // nobody may keep this process busy
            if (io::uninterrupted([&] { return ::recv(socket_, rest, sizeof rest, MSG_DONTWAIT); }) <= 0) return;
    }
    static void begin() {
        ::ERR_clear_error();
        errno = 0;
    }
    transfer outcome(int done, std::size_t bytes) {
        if (done == 1) return {transfer::some, bytes};
        const int system = errno;
        switch (::SSL_get_error(ssl_.get(), done)) {
            case SSL_ERROR_WANT_READ: return {transfer::must_wait, 0, 0, POLLIN};
            case SSL_ERROR_WANT_WRITE: return {transfer::must_wait, 0, 0, POLLOUT};
            case SSL_ERROR_ZERO_RETURN: return {transfer::ended};
            case SSL_ERROR_SYSCALL:
                if (system == 0) return {transfer::ended};
                return {transfer::failed, 0, system};
            default:
                fault_ = "TLS: " + detail::openssl_errors();
                if (const long why = ::SSL_get_verify_result(ssl_.get()); why != X509_V_OK)
                    fault_ += std::string(", ") + ::X509_verify_cert_error_string(why);
                discard_what_has_come();
                return {transfer::failed, 0, EPROTO};
        }
    }
};

/// A member's certificate, key and authority.
class tls_context {
public:
    /// Throws option_error for files that cannot be used.
    explicit tls_context(const tls_files& files) : context_(::SSL_CTX_new(::TLS_method())) {
        if (!context_) throw_openssl("TLS");
        SSL_CTX* const c = context_.get();
        const auto need = [](int done, const std::string& file, const char* what) {
            if (done != 1)
                throw option_error(std::string("cannot use ") + what, file, detail::openssl_errors(), "a PEM file");
        };
        need(static_cast<int>(SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION)), "TLS 1.3", "it");
        need(::SSL_CTX_use_certificate_chain_file(c, files.certificate.c_str()), files.certificate, "a certificate");
        need(::SSL_CTX_use_PrivateKey_file(c, files.key.c_str(), SSL_FILETYPE_PEM), files.key, "a private key");
        need(::SSL_CTX_check_private_key(c), files.key, "a key that is not the certificate's");
        need(::SSL_CTX_load_verify_locations(c, files.authority.c_str(), nullptr), files.authority, "an authority");
        ::SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
        SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        ::SSL_CTX_set_options(c, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
        ::SSL_CTX_set_num_tickets(c, 0);   // each connection is made once
        SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    }
    std::unique_ptr<cipher> begin(int socket, bool dials) {
        return std::make_unique<tls_session>(context_.get(), socket, dials);
    }

private:
    struct release {
        void operator()(SSL_CTX* c) const { ::SSL_CTX_free(c); }
    };
    std::unique_ptr<SSL_CTX, release> context_;
};

} // namespace sinter::wire
