// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/quoted_text.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sinter::inline SINTER_ORDINARY {

/// Where a process listens: a name or number of a host, and a TCP port.
struct host_port {
    std::string host;
    std::uint16_t port = 0;   ///< 0: not known
    bool known() const { return !host.empty() && port != 0; }
    bool operator==(const host_port&) const = default;
};

/// "host:port"; IPv6 addresses in brackets.
SINTER_COLD SINTER_APART std::string text_of(const host_port& a);

namespace wire {

/// A decimal integer in [low, high], with nothing before or after it; nullopt otherwise.
SINTER_COLD SINTER_APART std::optional<std::int64_t> integer(std::string_view text, std::int64_t low,
                                                             std::int64_t high);

using base::quoted_text;

SINTER_COLD SINTER_APART bool is_host_name(std::string_view host);

/// Characters of an IPv6 address, a scope ("%eth0") included; whether it is one is seen when it is
/// resolved.
SINTER_COLD SINTER_APART bool is_ipv6(std::string_view host);

/// Reads "host:port" or "[IPv6]:port". `where` says in errors whose address it is. Throws
/// option_error; port 0 is refused, since nobody could connect to it.
SINTER_COLD SINTER_APART host_port parse_address(std::string_view s, const std::string& where);

} // namespace wire
} // namespace sinter::inline SINTER_ORDINARY

#if SINTER_BODIES
#include <charconv>

namespace sinter::inline SINTER_ORDINARY {
SINTER_COLD SINTER_APART std::string text_of(const host_port& a) {
    const bool v6 = a.host.find(':') != std::string::npos;
    return (v6 ? "[" + a.host + "]" : a.host) + ":" + std::to_string(a.port);
}

namespace wire {

SINTER_COLD SINTER_APART std::optional<std::int64_t> integer(std::string_view text, std::int64_t low,
                                                             std::int64_t high) {
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size() || value < low || value > high) return {};
    return value;
}

SINTER_COLD SINTER_APART bool is_host_name(std::string_view host) {
    if (host.empty() || host.size() > 255) return false;
    for (const char c : host)
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
              c == '_'))
            return false;
    return true;
}

SINTER_COLD SINTER_APART bool is_ipv6(std::string_view host) {
    if (host.find(':') == host.npos || host.size() > 64) return false;
    const std::string_view digits = host.substr(0, host.find('%'));
    for (const char c : digits)
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.'))
            return false;
    return digits.size() == host.size() || is_host_name(host.substr(digits.size() + 1));
}

SINTER_COLD SINTER_APART host_port parse_address(std::string_view s, const std::string& where) {
    const auto fault = [&](const char* what) {
        return option_error(what, where, quoted_text(s), "host:port, as in node1:2222 or [::1]:2222, port 1 to 65535");
    };
    const std::size_t colon = s.rfind(':');
    if (colon == s.npos) throw fault("an address has no port");
    std::string_view host = s.substr(0, colon);
    const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (bracketed ? !is_ipv6(host) : !is_host_name(host)) throw fault("an address has no valid host");
    const auto port = integer(s.substr(colon + 1), 1, 65535);
    if (!port) throw fault("an address has no valid port");
    return {std::string(host), static_cast<std::uint16_t>(*port)};
}

} // namespace wire
} // namespace sinter::inline SINTER_ORDINARY
#endif
