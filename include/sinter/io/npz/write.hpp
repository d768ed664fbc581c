// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/npy/write.hpp>
#include <sinter/io/npz/directory.hpp>
#include <sinter/io/npz/zlib_stream.hpp>
#include <sinter/io/safetensors/write.hpp>
#if SINTER_BODIES
#include <map>
#endif

namespace sinter::inline SINTER_ORDINARY::npz {

using safetensors::entry;

enum class compression { none, deflate };

/// Writes arrays under their names into one archive, as numpy.savez does: whole or not at all
/// (io::atomic_write). Throws io_error where the file cannot be written; format_error on two equal
/// names, types that NumPy lacks, and 4 GiB or more.
SINTER_APART void write(const std::string& path, const std::vector<entry>& entries,
                        compression how = compression::none);

#if SINTER_BODIES
namespace detail {
inline void append(std::string& out, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
}

/// A member, ready to be written.
struct packed_member {
    std::string name, head;             ///< head: the array's, which stands before its elements
    span<const std::byte> data;    ///< its elements as they lie; not for deflated ones
    std::vector<std::byte> deflated;
    std::uint32_t crc = 0, size = 0, packed = 0, at = 0;
    bool is_deflated = false;

    /// What both headers have in common.
    std::string common() const {
        constexpr std::uint32_t first_of_january_1980 = 0x21, version_2 = 20, name_is_utf8 = 0x800;
        std::string out;
        append(out, version_2, 2);
        append(out, name_is_utf8, 2);
        append(out, is_deflated ? 8 : 0, 2);
        append(out, first_of_january_1980 << 16, 4);   // equal arrays make equal files, whenever they are written
        append(out, crc, 4);
        append(out, packed, 4);
        append(out, size, 4);
        append(out, static_cast<std::uint32_t>(name.size()), 2);
        append(out, 0, 2);
        return out;
    }
};

inline packed_member pack(const entry& tensor, compression how, const std::string& path) {
    const std::string where = path + ", array " + io::printable(tensor.name);
    packed_member m;
    m.name = tensor.name + ".npy";
    if (!is_utf8(m.name) || m.name.size() > 0xffff)
        throw format_error("array cannot have this name", where, {}, "UTF-8, below 64 KiB");
    const std::uint64_t bytes = npy::bytes_of(tensor.type, tensor.shape, where);
    m.head = npy::encode_header(tensor.type, tensor.shape);
    if (bytes >= 0xfffffffeu - m.head.size())
        throw format_error("array is too large for an .npz file", where, std::to_string(bytes) + " bytes",
                           "less than 4 GiB; safetensors takes more");
    m.size = m.packed = static_cast<std::uint32_t>(m.head.size() + bytes);
    m.data = {static_cast<const std::byte*>(tensor.data), static_cast<std::size_t>(bytes)};
    const auto head = as_bytes(m.head);
    m.crc = crc_of(m.data, crc_of(head));
    if (how == compression::none) return m;
    m.is_deflated = true;
    deflater d(where);
    d.add(head, false, m.deflated);
    d.add(m.data, true, m.deflated);
    m.packed = static_cast<std::uint32_t>(m.deflated.size());
    return m;
}
} // namespace detail

SINTER_APART void write(const std::string& path, const std::vector<entry>& entries, compression how) {
    std::vector<detail::packed_member> members;
    std::map<std::string_view, int> names;
    std::uint64_t end = 0;
    for (const entry& tensor : entries) {
        if (!names.emplace(tensor.name, 0).second)
            throw format_error("two arrays have one name", path, io::printable(tensor.name) + " twice",
                               "each name once");
        detail::packed_member m = detail::pack(tensor, how, path);
        m.at = static_cast<std::uint32_t>(end);
        end += detail::local_bytes + m.name.size() + m.packed;
        members.push_back(std::move(m));
        if (end > 0xfffffffeu || members.size() >= 0xffff)
            throw format_error("archive is too large", path, {},
                               "less than 4 GiB and 65535 arrays; safetensors takes more");
    }
    std::string directory;
    for (const detail::packed_member& m : members) {
        detail::append(directory, detail::central_signature, 4);
        detail::append(directory, 20, 2);
        directory += m.common();
        detail::append(directory, 0, 2);               // comment
        detail::append(directory, 0, 4);               // disk, internal attributes
        detail::append(directory, 0600u << 16, 4);     // external attributes: the owner may read and write
        detail::append(directory, m.at, 4);
        directory += m.name;
    }
    const auto length = static_cast<std::uint32_t>(directory.size()),
               count = static_cast<std::uint32_t>(members.size());
    detail::append(directory, detail::end_signature, 4);
    detail::append(directory, 0, 4);
    detail::append(directory, count, 2);
    detail::append(directory, count, 2);
    detail::append(directory, length, 4);
    detail::append(directory, static_cast<std::uint32_t>(end), 4);
    detail::append(directory, 0, 2);
    io::atomic_write(path, [&](io::output_file& out) {
        for (const detail::packed_member& m : members) {
            std::string head;
            detail::append(head, detail::local_signature, 4);
            out.write(head + m.common() + m.name);
            if (m.is_deflated) {
                out.write(span<const std::byte>(m.deflated));
                continue;
            }
            out.write(m.head);
            out.write(m.data);
        }
        out.write(directory);
    });
}
#endif

} // namespace sinter::npz
