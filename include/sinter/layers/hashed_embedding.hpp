// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/internal/hashed_rows.hpp>

namespace sinter::inline SINTER_TARGET {

/// hashed_embedding<E, hashed_options{...}>: 64-bit keys, each two int32 side by side (`keys<N>`),
/// [..., 2] -> their rows [..., E] of a table without a vocabulary: no two keys share a row. Rows
/// (uniform +-0.05, by the key alone) are made when first updated, as the options say.
///
/// Such a table grows, and lives on parameter servers: under a strategy without these the net is
/// refused (hashed_table_without_servers), for a program's memory has fixed places. `embedding` or
/// `embedding_bag` of a vocabulary is for one device.
template <int Width, hashed_options Options = hashed_options{}>
struct hashed_embedding_layer : layer<hashed_embedding_layer<Width, Options>> {
    static_assert(Options.most_rows > 0 && Options.admit_after > 0 && Options.expire_after >= 0,
                  "hashed_options: most_rows and admit_after are at least 1, expire_after is at least 0");
    static constexpr const char* name = "hashed_embedding";
    static constexpr tensor trace(tensor keys) {
        const tensor table = parameter(keys, "table", extents(1, Width), {init_kind::uniform, 0.05f});
        return detail::hashed_rows(table, keys, Options);
    }
};
template <int Width, hashed_options Options = hashed_options{}>
inline constexpr hashed_embedding_layer<Width, Options> hashed_embedding{};

} // namespace sinter
