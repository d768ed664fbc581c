// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/cluster_options.hpp>
#include <sinter/net/elastic/assembly_message.hpp>
#include <sinter/net/openssl.hpp>
#include <optional>

/// Datagrams of an elastic job: a message and its HMAC-SHA256 by the job's key.
namespace sinter::inline SINTER_ORDINARY::wire {

SINTER_COLD inline span<const std::byte> bytes_of_text(const std::string& s) {
    return {reinterpret_cast<const std::byte*>(s.data()), s.size()};
}
SINTER_COLD inline digest datagram_key(const cluster_options& o) {
    return hmac_sha256(bytes_of_text(o.key), {bytes_of_text("elastic/" + o.job)});
}
SINTER_COLD inline std::string datagram_of(const assembly_message& m, const digest& key) {
    std::string bytes = archived(m);
    const digest mac = hmac_sha256(key, {bytes_of_text(bytes)});
    return bytes.append(reinterpret_cast<const char*>(mac.data()), mac.size());
}
/// Nothing where it is of another job, damaged, or of another version: no word of it can be trusted.
SINTER_COLD inline std::optional<assembly_message> message_of(span<const std::byte> datagram, const digest& key) {
    constexpr std::size_t mac = sizeof(digest);
    if (datagram.size() <= mac) return {};
    const auto text = datagram.first(datagram.size() - mac);
    if (!equal_in_constant_time(datagram.subspan(text.size()), hmac_sha256(key, {text}))) return {};
    try {
        return restored<assembly_message>(text);
    } catch (const error&) {
        return {};
    }
}

} // namespace sinter::wire
