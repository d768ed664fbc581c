// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/span.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// Arithmetic on extents that came from a file: every product and sum says when it does not fit.
namespace sinter::inline SINTER_ORDINARY::io {

/// a * b, or nothing where that exceeds 64 bits.
constexpr std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
    if (b != 0 && a > UINT64_MAX / b) return std::nullopt;
    return a * b;
}

/// The product of all extents (1 for none), or nothing where a part of it, taken from the left,
/// exceeds 64 bits or an extent is negative. A zero after an overflow does not save it; the
/// safetensors reference has the same rule.
constexpr std::optional<std::uint64_t> checked_product(span<const std::int64_t> extents) {
    std::uint64_t product = 1;
    for (const std::int64_t extent : extents) {
        if (extent < 0) return std::nullopt;
        const auto next = checked_multiply(product, static_cast<std::uint64_t>(extent));
        if (!next) return std::nullopt;
        product = *next;
    }
    return product;
}

/// "[60000, 28, 28]", the form that error messages use; a hostile rank is cut after 16 extents.
SINTER_SELDOM SINTER_COLD std::string extents_text(span<const std::int64_t> extents);

#if SINTER_BODIES
SINTER_SELDOM_BODY std::string extents_text(span<const std::int64_t> extents) {
    std::string out = "[";
    for (std::size_t i = 0; i < extents.size(); ++i) {
        if (i == 16) return to_text({out, ", ... (", extents.size(), " extents)]"});
        out += to_text({i ? ", " : "", extents[i]});
    }
    return to_text({out, "]"});
}
#endif

} // namespace sinter::io
