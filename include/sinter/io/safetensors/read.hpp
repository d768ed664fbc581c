// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/byte_buffer.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/safetensors/other_formats.hpp>
#include <sinter/io/safetensors/read_header.hpp>

#include <bit>

namespace sinter::inline SINTER_ORDINARY::safetensors {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and used in place");

namespace detail {
SINTER_SELDOM void refuse_other_formats_at(const std::string& path, bool arrays_too);
} // namespace detail

/// Reads a whole file that lies in memory; the views point into `bytes`. `name` is what errors call
/// it. Throws format_error on anything that the format forbids.
SINTER_SELDOM contents parse(span<const std::byte> bytes, std::string name);

/// A file in memory: its contents and the bytes that they point into. The data begins on a cache
/// line, so that in files which the reference or we wrote, every tensor is aligned for its dtype.
struct file : contents {
    io::byte_buffer bytes;
};

/// Reads the safetensors file at `path`. The header is checked before memory for the data is asked
/// for. Throws io_error where the file cannot be read, format_error where it is not what the format
/// demands.
SINTER_SELDOM file read(const std::string& path);

#if SINTER_BODIES
namespace detail {
template <class = void>
inline contents place_tensors(header&& from, span<const std::byte> data, std::string source) {
    contents out{std::move(source), std::move(from.metadata), {}};
    for (tensor_place& place : from.places) {
        std::string key = place.name;
        out.tensors.emplace_hint(
            out.tensors.end(), std::move(key),
            tensor_view{std::move(place.name), place.type, std::move(place.shape),
                        data.subspan(static_cast<std::size_t>(place.begin),
                                     static_cast<std::size_t>(place.end - place.begin))});
    }
    return out;
}

SINTER_SELDOM_BODY void refuse_other_formats_at(const std::string& path, bool arrays_too) {
    io::input_file in(path);
    char start[telling_bytes];
    const std::size_t n = in.read_up_to(as_writable_bytes(start));
    refuse_other_formats({start, n}, path, arrays_too);
}
} // namespace detail

SINTER_SELDOM_BODY contents parse(span<const std::byte> bytes, std::string name) {
    check_has_length(bytes.size(), name);
    refuse_other_formats({reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), telling_bytes)}, name,
                         true);
    const auto length = static_cast<std::size_t>(header_length(bytes.first(length_bytes), bytes.size(), name));
    const auto json = bytes.subspan(length_bytes, length);
    const auto data = bytes.subspan(length_bytes + length);
    header head = read_header({reinterpret_cast<const char*>(json.data()), json.size()}, data.size(), name);
    return detail::place_tensors(std::move(head), data, std::move(name));
}

SINTER_SELDOM_BODY file read(const std::string& path) {
    io::input_file in(path);
    check_has_length(in.size(), path);
    detail::refuse_other_formats_at(path, true);
    const auto fill = [&](span<std::byte> to) {
        if (in.read_up_to(to) != to.size())
            throw io_error("file became shorter while it was read", path, {}, std::to_string(in.size()) + " bytes");
    };
    std::array<std::byte, length_bytes> length;
    fill(length);
    std::string json(static_cast<std::size_t>(header_length(length, in.size(), path)), '\0');
    fill(as_writable_bytes(json));
    const std::uint64_t data_bytes = in.size() - length_bytes - json.size();
    header head = read_header(json, data_bytes, path);
    io::byte_buffer data(data_bytes, path);
    fill(data.span());
    return file{detail::place_tensors(std::move(head), data.span(), path), std::move(data)};
}
#endif

} // namespace sinter::safetensors
