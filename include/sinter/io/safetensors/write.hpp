// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/safetensors/contents.hpp>
#include <sinter/base/utf8.hpp>

#include <bit>
#if SINTER_BODIES
#include <algorithm>
#endif

namespace sinter::inline SINTER_ORDINARY::safetensors {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and written in place");

/// The bytes of a tensor that memory need not hold: they are asked for in pieces, perhaps several
/// times. Throws what reading them throws.
struct entry_source {
    virtual ~entry_source() = default;
    virtual void read(std::uint64_t at, span<std::byte> to) const = 0;
};
/// A tensor to be written: product(shape) elements at `data`, last extent fastest, or from `source`.
struct entry {
    std::string name;
    dtype type = dtype::f32;
    std::vector<std::int64_t> shape;
    const void* data = nullptr;
    const entry_source* source = nullptr;
};

namespace detail {

SINTER_SELDOM SINTER_COLD std::uint64_t bytes_of(const entry& tensor, std::string_view file);

/// f(bytes) of all its `n` bytes, in one piece or several, all but the last a multiple of 8.
SINTER_SELDOM SINTER_COLD void each_piece(const entry& tensor, std::uint64_t n,
                                          base::function_ref<void(span<const std::byte>)> f);

} // namespace detail

/// Sorts `entries` into the order of their data in a file: by falling dtype, so that each is
/// aligned, then by name. It depends on nothing else, so equal tensors make equal files.
SINTER_SELDOM SINTER_COLD void sort_as_written(std::vector<entry>& entries);

/// The bytes before the data, for `entries` as sort_as_written leaves them: length and JSON, padded
/// with spaces so that the data begins at a multiple of 8. Throws format_error on two equal names,
/// the reserved name, names that are not UTF-8, shapes without a size, and a header over 100 MB.
SINTER_SELDOM SINTER_COLD std::string encode_header(const std::vector<entry>& entries, const metadata_map& metadata,
                                                    std::string_view file);

/// The bytes of the file that write() would write, for keeping them elsewhere than in files.
/// parse() reads them.
SINTER_SELDOM SINTER_COLD std::vector<std::byte> to_bytes(std::vector<entry> entries,
                                                          const metadata_map& metadata = {});

/// Writes a safetensors file, whole or not at all (io::atomic_write). The data goes to the system
/// from where it lies. The same tensors give the same bytes as the reference writer gives. Throws
/// io_error where the file cannot be written, format_error as encode_header does; either way an old
/// file at `path` stays as it was. `publish` as atomic_write's.
SINTER_SELDOM SINTER_COLD void write(const std::string& path, std::vector<entry> entries, const metadata_map& metadata,
                                     io::publish_function publish);
SINTER_SELDOM SINTER_COLD void write(const std::string& path, std::vector<entry> entries,
                                     const metadata_map& metadata = {});

#if SINTER_BODIES
namespace detail {
template <class = void>
SINTER_COLD inline void append_json_string(std::string& out, std::string_view text, std::string_view file) {
    if (!is_utf8(text)) throw format_error("name is not UTF-8", file, io::printable(text), "UTF-8");
    constexpr std::string_view hex = "0123456789abcdef", special = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (const std::size_t which = special.find(c); which != std::string_view::npos) {
            out += '\\';
            out += letters[which];
        } else if (byte < 0x20) {
            out += "\\u00";
            out += hex[byte >> 4];
            out += hex[byte & 15];
        } else {
            out += c;
        }
    }
    out += '"';
}

SINTER_SELDOM_BODY std::uint64_t bytes_of(const entry& tensor, std::string_view file) {
    const auto bytes = tensor_bytes(tensor.type, tensor.shape);
    if (!bytes)
        throw format_error("tensor has no size in whole bytes",
                           to_text({file, ", tensor ", io::printable(tensor.name)}),
                           describe(tensor.type, tensor.shape), "whole bytes, fewer than 2^61");
    return *bytes;
}

SINTER_SELDOM_BODY void each_piece(const entry& tensor, std::uint64_t n,
                                   base::function_ref<void(span<const std::byte>)> f) {
    if (!tensor.source)
        return f(span<const std::byte>(static_cast<const std::byte*>(tensor.data), static_cast<std::size_t>(n)));
    std::vector<std::byte> piece(static_cast<std::size_t>(std::min<std::uint64_t>(n, std::uint64_t{1} << 20)));
    for (std::uint64_t at = 0; at < n; at += piece.size()) {
        piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), n - at)));
        tensor.source->read(at, {piece.data(), piece.size()});
        f(span<const std::byte>(piece.data(), piece.size()));
    }
}
} // namespace detail

SINTER_SELDOM_BODY void sort_as_written(std::vector<entry>& entries) {
    const auto before = [](const entry* a, const entry* b) {
        return a->type != b->type ? a->type > b->type : a->name < b->name;
    };
    std::vector<entry*> order(entries.size());   // a sort that moves pointers is a third of the code
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = &entries[i];
    std::make_heap(order.begin(), order.end(), before);
    std::sort_heap(order.begin(), order.end(), before);
    std::vector<entry> sorted;
    for (entry* e : order) sorted.push_back(std::move(*e));
    entries.swap(sorted);
}

SINTER_SELDOM_BODY std::string encode_header(const std::vector<entry>& entries, const metadata_map& metadata,
                                             std::string_view file) {
    std::string json = "{";
    if (!metadata.empty()) {
        json += "\"__metadata__\":{";
        for (const auto& [key, value] : metadata) {
            detail::append_json_string(json, key, file);
            json += ':';
            detail::append_json_string(json, value, file);
            json += ',';
        }
        json.back() = '}';
        json += ',';
    }
    std::vector<std::string_view> names{"__metadata__"};
    for (const entry& tensor : entries) names.push_back(tensor.name);
    if (const auto twice = sort_and_find_repeated(names))
        throw format_error("tensor cannot have this name", file, io::printable(*twice),
                           "names that differ, none of them __metadata__");
    std::uint64_t begin = 0;
    for (const entry& tensor : entries) {
        const std::uint64_t bytes = detail::bytes_of(tensor, file);
        if (begin > UINT64_MAX - bytes)
            throw format_error("tensors are too large", file, {}, "fewer than 2^64 bytes");
        detail::append_json_string(json, tensor.name, file);
        json += to_text({":{\"dtype\":\"", dtype_name(tensor.type), "\",\"shape\":["});
        for (const std::int64_t extent : tensor.shape) json += to_text({extent, ","});
        if (!tensor.shape.empty()) json.pop_back();
        json += to_text({"],\"data_offsets\":[", begin, ",", begin + bytes, "]},"});
        begin += bytes;
    }
    if (json.size() > 1) json.back() = '}';
    else json += '}';
    json.append((8 - json.size() % 8) % 8, ' ');
    if (json.size() > largest_header)
        throw format_error("header is too large", file, to_text({json.size(), " bytes"}),
                           to_text({"at most ", largest_header}));
    std::string out;
    for (unsigned shift = 0; shift < 64; shift += 8)
        out += static_cast<char>(static_cast<std::uint64_t>(json.size()) >> shift & 0xff);
    return out + json;
}

SINTER_SELDOM_BODY std::vector<std::byte> to_bytes(std::vector<entry> entries, const metadata_map& metadata) {
    constexpr std::string_view place = "memory";
    sort_as_written(entries);
    const std::string head = encode_header(entries, metadata, place);
    std::vector<std::byte> all;
    const auto add = [&](const void* from, std::size_t n) {
        const auto* const b = static_cast<const std::byte*>(from);
        all.insert(all.end(), b, b + n);
    };
    add(head.data(), head.size());
    for (const entry& tensor : entries)
        detail::each_piece(tensor, detail::bytes_of(tensor, place),
                           [&](span<const std::byte> bytes) { add(bytes.data(), bytes.size()); });
    return all;
}

SINTER_SELDOM_BODY void write(const std::string& path, std::vector<entry> entries, const metadata_map& metadata,
                              io::publish_function publish) {
    sort_as_written(entries);
    const std::string head = encode_header(entries, metadata, path);
    io::atomic_write(path, [&](io::output_file& out) {
        out.write(head);
        for (const entry& tensor : entries)
            detail::each_piece(tensor, detail::bytes_of(tensor, path),
                               [&](span<const std::byte> bytes) { out.write(bytes); });
    }, publish);
}

SINTER_SELDOM_BODY void write(const std::string& path, std::vector<entry> entries, const metadata_map& metadata) {
    write(path, std::move(entries), metadata, [](base::function_ref<void()> rename) { rename(); });
}
#endif

} // namespace sinter::safetensors
