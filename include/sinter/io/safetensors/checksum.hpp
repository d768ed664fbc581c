// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/io/mapped_file.hpp>
#include <sinter/io/safetensors/contents.hpp>
#include <sinter/io/safetensors/write.hpp>
#include <cstring>

/// A checksum of all tensors, which the format itself has none of: their names, types, shapes and
/// bytes, in whatever order. Against accidents: 64 bits, and no key.
namespace sinter::inline SINTER_TARGET::safetensors {

namespace detail {
SINTER_COLD inline std::uint64_t sum_of_tensor(std::string_view name, const std::string& form, const void* data,
                                               std::size_t bytes) {
    constexpr std::uint64_t prime = 0x9e3779b97f4a7c15u;
    std::uint64_t h = fnv1a(name) ^ fnv1a(form) * prime;
    const char* at = static_cast<const char*>(data);
    const auto mix = [&](std::uint64_t w) {
        h = (h ^ w) * prime;   // one to one in w and in h: no single word can change unseen
        h ^= h >> 29;
    };
    for (; bytes >= 8; bytes -= 8, at += 8) {
        std::uint64_t w;
        std::memcpy(&w, at, 8);
        mix(w);
    }
    std::uint64_t last = std::uint64_t{bytes} << 56;
    if (bytes > 0) std::memcpy(&last, at, bytes);   // an empty tensor may have no address
    mix(last);
    return h;
}
} // namespace detail

template <class = void>
SINTER_COLD std::string checksum(const std::vector<entry>& all) {
    std::uint64_t sum = 0;
    for (const entry& e : all)
        sum += detail::sum_of_tensor(e.name, describe(e.type, e.shape), e.data,
                                     static_cast<std::size_t>(detail::bytes_of(e, "memory")));
    return joined({sum});
}
template <class = void>
SINTER_COLD std::string checksum(const contents& all) {
    std::uint64_t sum = 0;
    for (const auto& [name, t] : all.tensors) {
        sum += detail::sum_of_tensor(name, describe(t.type, t.shape), t.data.data(), t.data.size());
        if (all.mapped) all.mapped->forget();
    }
    return joined({sum});
}
/// format_error where the file's metadata have a checksum and its tensors have another.
template <class = void>
SINTER_COLD void need_checksum(const contents& all) {
    const auto said = all.metadata.find("checksum");
    if (said == all.metadata.end()) return;
    if (const std::string is = checksum(all); is != said->second)
        throw format_error("tensors have changed since they were written", all.source, "checksum " + is,
                           io::printable(said->second));
}

} // namespace sinter::safetensors
