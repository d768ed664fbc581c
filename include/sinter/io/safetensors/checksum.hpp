// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/safetensors/open.hpp>
#include <sinter/io/safetensors/write.hpp>
#if SINTER_BODIES
#include <sinter/base/hash.hpp>
#include <cstring>
#endif

/// A checksum of all tensors, which the format itself has none of: their names, types, shapes and
/// bytes, in whatever order. Against accidents: 64 bits, and no key.
namespace sinter::inline SINTER_ORDINARY::safetensors {

SINTER_SELDOM SINTER_COLD std::string checksum(const std::vector<entry>& all);
/// Of tensors that were left in their file it reads all: io_error.
SINTER_SELDOM SINTER_COLD std::string checksum(const contents& all);
/// Of the metadata, but for the checksums themselves.
SINTER_SELDOM SINTER_COLD std::string checksum(const metadata_map& metadata);
/// Adds both to the metadata of a file of `all`; the metadata are complete then.
SINTER_SELDOM SINTER_COLD void add_checksums(metadata_map& metadata, const std::vector<entry>& all);
/// format_error where the metadata say that they have another checksum. Older files do not say.
SINTER_SELDOM SINTER_COLD void need_checksum_of_metadata(const metadata_map& metadata, const std::string& source);
/// format_error where the file's metadata have a checksum and its tensors, or the metadata, have another.
SINTER_SELDOM SINTER_COLD void need_checksum(const contents& all);

/// open() of a file that is as it was written, where it says so, and remains as it is now: all of
/// it is read once, before any of it is used, and what is read of it later is what was read here,
/// or an io_error (io/random_access_file.hpp). Throws what open() and need_checksum() throw.
SINTER_SELDOM SINTER_COLD file open_verified(const std::string& path,
                                             base::function_ref<bool(std::string_view)> is_large);

#if SINTER_BODIES
namespace detail {
class sum_of_tensor {
public:
    SINTER_COLD sum_of_tensor(std::string_view name, const std::string& form)
        : h_(fnv1a(name) ^ fnv1a(form) * prime) {}
    /// All but the last bytes are a multiple of 8.
    SINTER_COLD void add(const void* data, std::size_t bytes) {
        const char* at = static_cast<const char*>(data);
        for (; bytes >= 8; bytes -= 8, at += 8) {
            std::uint64_t w;
            std::memcpy(&w, at, 8);
            mix(w);
        }
        last_ = std::uint64_t{bytes} << 56;
        if (bytes > 0) std::memcpy(&last_, at, bytes);   // an empty tensor may have no address
    }
    SINTER_COLD std::uint64_t value() {
        mix(last_);
        return h_;
    }

private:
    static constexpr std::uint64_t prime = 0x9e3779b97f4a7c15u;
    std::uint64_t h_, last_ = 0;

    void mix(std::uint64_t w) {
        h_ = (h_ ^ w) * prime;   // one to one in w and in h: no single word can change unseen
        h_ ^= h_ >> 29;
    }
};
} // namespace detail

SINTER_SELDOM_BODY std::string checksum(const std::vector<entry>& all) {
    std::uint64_t sum = 0;
    for (const entry& e : all) {
        detail::sum_of_tensor of(e.name, describe(e.type, e.shape));
        detail::each_piece(e, detail::bytes_of(e, "memory"),
                           [&](span<const std::byte> bytes) { of.add(bytes.data(), bytes.size()); });
        sum += of.value();
    }
    return to_text({sum});
}

SINTER_SELDOM_BODY std::string checksum(const contents& all) {
    std::uint64_t sum = 0;
    std::vector<std::byte> some;
    for (const auto& [name, t] : all.tensors) {
        detail::sum_of_tensor of(name, describe(t.type, t.shape));
        if (t.left) {
            tensor_reader from(all, t);
            some.resize(std::size_t{1} << 16);
            for (std::uint64_t at = 0; at < from.size(); at += some.size()) {
                const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(some.size(), from.size() - at));
                from.read(at, {some.data(), n});
                of.add(some.data(), n);
            }
        } else {
            of.add(t.data.data(), t.data.size());
        }
        sum += of.value();
    }
    return to_text({sum});
}

SINTER_SELDOM_BODY std::string checksum(const metadata_map& metadata) {
    std::uint64_t sum = 0;
    for (const auto& [key, value] : metadata) {
        if (key.ends_with("checksum")) continue;
        detail::sum_of_tensor of(key, "metadata");
        of.add(value.data(), value.size());
        sum += of.value();
    }
    return to_text({sum});
}

SINTER_SELDOM_BODY void add_checksums(metadata_map& metadata, const std::vector<entry>& all) {
    metadata.insert_or_assign("metadata_checksum", checksum(metadata));
    metadata.insert_or_assign("checksum", checksum(all));
}

SINTER_SELDOM_BODY void need_checksum_of_metadata(const metadata_map& metadata, const std::string& source) {
    const auto said = metadata.find("metadata_checksum");
    if (said == metadata.end()) return;
    if (const std::string is = checksum(metadata); is != said->second)
        throw format_error("metadata have changed since they were written", source, "checksum " + is,
                           io::printable(said->second));
}

SINTER_SELDOM_BODY void need_checksum(const contents& all) {
    need_checksum_of_metadata(all.metadata, all.source);
    const auto said = all.verified ? all.metadata.end() : all.metadata.find("checksum");
    if (said == all.metadata.end()) return;
    if (const std::string is = checksum(all); is != said->second)
        throw format_error("tensors have changed since they were written", all.source, "checksum " + is,
                           io::printable(said->second));
}

SINTER_SELDOM_BODY file open_verified(const std::string& path, base::function_ref<bool(std::string_view)> is_large) {
    file f = open(path, is_large);
    if (f.metadata.contains("checksum")) need_checksum(f);
    else checksum(f);
    f.verified = true;
    return f;
}
#endif

} // namespace sinter::safetensors
