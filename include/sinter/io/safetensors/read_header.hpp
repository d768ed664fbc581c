// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/safetensors/contents.hpp>
#include <sinter/io/json_reader.hpp>

#include <algorithm>

/// The header of a safetensors file: 8 bytes that give its length (little-endian), then JSON that
/// names each tensor's dtype, shape and place among the data after it. Follows
/// huggingface/safetensors' README and, where that is silent, what its reader accepts; two equal
/// keys and unknown fields, which that reader lets pass, are refused.
namespace sinter::inline SINTER_ORDINARY::safetensors {

inline constexpr std::size_t length_bytes = 8;

/// A tensor as the header gives it: [begin, end) counts from the first byte after the header.
struct tensor_place {
    std::string name;
    dtype type = dtype::f32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;
};

struct header {
    metadata_map metadata;
    std::vector<tensor_place> places; ///< in the order of their data
};

/// The header's length from the file's first eight bytes, held against the file's size. Throws
/// format_error where it is over 100 MB or longer than the file.
SINTER_SELDOM std::uint64_t header_length(span<const std::byte> bytes, std::uint64_t file_bytes, std::string_view file);

/// Throws format_error where a file has not even room for the header's length.
SINTER_SELDOM void check_has_length(std::uint64_t file_bytes, std::string_view file);

/// Reads the header's JSON and checks it whole: afterwards every place lies inside the `data_bytes`
/// that follow.
SINTER_SELDOM header read_header(std::string_view json, std::uint64_t data_bytes, std::string_view file);

#if SINTER_BODIES
namespace detail {
inline std::string tensor_in(std::string_view file, std::string_view name) {
    return std::string(file) + ", tensor " + io::printable(name);
}

template <class = void>
inline void read_metadata(io::json_reader& in, metadata_map& metadata) {
    in.object([&](std::string key) {
        std::string value = in.string();
        if (metadata.contains(key)) in.fail("each metadata key once, not " + io::printable(key) + " again");
        metadata.emplace(std::move(key), std::move(value));
    });
}

template <class = void>
inline tensor_place read_place(io::json_reader& in, std::string name) {
    tensor_place out;
    bool has_type = false, has_shape = false, has_offsets = false;
    const auto first_time = [&](bool& seen) { return !std::exchange(seen, true); };
    in.object([&](std::string_view field) {
        if (field == "dtype" && first_time(has_type)) {
            const std::string text = in.string();
            const auto type = dtype_from_name(text);
            if (!type) in.fail("a dtype of the format, not " + io::printable(text));
            out.type = *type;
        } else if (field == "shape" && first_time(has_shape)) {
            in.array([&] {
                const std::uint64_t extent = in.integer();
                if (extent > INT64_MAX) in.fail("an extent below 2^63");
                out.shape.push_back(static_cast<std::int64_t>(extent));
            });
        } else if (field == "data_offsets" && first_time(has_offsets)) {
            std::size_t count = 0;
            in.array([&] {
                if (count == 2) in.fail("two offsets");
                (count++ == 0 ? out.begin : out.end) = in.integer();
            });
            if (count != 2) in.fail("two offsets");
        } else {
            in.fail("dtype, shape and data_offsets once each, not the field " + io::printable(field));
        }
    });
    if (!has_type || !has_shape || !has_offsets) in.fail("dtype, shape and data_offsets of " + io::printable(name));
    out.name = std::move(name);
    return out;
}

template <class = void>
inline void check_names_differ(const std::vector<tensor_place>& places, std::string_view file) {
    std::vector<std::string_view> names;
    names.reserve(places.size());
    for (const tensor_place& place : places) names.push_back(place.name);
    if (const auto twice = sort_and_find_repeated(names))
        throw format_error("two tensors have one name", std::string(file), io::printable(*twice) + " twice",
                           "each name once");
}

/// `places` sorted by offset must follow one another without hole or overlap, each as long as its
/// shape says, and cover all `data_bytes`.
template <class = void>
inline void check_places(const std::vector<tensor_place>& places, std::uint64_t data_bytes, std::string_view file) {
    std::uint64_t covered = 0;
    for (const tensor_place& place : places) {
        std::string offsets = "[";   // by +=: g++ 12 warns, wrongly, where a literal is put before a string
        offsets += std::to_string(place.begin) + ", " + std::to_string(place.end) + "]";
        const auto refuse = [&](const char* what, std::string got, std::string needed) {
            throw format_error(what, tensor_in(file, place.name), std::move(got), std::move(needed));
        };
        if (place.end < place.begin) refuse("data_offsets run backwards", offsets, "begin <= end");
        if (place.end > data_bytes)
            refuse("data_offsets reach beyond the file", offsets, "at most " + std::to_string(data_bytes));
        if (place.begin != covered)
            refuse(place.begin < covered ? "data overlaps another tensor's" : "data leaves a hole before it", offsets,
                   "a begin of " + std::to_string(covered));
        const auto bytes = tensor_bytes(place.type, place.shape);
        const std::string is = describe(place.type, place.shape);
        if (!bytes) refuse("shape has no size in whole bytes", is, "whole bytes, fewer than 2^61");
        if (place.end - place.begin != *bytes)
            refuse("data_offsets do not fit the shape", std::to_string(place.end - place.begin) + " bytes",
                   std::to_string(*bytes) + " for " + is);
        covered = place.end;
    }
    if (covered != data_bytes)
        throw format_error("tensors do not cover the file's data", std::string(file),
                           std::to_string(data_bytes) + " bytes after the header", std::to_string(covered));
}
} // namespace detail

SINTER_SELDOM_BODY std::uint64_t header_length(span<const std::byte> bytes, std::uint64_t file_bytes,
                                               std::string_view file) {
    std::uint64_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    const std::string where = std::string(file) + ", bytes 0 to 7";
    if (length > largest_header)
        throw format_error("header length is too large", where, std::to_string(length),
                           "at most " + std::to_string(largest_header));
    if (length > file_bytes - length_bytes)
        throw format_error("header is longer than the file", where, std::to_string(length),
                           "at most " + std::to_string(file_bytes - length_bytes));
    return length;
}

SINTER_SELDOM_BODY void check_has_length(std::uint64_t file_bytes, std::string_view file) {
    if (file_bytes < length_bytes)
        throw format_error("too short for a safetensors file", std::string(file),
                           std::to_string(file_bytes) + " bytes", "8 or more");
}

SINTER_SELDOM_BODY header read_header(std::string_view json, std::uint64_t data_bytes, std::string_view file) {
    const std::string where = std::string(file) + ", byte 8";
    if (json.empty() || json.front() != '{')
        throw format_error("header does not begin with a brace", where,
                           json.empty() ? "nothing" : io::printable(json.substr(0, 8)), "{");
    if (!is_utf8(json)) throw format_error("header is not UTF-8", where, "other bytes", "UTF-8 (RFC 3629)");
    header out;
    bool has_metadata = false;
    io::json_reader in(json, file, length_bytes, "header");
    in.object([&](std::string name) {
        if (name == "__metadata__") {
            if (std::exchange(has_metadata, true)) in.fail("__metadata__ once");
            detail::read_metadata(in, out.metadata);
        } else {
            out.places.push_back(detail::read_place(in, std::move(name)));
        }
    });
    in.end();
    detail::check_names_differ(out.places, file);
    // Files need not list tensors in the order of their data. Empty ones share an offset with their
    // successor.
    std::sort(out.places.begin(), out.places.end(), [](const tensor_place& a, const tensor_place& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end < b.end : a.name < b.name;
    });
    detail::check_places(out.places, data_bytes, file);
    return out;
}
#endif

} // namespace sinter::safetensors
