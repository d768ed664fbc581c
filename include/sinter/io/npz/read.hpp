// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/npy/read.hpp>
#include <sinter/io/npz/directory.hpp>
#include <sinter/io/npz/zlib_stream.hpp>
#include <sinter/io/safetensors/contents.hpp>

namespace sinter::inline SINTER_ORDINARY::npz {

/// The arrays of an archive by their names, as safetensors' contents are, and the bytes that they
/// point into.
struct file : safetensors::contents {
    std::vector<io::byte_buffer> bytes;
};

/// Reads an archive that lies in memory; errors call it `name`. Throws format_error where the
/// archive or an array in it is malformed, a checksum does not hold, two members have one name, or
/// one is no array.
SINTER_APART file parse(span<const std::byte> bytes, std::string name);

/// Reads the archive at `path`; throws io_error where it cannot be read, and as parse() does.
SINTER_APART file read(const std::string& path);

#if SINTER_BODIES
SINTER_APART file parse(span<const std::byte> bytes, std::string name) {
    file out;
    out.source = std::move(name);
    for (const member& m : read_directory(bytes, out.source)) {
        const std::string where = out.source + ", member " + io::printable(m.name);
        constexpr std::string_view ending = ".npy";
        if (!m.name.ends_with(ending)) throw format_error("member is no array", where, {}, "a name that ends in .npy");
        io::byte_buffer unpacked;
        if (m.how == method::deflated) unpacked = detail::inflated(m.packed, m.size, where);
        const span<const std::byte> whole = m.how == method::deflated ? unpacked.span() : m.packed;
        if (const std::uint32_t crc = detail::crc_of(whole); crc != m.crc)
            throw format_error("checksum does not hold", where, std::to_string(crc), std::to_string(m.crc));
        io::memory_source source(whole, where);
        npy::array array = npy::parse(source);
        std::string key = m.name.substr(0, m.name.size() - ending.size());
        if (out.tensors.contains(key))
            throw format_error("two members have one name", out.source, io::printable(key) + " twice",
                               "each name once");
        out.bytes.push_back(std::move(array.bytes));
        const span<const std::byte> data = out.bytes.back().span();
        out.tensors.emplace(key, safetensors::tensor_view{key, array.type, std::move(array.shape), data});
    }
    return out;
}

SINTER_APART file read(const std::string& path) {
    io::input_file in(path);
    io::byte_buffer bytes(in.size(), path);
    if (in.read_up_to(bytes.span()) != in.size())
        throw io_error("file became shorter while it was read", path, {}, std::to_string(in.size()) + " bytes");
    return parse(bytes.span(), path);
}
#endif

} // namespace sinter::npz
