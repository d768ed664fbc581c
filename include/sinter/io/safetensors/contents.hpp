// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/extents.hpp>
#include <sinter/io/printable.hpp>
#include <sinter/io/safetensors/dtype.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

/// What a safetensors file holds.
namespace sinter::inline SINTER_ORDINARY::io {
class random_access_file;   // io/random_access_file.hpp

}
namespace sinter::inline SINTER_ORDINARY::safetensors {

/// The reference refuses longer headers; so do we, before a byte of one is allocated.
inline constexpr std::uint64_t largest_header = 100'000'000;

/// Free text that a file carries under `__metadata__`.
using metadata_map = std::map<std::string, std::string, std::less<>>;

/// A name that stands in `names` twice, or nothing. They are sorted then. (Here as elsewhere: most
/// programs include these files and few need all of them. So functions share the few maps and sorts
/// that they need; and sorts are by heaps, for std::sort is those and two more.)
SINTER_SELDOM SINTER_COLD std::optional<std::string_view> sort_and_find_repeated(std::vector<std::string_view>& names);

/// One tensor. `data` is product(shape) elements, last extent fastest, little-endian; it may lie at
/// any address.
struct tensor_view {
    std::string name;
    dtype type = dtype::f32;
    std::vector<std::int64_t> shape;
    span<const std::byte> data;
    bool left = false;                    ///< open() has left it in its file, and `data` is empty
    std::uint64_t begin = 0, bytes = 0;   ///< where it is there: open.hpp's tensor_reader reads it

    /// The elements as float, double or integers: see converted_elements(). Its user includes
    /// <sinter/io/safetensors.hpp>, <.../npz.hpp> or <.../npy.hpp>.
    template <class T>
    std::vector<T> as() const;
};

/// Tensors by name, and the metadata. The views end with the bytes that they were parsed from.
struct contents {
    std::string source; ///< the file's path, or what the caller called the bytes; errors name it
    metadata_map metadata;
    std::map<std::string, tensor_view, std::less<>> tensors;
    std::shared_ptr<io::random_access_file> left_in{};   ///< where open() has left tensors; null elsewhere
    bool verified = false;   ///< open_verified() has read all of it

    /// The tensor of that name; throws mismatch_error where there is none.
    SINTER_SELDOM const tensor_view& at(std::string_view name) const;
};

/// Bytes of a tensor, or nothing where they overflow 64 bits, an extent is negative, or packed
/// elements end amid a byte.
SINTER_SELDOM std::optional<std::uint64_t> tensor_bytes(dtype type, span<const std::int64_t> shape);

/// "F32 [3, 3, 1, 32]", the form that error messages use.
SINTER_COLD inline std::string describe(dtype type, span<const std::int64_t> shape) {
    return to_text({dtype_name(type), " ", io::extents_text(shape)});
}

#if SINTER_BODIES
SINTER_SELDOM_BODY std::optional<std::string_view> sort_and_find_repeated(std::vector<std::string_view>& names) {
    std::make_heap(names.begin(), names.end());
    std::sort_heap(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    return twice == names.end() ? std::nullopt : std::optional(*twice);
}

SINTER_SELDOM_BODY const tensor_view& contents::at(std::string_view name) const {
    const auto found = tensors.find(name);
    if (found == tensors.end())
        throw mismatch_error("no such tensor", source, to_text({tensors.size(), " other tensors"}),
                             io::printable(name));
    return found->second;
}

SINTER_SELDOM_BODY std::optional<std::uint64_t> tensor_bytes(dtype type, span<const std::int64_t> shape) {
    const auto elements = io::checked_product(shape);
    const auto bits = elements ? io::checked_multiply(*elements, dtype_bits(type)) : std::nullopt;
    if (!bits || *bits % 8 != 0) return std::nullopt;
    return *bits / 8;
}
#endif

} // namespace sinter::safetensors
